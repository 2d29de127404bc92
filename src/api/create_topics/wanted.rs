//! What a client wants of a new topic, checked: configs, partitions, replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Once;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::BrokerId;
use kafka_protocol::messages::create_topics_request::CreatableTopic;

use super::super::topic::{self as topics, Refusal};
use crate::broker::Broker;
use crate::config::check_override;
use crate::wire::error;

/// The broker's default.
const DEFAULT: i32 = -1;

/// The overrides, in canonical form.
pub(super) fn overrides(topic: &CreatableTopic) -> Result<BTreeMap<String, String>, Refusal> {
    let mut overrides = BTreeMap::new();
    for config in &topic.configs {
        let Some(value) = &config.value else {
            let message = format!("Null value not supported for topic configs: {}", config.name);
            return Err(Refusal { error: ResponseError::InvalidConfig, message });
        };
        let value = check_override(&config.name, value);
        let value = value.map_err(|error| Refusal { error: error::of_override(&error), message: error.to_string() })?;
        overrides.insert(config.name.to_string(), value);
    }
    Ok(overrides)
}

/// The number of partitions; the replicas are checked by the way.
pub(super) fn partitions(broker: &Broker, topic: &CreatableTopic) -> Result<u32, Refusal> {
    if !topic.assignments.is_empty() {
        return assigned(broker, topic);
    }
    check_replicas(broker, topic.replication_factor.into())?;
    let wanted = match topic.num_partitions {
        DEFAULT => return Ok(broker.settings().typed().num_partitions),
        wanted => u32::try_from(wanted).ok().filter(|count| *count > 0),
    };
    wanted.ok_or_else(|| Refusal {
        error: ResponseError::InvalidPartitions,
        message: "Number of partitions was set to an invalid non-positive value.".to_owned(),
    })
}

/// The number of partitions of a name of a view: the view's.
pub(super) fn partitions_of_alias(broker: &Broker, topic: &CreatableTopic, view: &str) -> Result<u32, Refusal> {
    let of_view = topics::partitions_to_read(broker, view).map_err(|error| Refusal {
        error: ResponseError::InvalidConfig,
        message: format!("streamstack.view: {view} cannot be read: {error:?}"),
    })?;
    let is_left_out = topic.num_partitions == DEFAULT && topic.assignments.is_empty();
    if !is_left_out && partitions(broker, topic)? != of_view {
        let message = format!("{view} has {of_view} partitions, and a name of it has as many: leave the number out");
        return Err(Refusal { error: ResponseError::InvalidPartitions, message });
    }
    check_replicas(broker, topic.replication_factor.into())?;
    Ok(of_view)
}

fn check_replicas(broker: &Broker, wanted: i32) -> Result<(), Refusal> {
    let settings = broker.settings().typed();
    let refused = |message: String| Err(Refusal { error: ResponseError::InvalidReplicationFactor, message });
    if wanted == 0 || wanted < DEFAULT {
        return refused("Replication factor must be larger than 0, or -1 to use the default value.".to_owned());
    }
    let replicas = if wanted == DEFAULT { settings.default_replication_factor } else { wanted };
    match replicas {
        ..=1 => Ok(()),
        _ if settings.replication_factor_clamp => {
            static WARNED: Once = Once::new();
            WARNED.call_once(|| {
                tracing::warn!(replicas, "there is one broker, so topics get 1 replica, whatever they ask for");
            });
            Ok(())
        }
        _ => refused(format!(
            "a replication factor of {replicas} needs as many brokers, and there is one; \
             streamstack.replication.factor.clamp=true takes it as 1"
        )),
    }
}

/// Partitions that the client has placed itself: all of them on this broker, since there is no other.
fn assigned(broker: &Broker, topic: &CreatableTopic) -> Result<u32, Refusal> {
    for (value, what) in
        [(topic.num_partitions, "partition count"), (topic.replication_factor.into(), "replication factor")]
    {
        if value != DEFAULT {
            let message = format!("A manual partition assignment was specified, but {what} was not set to -1.");
            return Err(Refusal { error: ResponseError::InvalidRequest, message });
        }
    }
    let indexes: BTreeSet<i32> = topic.assignments.iter().map(|assignment| assignment.partition_index).collect();
    let count = topic.assignments.len();
    let is_dense = indexes.len() == count && indexes.last().is_some_and(|last| *last as usize == count - 1);
    if !is_dense || indexes.first() != Some(&0) {
        return Err(bad_assignment("partitions should be a consecutive 0-based integer sequence".to_owned()));
    }
    topic.assignments.iter().try_for_each(|assignment| check_assignment(broker, &assignment.broker_ids))?;
    Ok(count as u32)
}

/// One partition's replicas must be this broker alone.
pub(in crate::api) fn check_assignment(broker: &Broker, replicas: &[BrokerId]) -> Result<(), Refusal> {
    let this = BrokerId(broker.settings().typed().node_id);
    match replicas {
        [] => Err(bad_assignment("The manual partition assignment includes an empty replica list.".to_owned())),
        [only] if *only == this => Ok(()),
        _ => match replicas.iter().find(|id| **id != this) {
            Some(other) => Err(bad_assignment(format!(
                "The manual partition assignment includes broker {}, but no such broker is registered.",
                other.0
            ))),
            None => Err(bad_assignment(format!(
                "The manual partition assignment includes the broker {} more than once.",
                this.0
            ))),
        },
    }
}

fn bad_assignment(message: String) -> Refusal {
    Refusal { error: ResponseError::InvalidReplicaAssignment, message }
}

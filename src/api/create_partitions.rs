//! CreatePartitions (key 37): more partitions for a feed. One result for each topic asked for.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use kafka_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use kafka_protocol::protocol::StrBytes;

use super::create_topics::check_assignment;
use super::repeated::repeated;
use super::resource;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::Lsn;
use crate::wire::error;

/// Answers a CreatePartitions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: CreatePartitionsRequest) -> Reply {
    let mut gate = Lsn(0);
    let twice = repeated(request.topics.iter().map(|topic| &topic.name));
    let results = request.topics.iter().map(|topic| {
        let added = match twice.contains(&topic.name) {
            true => Err(Refusal { error: ResponseError::InvalidRequest, message: "Duplicate topic name.".to_owned() }),
            false => add(broker, topic, request.validate_only, &mut gate),
        };
        let result = CreatePartitionsTopicResult::default().with_name(topic.name.clone());
        match added {
            Ok(()) => result.with_error_message(None),
            Err(Refusal { error, message }) => {
                result.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
            }
        }
    });
    let results = results.collect();
    context.ready_at(&CreatePartitionsResponse::default().with_results(results), gate)
}

fn add(broker: &Broker, topic: &CreatePartitionsTopic, validate_only: bool, gate: &mut Lsn) -> Result<(), Refusal> {
    let feed = resource::feed_to_change(broker, &topic.name).and_then(super::topic::not_an_alias)?;
    let (current, total) = (feed.partitions(), u32::try_from(topic.count).unwrap_or(0));
    if total <= current {
        return Err(no_increase(&topic.name, current, topic.count));
    }
    if let Some(assignments) = &topic.assignments {
        if assignments.len() != (total - current) as usize {
            let message = format!(
                "Attempted to add {} additional partition(s), but only {} assignment(s) were specified.",
                total - current,
                assignments.len()
            );
            return Err(Refusal { error: ResponseError::InvalidReplicaAssignment, message });
        }
        assignments.iter().try_for_each(|assignment| check_assignment(broker, &assignment.broker_ids))?;
    }
    let added = broker.add_partitions(&feed, total, validate_only);
    *gate = added.durable_at.max(*gate);
    added.value.map_err(|error| Refusal { error: error::of_add_partitions(&error), message: error.to_string() })
}

/// In Kafka's words, which its tools show.
fn no_increase(name: &str, current: u32, wanted: i32) -> Refusal {
    let message = if i64::from(wanted) == i64::from(current) {
        format!("Topic already has {current} partition(s).")
    } else {
        format!("The topic {name} currently has {current} partition(s); {wanted} would not be an increase.")
    };
    Refusal { error: ResponseError::InvalidPartitions, message }
}

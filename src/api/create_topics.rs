//! CreateTopics (key 19): feeds made at a client's wish, or by the way when one is first asked for.
//!
//! Whether a topic exists is said before anything else about it: Connect asks for its topics at every start, with a
//! replication factor of 3, and stops at any answer but "it exists".

mod wanted;

pub(super) use self::wanted::check_assignment;

use std::collections::BTreeMap;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use kafka_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use kafka_protocol::protocol::StrBytes;

use super::described::Described;
use super::repeated::repeated;
use super::topic::Refusal;
use super::{Reply, RequestContext, resource};
use crate::broker::{Broker, CreateFeed, CreatedFeed, Gated};
use crate::config::{ConfigValue, topic_configs};
use crate::model::{CreateFeedError, Lsn, Overrides, VIEW, check_feed_name};
use crate::wire::error;

/// Replicas that every partition has.
const REPLICAS: i16 = 1;

/// First version whose answer tells the configs.
const CONFIGS_SINCE: i16 = 5;

/// Answers a CreateTopics.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: CreateTopicsRequest) -> Reply {
    let mut gate = Lsn(0);
    let twice = repeated(request.topics.iter().map(|topic| &topic.name));
    let topics = request.topics.iter().map(|topic| {
        let created = match twice.contains(&topic.name) {
            true => Err(refusal(ResponseError::InvalidRequest, "Duplicate topic name.")),
            false => create(broker, topic, request.validate_only, &mut gate),
        };
        to_answer(broker, topic, created, &request, context.version)
    });
    let topics = topics.collect();
    context.ready_at(&CreateTopicsResponse::default().with_topics(topics), gate)
}

/// Makes a feed because a client asked for metadata of it.
pub(super) fn automatically(broker: &Broker, name: &str) -> Gated<Result<Described, Refusal>> {
    let partitions = broker.settings().typed().num_partitions;
    let wanted = CreateFeed { name: name.to_owned(), partitions, overrides: BTreeMap::new() };
    let created = broker.create_feed(wanted, false);
    if created.value.is_ok() {
        tracing::info!(topic = name, partitions, "topic created because a client asked for it");
    }
    created.map(|result| match result {
        Ok(CreatedFeed { topic_id, partitions, .. }) => {
            Ok(Described { name: name.to_owned(), topic_id, partitions, is_view: false, is_internal: false })
        }
        // Made a moment ago, and told of as soon as it is durable.
        Err(CreateFeedError::Exists { .. }) => Err(refusal(ResponseError::LeaderNotAvailable, "being created")),
        Err(error) => Err(Refusal { error: error::of_create(&error), message: error.to_string() }),
    })
}

/// What was made, or would be.
struct Created {
    feed: CreatedFeed,
    overrides: BTreeMap<String, String>,
}

fn create(broker: &Broker, topic: &CreatableTopic, validate_only: bool, gate: &mut Lsn) -> Result<Created, Refusal> {
    let name = topic.name.to_string();
    check_name(broker, &name)?;
    let overrides = wanted::overrides(topic)?;
    broker.check_views(&name, &Overrides::new(), &overrides)?;
    let partitions = match overrides.get(VIEW) {
        Some(view) => wanted::partitions_of_alias(broker, topic, view)?,
        None => wanted::partitions(broker, topic)?,
    };
    let wanted = CreateFeed { name, partitions, overrides: overrides.clone() };
    let created = broker.create_feed(wanted, validate_only);
    *gate = created.durable_at.max(*gate);
    match created.value {
        Ok(feed) => Ok(Created { feed, overrides }),
        Err(error) => Err(Refusal { error: error::of_create(&error), message: error.to_string() }),
    }
}

fn check_name(broker: &Broker, name: &str) -> Result<(), Refusal> {
    let create_error = match check_feed_name(name) {
        Err(fault) => CreateFeedError::Name { name: name.to_owned(), fault },
        Ok(()) if broker.catalog().by_name(name).is_some() => CreateFeedError::Exists { name: name.to_owned() },
        Ok(()) => return Ok(()),
    };
    Err(Refusal { error: error::of_create(&create_error), message: create_error.to_string() })
}

fn to_answer(
    broker: &Broker,
    topic: &CreatableTopic,
    created: Result<Created, Refusal>,
    request: &CreateTopicsRequest,
    version: i16,
) -> CreatableTopicResult {
    let answer = CreatableTopicResult::default().with_name(topic.name.clone()).with_configs(None);
    match created {
        Ok(Created { feed, overrides }) => {
            let answer = answer.with_error_message(None);
            // What would be made has no id.
            let answer = if request.validate_only { answer } else { answer.with_topic_id(feed.topic_id) };
            if version < CONFIGS_SINCE {
                return answer;
            }
            let settings = broker.settings();
            let configs = topic_configs(&overrides, settings.dynamic().configs(), settings.server());
            answer
                .with_num_partitions(feed.partitions as i32)
                .with_replication_factor(REPLICAS)
                .with_configs(Some(configs.into_iter().map(config).collect()))
        }
        Err(Refusal { error, message }) => {
            answer.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
        }
    }
}

fn config(config: ConfigValue) -> CreatableTopicConfigs {
    CreatableTopicConfigs::default()
        .with_name(StrBytes::from_static_str(config.name))
        .with_is_sensitive(resource::is_sensitive(&config))
        .with_value(config.value.map(StrBytes::from_string))
        .with_read_only(config.read_only)
        .with_config_source(config.source.code())
}

fn refusal(error: ResponseError, message: &str) -> Refusal {
    Refusal { error, message: message.to_owned() }
}

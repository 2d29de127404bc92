//! DeleteTopics (key 20): feeds with their whole history, by name or by id. One result for each topic asked for.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::metadata::topic_name;
use super::repeated::repeated;
use super::resource;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};
use crate::model::Lsn;
use crate::wire::error;

/// First version that names topics or gives their ids.
const STATES_SINCE: i16 = 6;

/// First version that knows TOPIC_DELETION_DISABLED.
const DISABLED_SINCE: i16 = 3;

/// First version that tells why.
const MESSAGE_SINCE: i16 = 5;

/// Answers a DeleteTopics.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DeleteTopicsRequest) -> Reply {
    let asked = if context.version >= STATES_SINCE { request.topics } else { by_names(request) };
    let mut gate = Lsn(0);
    let twice = repeated(asked.iter().map(|topic| (&topic.name, topic.topic_id)));
    let responses = asked.iter().map(|topic| {
        let found = check(topic, &twice).and_then(|()| find(broker, topic));
        let deleted = found.as_ref().map_err(Refusal::clone).and_then(|feed| {
            check_enabled(broker, context.version)?;
            delete(broker, feed, &mut gate)
        });
        to_answer(topic, found.ok().as_deref(), deleted, context.version)
    });
    let responses = responses.collect();
    context.ready_at(&DeleteTopicsResponse::default().with_responses(responses), gate)
}

fn by_names(request: DeleteTopicsRequest) -> Vec<DeleteTopicState> {
    request.topic_names.into_iter().map(|name| DeleteTopicState::default().with_name(Some(name))).collect()
}

fn check(topic: &DeleteTopicState, twice: &HashSet<(&Option<TopicName>, Uuid)>) -> Result<(), Refusal> {
    let message = match (&topic.name, topic.topic_id.is_nil()) {
        (Some(_), false) => "You may not specify both topic name and topic id.",
        (None, true) => "Neither topic name nor id were specified.",
        _ if twice.contains(&(&topic.name, topic.topic_id)) => "Duplicate topic name or id.",
        _ => return Ok(()),
    };
    Err(Refusal { error: ResponseError::InvalidRequest, message: message.to_owned() })
}

fn check_enabled(broker: &Broker, version: i16) -> Result<(), Refusal> {
    if broker.settings().typed().delete_topics {
        return Ok(());
    }
    let error =
        if version >= DISABLED_SINCE { ResponseError::TopicDeletionDisabled } else { ResponseError::InvalidRequest };
    Err(Refusal { error, message: "delete.topic.enable is false".to_owned() })
}

fn find(broker: &Broker, topic: &DeleteTopicState) -> Result<Arc<FeedHandle>, Refusal> {
    match &topic.name {
        Some(name) => resource::feed_to_change(broker, name),
        None => broker.catalog().by_topic_id(&topic.topic_id).ok_or_else(|| match broker.view_name(&topic.topic_id) {
            Some(view) => resource::read_only(&view),
            None => Refusal { error: ResponseError::UnknownTopicId, message: "no topic has this id".to_owned() },
        }),
    }
}

fn delete(broker: &Broker, feed: &FeedHandle, gate: &mut Lsn) -> Result<(), Refusal> {
    let deleted = broker.delete_feed(feed);
    *gate = deleted.durable_at.max(*gate);
    deleted.value.map_err(|error| Refusal { error: error::of_delete(&error), message: error.to_string() })
}

fn to_answer(
    asked: &DeleteTopicState,
    found: Option<&FeedHandle>,
    deleted: Result<(), Refusal>,
    version: i16,
) -> DeletableTopicResult {
    let name = asked.name.clone().or_else(|| found.map(|feed| topic_name(&feed.name)));
    let id = found.map_or(asked.topic_id, |feed| feed.topic_id);
    let answer = DeletableTopicResult::default().with_name(name).with_topic_id(id);
    match deleted {
        Ok(()) => answer,
        Err(Refusal { error, message }) => {
            let message = (version >= MESSAGE_SINCE).then(|| StrBytes::from_string(message));
            answer.with_error_code(error.code()).with_error_message(message)
        }
    }
}

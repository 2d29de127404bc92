//! AlterPartitionReassignments (key 45): replicas are where they are, on this broker; anywhere else is refused.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_partition_reassignments_request::ReassignablePartition;
use kafka_protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use kafka_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};
use kafka_protocol::protocol::StrBytes;

use super::create_topics::check_assignment;
use super::resource;
use super::topic::{Refusal, partition_id};
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};

/// First version that says whether the number of replicas may change.
const CHANGE_SINCE: i16 = 1;

/// Answers an AlterPartitionReassignments.
pub fn handle(
    broker: &Arc<Broker>,
    context: &RequestContext<'_>,
    request: AlterPartitionReassignmentsRequest,
) -> Reply {
    let topics = request.topics.iter().map(|topic| {
        let feed = resource::feed_to_change(broker, &topic.name);
        let partitions = topic.partitions.iter().map(|wanted| {
            let done = feed.as_ref().map_err(Refusal::clone).and_then(|feed| reassign(broker, feed, wanted));
            let answer = ReassignablePartitionResponse::default().with_partition_index(wanted.partition_index);
            match done {
                Ok(()) => answer.with_error_message(None),
                Err(Refusal { error, message }) => {
                    answer.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
                }
            }
        });
        ReassignableTopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    });
    let response = AlterPartitionReassignmentsResponse::default().with_error_message(None);
    let response = response.with_responses(topics.collect());
    if context.version < CHANGE_SINCE {
        return context.ready(&response);
    }
    context.ready(&response.with_allow_replication_factor_change(request.allow_replication_factor_change))
}

/// `replicas` of None gives up the reassignment under way.
fn reassign(broker: &Broker, feed: &FeedHandle, wanted: &ReassignablePartition) -> Result<(), Refusal> {
    if partition_id(wanted.partition_index).and_then(|id| feed.partition(id)).is_none() {
        let message = format!("Unable to find partition {}:{}.", feed.name, wanted.partition_index);
        return Err(Refusal { error: ResponseError::UnknownTopicOrPartition, message });
    }
    match &wanted.replicas {
        Some(replicas) => check_assignment(broker, replicas),
        None => Err(Refusal {
            error: ResponseError::NoReassignmentInProgress,
            message: "there is one broker, so replicas never move".to_owned(),
        }),
    }
}

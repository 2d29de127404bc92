//! ElectLeaders (key 43): this broker leads every partition, so no election is ever needed.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::elect_leaders_request::TopicPartitions;
use kafka_protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use kafka_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};
use kafka_protocol::protocol::StrBytes;

use super::described::Described;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Types of election: of the preferred replica, of any that is alive.
const TYPES: std::ops::RangeInclusive<i8> = 0..=1;

/// First version that says the type, and whose answer has an error for the whole.
const TYPE_SINCE: i16 = 1;

/// Answers an ElectLeaders.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ElectLeadersRequest) -> Reply {
    if context.version >= TYPE_SINCE && !TYPES.contains(&request.election_type) {
        let error = ResponseError::InvalidRequest.code();
        return context.ready(&ElectLeadersResponse::default().with_error_code(error));
    }
    let answering = broker.clone();
    context.looked_up(broker.clone(), false, move || answer(&answering, &request))
}

fn answer(broker: &Broker, request: &ElectLeadersRequest) -> ElectLeadersResponse {
    // None asks for all partitions, and is told only of those that got another leader.
    let asked = request.topic_partitions.iter().flatten();
    let results = asked.map(|topic| {
        let found = Described::by_name(broker, &topic.topic);
        ReplicaElectionResult::default().with_topic(topic.topic.clone()).with_partition_result(results(topic, &found))
    });
    ElectLeadersResponse::default().with_replica_election_results(results.collect())
}

fn results(topic: &TopicPartitions, found: &Result<Described, Refusal>) -> Vec<PartitionResult> {
    let result = |index: &i32| {
        let (error, message) = outcome(&topic.topic, *index, found);
        PartitionResult::default()
            .with_partition_id(*index)
            .with_error_code(error.code())
            .with_error_message(Some(StrBytes::from_string(message)))
    };
    topic.partitions.iter().map(result).collect()
}

/// In Kafka's words where the partition is not there.
fn outcome(topic: &str, index: i32, found: &Result<Described, Refusal>) -> (ResponseError, String) {
    let unknown = ResponseError::UnknownTopicOrPartition;
    match found {
        Ok(found) if u32::try_from(index).is_ok_and(|index| index < found.partitions) => {
            (ResponseError::ElectionNotNeeded, "this broker leads it already".to_owned())
        }
        Ok(_) => (unknown, format!("No such partition as {topic}-{index}")),
        Err(refusal) if refusal.error == unknown => (unknown, format!("No such topic as {topic}")),
        Err(refusal) => (refusal.error, refusal.message.clone()),
    }
}

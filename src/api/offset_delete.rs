//! OffsetDelete (key 47): a consumer group forgets where it reads on, in topics that none of its members has subscribed to.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use kafka_protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use kafka_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};

use super::topic;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::PartitionId;
use crate::wire::error;

/// Answers an OffsetDelete.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetDeleteRequest) -> Reply {
    let known: Vec<bool> = request.topics.iter().map(|t| topic::partitions_to_read(broker, &t.name).is_ok()).collect();
    let asked = request.topics.iter().zip(&known).filter(|(_, known)| **known);
    let positions = asked.flat_map(|(topic, _)| positions(topic)).collect();
    let forgotten = broker.forget_positions(&request.group_id, positions);
    let response = match &forgotten.value {
        Err(refusal) => OffsetDeleteResponse::default().with_error_code(error::of_group(refusal).code()),
        Ok(subscribed) => {
            let topics = request.topics.iter().zip(known).map(|(topic, known)| match known {
                false => answer(topic, Some(ResponseError::UnknownTopicOrPartition)),
                true if subscribed.contains(topic.name.as_str()) => {
                    answer(topic, Some(ResponseError::GroupSubscribedToTopic))
                }
                true => answer(topic, None),
            });
            OffsetDeleteResponse::default().with_topics(topics.collect())
        }
    };
    context.ready_at(&response, forgotten.durable_at)
}

fn positions(topic: &OffsetDeleteRequestTopic) -> impl Iterator<Item = (String, PartitionId)> {
    let partitions = topic.partitions.iter().filter_map(|partition| topic::partition_id(partition.partition_index));
    partitions.map(|partition| (topic.name.as_str().to_owned(), partition))
}

fn answer(topic: &OffsetDeleteRequestTopic, refused: Option<ResponseError>) -> OffsetDeleteResponseTopic {
    let partitions = topic.partitions.iter().map(|partition| {
        OffsetDeleteResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(refused.map_or(0, |error| error.code()))
    });
    OffsetDeleteResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}

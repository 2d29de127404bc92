//! OffsetDelete (key 47): a consumer group forgets where it reads on, in topics that none of its members has subscribed to.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use kafka_protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use kafka_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse, TopicName};

use super::topic;
use super::{Reply, RequestContext};
use crate::broker::{Broker, Gated};
use crate::model::PartitionId;
use crate::wire::error;

/// Answers an OffsetDelete.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetDeleteRequest) -> Reply {
    let (looking, deleting) = (broker.clone(), broker.clone());
    let names: Vec<TopicName> = request.topics.iter().map(|topic| topic.name.clone()).collect();
    let known = move |name: &TopicName| topic::partitions_to_read(&looking, name).unwrap_or(0);
    let look = move || names.iter().map(&known).collect::<Vec<_>>();
    context.changed(broker, look, move |known| delete(&deleting, &request, &known))
}

/// `known` says of each topic how many partitions it has.
fn delete(broker: &Broker, request: &OffsetDeleteRequest, known: &[u32]) -> Gated<OffsetDeleteResponse> {
    let asked = request.topics.iter().zip(known);
    let positions = asked.clone().flat_map(|(topic, known)| positions(topic, *known)).collect();
    broker.forget_positions(&request.group_id, positions).map(|forgotten| match forgotten {
        Err(refusal) => OffsetDeleteResponse::default().with_error_code(error::of_group(&refusal).code()),
        Ok(subscribed) => {
            let topics = asked.map(|(topic, known)| {
                let subscribed = subscribed.contains(topic.name.as_str());
                answer(topic, *known, subscribed.then_some(ResponseError::GroupSubscribedToTopic))
            });
            OffsetDeleteResponse::default().with_topics(topics.collect())
        }
    })
}

fn positions(topic: &OffsetDeleteRequestTopic, known: u32) -> impl Iterator<Item = (String, PartitionId)> {
    let partitions = topic.partitions.iter().filter_map(move |asked| known_id(asked.partition_index, known));
    let partitions: BTreeSet<PartitionId> = partitions.collect();
    let partitions = partitions.into_iter();
    partitions.map(|partition| (topic.name.as_str().to_owned(), partition))
}

fn known_id(index: i32, known: u32) -> Option<PartitionId> {
    topic::partition_id(index).filter(|id| id.0 < known)
}

fn answer(topic: &OffsetDeleteRequestTopic, known: u32, refused: Option<ResponseError>) -> OffsetDeleteResponseTopic {
    let partitions = topic.partitions.iter().map(|partition| {
        let error = match known_id(partition.partition_index, known) {
            Some(_) => refused,
            None => Some(ResponseError::UnknownTopicOrPartition),
        };
        OffsetDeleteResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(error.map_or(0, |error| error.code()))
    });
    OffsetDeleteResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}

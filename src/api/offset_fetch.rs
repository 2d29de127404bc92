//! OffsetFetch (key 9): where consumer groups read on. A partition without a position is answered with -1 and no error, also
//! when there is no such group or topic. Who asks for stable positions (KIP-447) is asked to come again for those that an
//! open transaction is to move.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
};
use kafka_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::topic;
use super::{Reply, RequestContext};
use crate::broker::{Broker, Unstable};
use crate::model::{Lsn, Position, Subscription};
use crate::wire::error;

/// First version that asks for several groups.
const GROUPS_SINCE: i16 = 8;

/// Answers an OffsetFetch.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetFetchRequest) -> Reply {
    let mut gate = Lsn(0);
    let response = if context.version >= GROUPS_SINCE {
        // Each once, however often it is asked for: the answer may be a thousand times as long as the question.
        let mut told = HashSet::new();
        let asked = request.groups.iter().filter(|group| told.insert(&group.group_id));
        let groups = asked.map(|group| fetch(broker, group, request.require_stable, &mut gate));
        OffsetFetchResponse::default().with_groups(groups.collect())
    } else {
        let stable = request.require_stable;
        single(fetch(broker, &as_group(request), stable, &mut gate))
    };
    context.ready_at(&response, gate)
}

/// The request of an older version, which is about one group.
fn as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup {
    let topics = request.topics.map(|topics| {
        let topic = |topic: kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic| {
            OffsetFetchRequestTopics::default().with_name(topic.name).with_partition_indexes(topic.partition_indexes)
        };
        topics.into_iter().map(topic).collect()
    });
    OffsetFetchRequestGroup::default()
        .with_group_id(request.group_id)
        .with_member_id(None)
        .with_member_epoch(-1)
        .with_topics(topics)
}

/// The same answer in the older layout.
fn single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse {
    let partition = |partition: OffsetFetchResponsePartitions| {
        OffsetFetchResponsePartition::default()
            .with_partition_index(partition.partition_index)
            .with_committed_offset(partition.committed_offset)
            .with_committed_leader_epoch(partition.committed_leader_epoch)
            .with_metadata(partition.metadata)
            .with_error_code(partition.error_code)
    };
    let topics = group.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(partition).collect();
        OffsetFetchResponseTopic::default().with_name(topic.name).with_partitions(partitions)
    });
    OffsetFetchResponse::default().with_error_code(group.error_code).with_topics(topics.collect())
}

fn fetch(
    broker: &Broker,
    group: &OffsetFetchRequestGroup,
    require_stable: bool,
    gate: &mut Lsn,
) -> OffsetFetchResponseGroup {
    let answer = OffsetFetchResponseGroup::default().with_group_id(group.group_id.clone());
    if let Err(refusal) = broker.check_fetch(&group.group_id, group.member_id.as_deref(), group.member_epoch) {
        return answer.with_error_code(error::of_group(&refusal).code());
    }
    let told = |subscription: Option<&Subscription>| match (&group.topics, subscription) {
        (Some(topics), subscription) => topics.iter().map(|topic| asked(topic, subscription)).collect(),
        (None, Some(subscription)) => all(subscription),
        (None, None) => Vec::new(),
    };
    let looked = match require_stable {
        true => broker.look_at_stable_positions(&group.group_id, |subscription, unstable| {
            let mut topics = told(subscription);
            topics.iter_mut().for_each(|topic| hold_back(topic, unstable));
            topics
        }),
        false => broker.look_at_positions(&group.group_id, told),
    };
    *gate = looked.durable_at.max(*gate);
    answer.with_topics(looked.value)
}

/// Positions that are about to move are not told.
fn hold_back(topic: &mut OffsetFetchResponseTopics, unstable: &Unstable<'_>) {
    for answer in &mut topic.partitions {
        let partition = topic::partition_id(answer.partition_index);
        if partition.is_some_and(|partition| unstable.holds(&topic.name, partition)) {
            let error_code = ResponseError::UnstableOffsetCommit.code();
            *answer = answered(answer.partition_index, None).with_error_code(error_code);
        }
    }
}

fn asked(topic: &OffsetFetchRequestTopics, subscription: Option<&Subscription>) -> OffsetFetchResponseTopics {
    let mut told = HashSet::new();
    let asked = topic.partition_indexes.iter().filter(|index| told.insert(**index));
    let partitions = asked.map(|index| {
        let position = topic::partition_id(*index).and_then(|partition| subscription?.position(&topic.name, partition));
        answered(*index, position)
    });
    OffsetFetchResponseTopics::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
}

fn all(subscription: &Subscription) -> Vec<OffsetFetchResponseTopics> {
    let mut topics: Vec<OffsetFetchResponseTopics> = Vec::new();
    for (topic, partition, position) in subscription.positions() {
        if topics.last().is_none_or(|last| last.name.as_str() != topic) {
            let name = TopicName(StrBytes::from_string(topic.to_owned()));
            topics.push(OffsetFetchResponseTopics::default().with_name(name));
        }
        let of_topic = topics.last_mut().expect("just pushed");
        of_topic.partitions.push(answered(partition.0 as i32, Some(position)));
    }
    topics
}

fn answered(index: i32, position: Option<&Position>) -> OffsetFetchResponsePartitions {
    let (offset, epoch, metadata) = match position {
        Some(Position { offset, leader_epoch, metadata, .. }) => (*offset, *leader_epoch, metadata.clone()),
        None => (-1, -1, String::new()),
    };
    OffsetFetchResponsePartitions::default()
        .with_partition_index(index)
        .with_committed_offset(offset)
        .with_committed_leader_epoch(epoch)
        .with_metadata(Some(StrBytes::from_string(metadata)))
}

//! ConsumerGroupHeartbeat (key 68): a member of a consumer group joins, goes on, or leaves, and learns what it may read.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::messages::consumer_group_heartbeat_request::TopicPartitions as Owned;
use kafka_protocol::messages::consumer_group_heartbeat_response::{Assignment, TopicPartitions};
use kafka_protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse};
use uuid::Uuid;

use super::group::{client, owned, text, unique};
use super::{Reply, RequestContext};
use crate::broker::{Broker, Subscribable};
use crate::model::PartitionId;
use crate::model::group::consumer::{Fault, Heartbeat, JOIN, Partitions, Told};
use crate::model::group::{Client, GroupError};
use crate::wire::error;

/// Answers a ConsumerGroupHeartbeat.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ConsumerGroupHeartbeatRequest) -> Reply {
    let group = request.group_id.to_string();
    if group.is_empty() {
        return context.ready(&response(Err(no_group())));
    }
    let beat = heartbeat(context, request);
    let views = broker.subscribed_views(&group, &beat);
    let (looking, beating) = (broker.clone(), broker.clone());
    let look = move || Subscribable::with_views(looking.clone(), &views);
    context.changed(broker, look, move |topics| beating.consumer_heartbeat(&group, &beat, &topics).map(response))
}

fn no_group() -> GroupError {
    GroupError::Consumer(Fault::Invalid("GroupId can't be empty.".to_owned()))
}

fn heartbeat(context: &RequestContext<'_>, request: ConsumerGroupHeartbeatRequest) -> Heartbeat {
    let Client { id: client_id, host: client_host } = client(context);
    let mut member = request.member_id.to_string();
    // From version 1 on clients make their ids.
    if context.version == 0 && member.is_empty() && request.member_epoch == JOIN {
        member = unique();
    }
    Heartbeat {
        member,
        epoch: request.member_epoch,
        instance: owned(&request.instance_id),
        rack: owned(&request.rack_id),
        rebalance_timeout_ms: (request.rebalance_timeout_ms != -1).then_some(request.rebalance_timeout_ms),
        topics: request.subscribed_topic_names.map(|names| names.into_iter().map(|name| name.to_string()).collect()),
        regex: owned(&request.subscribed_topic_regex),
        assignor: owned(&request.server_assignor),
        owned: request.topic_partitions.map(partitions),
        client_id,
        client_host,
    }
}

/// A negative number names no partition; nor does the largest.
fn partitions(topics: Vec<Owned>) -> Partitions {
    let partition = |index: i32| PartitionId(u32::try_from(index).unwrap_or(u32::MAX));
    let mut found = Partitions::new();
    for topic in topics {
        found.entry(topic.topic_id).or_default().extend(topic.partitions.into_iter().map(partition));
    }
    found
}

fn response(told: Result<Told, GroupError>) -> ConsumerGroupHeartbeatResponse {
    match told {
        Ok(told) => ConsumerGroupHeartbeatResponse::default()
            .with_member_id(Some(text(told.member)))
            .with_member_epoch(told.epoch)
            .with_heartbeat_interval_ms(told.heartbeat_interval_ms)
            .with_assignment(told.assignment.map(assignment)),
        Err(refusal) => ConsumerGroupHeartbeatResponse::default()
            .with_error_code(error::of_group(&refusal).code())
            .with_error_message(Some(text(refusal.to_string()))),
    }
}

fn assignment(partitions: Partitions) -> Assignment {
    let topic = |(topic, partitions): (Uuid, BTreeSet<PartitionId>)| {
        let partitions = partitions.into_iter().map(|partition| partition.0 as i32).collect();
        TopicPartitions::default().with_topic_id(topic).with_partitions(partitions)
    };
    Assignment::default().with_topic_partitions(partitions.into_iter().map(topic).collect())
}

//! ConsumerGroupDescribe (key 69): the members of consumer groups, what they read and what they are to read.
//!
//! Groups of the classic protocol are not found here, so that tools ask DescribeGroups for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member as DescribedMember, TopicPartitions,
};
use kafka_protocol::messages::{ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId};
use uuid::Uuid;

use super::group::text;
use super::metadata::topic_name;
use super::node::{GROUP_OPERATIONS, operations};
use super::{Reply, RequestContext};
use crate::broker::{Broker, Gated, topic_name_of};
use crate::model::group::GroupError;
use crate::model::group::consumer::{ConsumerGroup, Holdings, Member, Settings};
use crate::model::{Lsn, PartitionId};
use crate::wire::error;

/// Members by the protocol that they speak, as version 1 tells it.
const CLASSIC: i8 = 0;
const CONSUMER: i8 = 1;

/// Answers a ConsumerGroupDescribe.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ConsumerGroupDescribeRequest) -> Reply {
    let mut gate = Lsn(0);
    let asked: BTreeSet<GroupId> = request.group_ids.into_iter().collect();
    let groups = asked.into_iter().map(|group| {
        let look = |machine: &ConsumerGroup, settings: &Settings| described(machine, settings, broker);
        let Gated { value, durable_at } = broker.look_at_consumer_group(&group, look);
        gate = gate.max(durable_at);
        let operations = operations(request.include_authorized_operations, GROUP_OPERATIONS);
        value.unwrap_or_else(|error| refused(&error)).with_group_id(group).with_authorized_operations(operations)
    });
    let response = ConsumerGroupDescribeResponse::default().with_groups(groups.collect());
    context.ready_at(&response, gate)
}

fn refused(error: &GroupError) -> DescribedGroup {
    DescribedGroup::default()
        .with_error_code(error::of_group(error).code())
        .with_error_message(Some(text(error.to_string())))
}

fn described(group: &ConsumerGroup, settings: &Settings, broker: &Broker) -> DescribedGroup {
    DescribedGroup::default()
        .with_group_state(text(group.state().to_string()))
        .with_group_epoch(group.epoch())
        .with_assignment_epoch(group.target_epoch())
        .with_assignor_name(text(group.assignor_name(settings)))
        .with_members(group.members().map(|(id, member)| described_member(id, member, broker)).collect())
}

fn described_member(id: &str, member: &Member, broker: &Broker) -> DescribedMember {
    let optional = |value: &Option<String>| value.as_deref().map(text);
    DescribedMember::default()
        .with_member_id(text(id))
        .with_instance_id(optional(&member.instance))
        .with_rack_id(optional(&member.rack))
        .with_member_epoch(member.epoch)
        .with_client_id(text(&member.client_id))
        .with_client_host(text(&member.client_host))
        .with_subscribed_topic_names(member.topics.iter().map(|name| topic_name(name)).collect())
        .with_subscribed_topic_regex(member.regex.as_deref().filter(|regex| !regex.is_empty()).map(text))
        .with_assignment(assignment(held(&member.assigned), broker))
        .with_target_assignment(assignment(member.target.clone(), broker))
        .with_member_type(if member.classic.is_some() { CLASSIC } else { CONSUMER })
}

fn held(holdings: &Holdings) -> impl IntoIterator<Item = (Uuid, BTreeSet<PartitionId>)> {
    holdings.iter().map(|(topic, held)| (*topic, held.keys().copied().collect()))
}

/// Topics that are gone have no name, and are left out.
fn assignment(partitions: impl IntoIterator<Item = (Uuid, BTreeSet<PartitionId>)>, broker: &Broker) -> Assignment {
    let topic = |(id, partitions): (Uuid, BTreeSet<PartitionId>)| {
        let topic =
            TopicPartitions::default().with_topic_id(id).with_topic_name(topic_name(&topic_name_of(broker, &id)?));
        Some(topic.with_partitions(partitions.into_iter().map(|partition| partition.0 as i32).collect()))
    };
    Assignment::default().with_topic_partitions(partitions.into_iter().filter_map(topic).collect())
}

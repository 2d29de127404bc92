//! Who is in a consumer group, and what each member reads.

use bytes::{Buf, Bytes};
use kafka_protocol::error::ResponseError;
use kafka_protocol::messages::consumer_group_describe_response::{self, DescribedGroup};
use kafka_protocol::messages::describe_groups_response::{self, DescribedGroup as ClassicGroup};
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerProtocolAssignment, DescribeGroupsRequest, GroupId,
};
use kafka_protocol::protocol::{Decodable, Message, StrBytes};

use super::{Client, ClientError};

/// A consumer group with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// By Kafka's name: Empty, Stable, Reconciling, ...
    pub state: String,
    /// `classic` or `consumer`.
    pub protocol: &'static str,
    /// How partitions are shared out; empty while members have not agreed on it.
    pub assignor: String,
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    pub id: String,
    /// Of a static member.
    pub instance: Option<String>,
    pub client: String,
    pub host: String,
    /// What it reads, by topic and partition.
    pub partitions: Vec<(String, i32)>,
}

impl Client {
    /// The group with its members; none when there is no such group.
    pub fn membership(&mut self, group: &str) -> Result<Option<Membership>, ClientError> {
        match self.consumer_membership(group)? {
            None => self.classic_membership(group),
            found => Ok(found),
        }
    }

    /// None: the group is of the classic protocol, or the broker knows no other.
    fn consumer_membership(&mut self, group: &str) -> Result<Option<Membership>, ClientError> {
        if self.versions.pick::<ConsumerGroupDescribeRequest>(self.address()).is_err() {
            return Ok(None);
        }
        let asked = ConsumerGroupDescribeRequest::default().with_group_ids(vec![group_id(group)]);
        let Some(told) = self.ask(&asked)?.groups.into_iter().next() else { return Ok(None) };
        match told.error_code {
            0 => Ok(Some(Membership::of_consumer(told))),
            code if is_unknown(code) => Ok(None),
            code => Err(self.refused(format!("describe group {group}"), code, told.error_message.as_deref())),
        }
    }

    fn classic_membership(&mut self, group: &str) -> Result<Option<Membership>, ClientError> {
        let asked = DescribeGroupsRequest::default().with_groups(vec![group_id(group)]);
        let Some(told) = self.ask(&asked)?.groups.into_iter().next() else { return Ok(None) };
        match told.error_code {
            // Before version 6 a group that is not there is dead.
            0 if told.group_state.as_str() == "Dead" => Ok(None),
            0 => Ok(Some(Membership::of_classic(told))),
            code if is_unknown(code) => Ok(None),
            code => Err(self.refused(format!("describe group {group}"), code, told.error_message.as_deref())),
        }
    }
}

fn is_unknown(code: i16) -> bool {
    code == ResponseError::GroupIdNotFound.code()
}

fn group_id(group: &str) -> GroupId {
    GroupId(StrBytes::from_string(group.to_owned()))
}

impl Membership {
    fn of_consumer(told: DescribedGroup) -> Membership {
        Membership {
            state: told.group_state.to_string(),
            protocol: "consumer",
            assignor: told.assignor_name.to_string(),
            members: told.members.into_iter().map(GroupMember::of_consumer).collect(),
        }
    }

    fn of_classic(told: ClassicGroup) -> Membership {
        Membership {
            state: told.group_state.to_string(),
            protocol: "classic",
            assignor: told.protocol_data.to_string(),
            members: told.members.into_iter().map(GroupMember::of_classic).collect(),
        }
    }

    /// The member that reads a partition.
    pub fn reader(&self, topic: &str, partition: i32) -> Option<&GroupMember> {
        self.members.iter().find(|member| member.partitions.iter().any(|(t, p)| t == topic && *p == partition))
    }
}

impl GroupMember {
    fn of_consumer(told: consumer_group_describe_response::Member) -> GroupMember {
        let partitions = told.assignment.topic_partitions.into_iter().flat_map(|topic| {
            let name = topic.topic_name.to_string();
            topic.partitions.into_iter().map(move |partition| (name.clone(), partition))
        });
        GroupMember {
            id: told.member_id.to_string(),
            instance: told.instance_id.map(|id| id.to_string()),
            client: told.client_id.to_string(),
            host: host(&told.client_host),
            partitions: sorted(partitions.collect()),
        }
    }

    fn of_classic(told: describe_groups_response::DescribedGroupMember) -> GroupMember {
        GroupMember {
            id: told.member_id.to_string(),
            instance: told.group_instance_id.map(|id| id.to_string()),
            client: told.client_id.to_string(),
            host: host(&told.client_host),
            partitions: sorted(assigned(told.member_assignment)),
        }
    }
}

/// What the leader of a classic group wrote; nothing where it is of another kind than that of consumers.
fn assigned(mut assignment: Bytes) -> Vec<(String, i32)> {
    let Ok(version) = assignment.try_get_i16() else { return Vec::new() };
    let range = ConsumerProtocolAssignment::VERSIONS;
    let version = version.clamp(range.min, range.max);
    let Ok(told) = ConsumerProtocolAssignment::decode(&mut assignment, version) else { return Vec::new() };
    let topics = told.assigned_partitions.into_iter();
    let partitions = topics.flat_map(|topic| topic.partitions.into_iter().map(move |p| (topic.topic.to_string(), p)));
    partitions.collect()
}

fn sorted(mut partitions: Vec<(String, i32)>) -> Vec<(String, i32)> {
    partitions.sort_unstable();
    partitions
}

/// Kafka puts a slash before addresses.
fn host(told: &str) -> String {
    told.trim_start_matches('/').to_owned()
}

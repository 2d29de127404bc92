//! What can be seen of a group from outside.

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;

use super::super::{Description, MemberDescription, Summary};
use super::member::Member;
use super::{ConsumerGroup, Settings};
use crate::model::{Readers, Timestamp};

/// What a group is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// It has no members.
    Empty,
    /// Its target is yet to follow its epoch.
    Assigning,
    /// Some members are on their way to their targets.
    Reconciling,
    Stable,
}

/// What operators are told these groups are of.
const PROTOCOL_TYPE: &str = "consumer";

impl GroupState {
    /// By Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            GroupState::Empty => "Empty",
            GroupState::Assigning => "Assigning",
            GroupState::Reconciling => "Reconciling",
            GroupState::Stable => "Stable",
        }
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ConsumerGroup {
    pub fn state(&self) -> GroupState {
        match self {
            _ if self.members.is_empty() => GroupState::Empty,
            _ if self.epoch > self.target_epoch => GroupState::Assigning,
            _ if self.members.values().all(|member| member.is_at(self.target_epoch)) => GroupState::Stable,
            _ => GroupState::Reconciling,
        }
    }

    /// The group in a list.
    pub fn summary(&self) -> Summary {
        Summary { state: self.state().name(), protocol_type: PROTOCOL_TYPE.to_owned() }
    }

    /// The group as far as the classic protocol has words for it.
    pub fn description(&self, settings: &Settings) -> Description {
        let member = |(id, member): (&str, &Member)| MemberDescription {
            member_id: id.to_owned(),
            instance_id: member.instance.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            metadata: Bytes::new(),
            assignment: Bytes::new(),
        };
        Description {
            state: self.state().name(),
            protocol_type: PROTOCOL_TYPE.to_owned(),
            protocol: self.assignor_name(settings).to_owned(),
            members: self.members().map(member).collect(),
        }
    }

    /// The group's epoch: the target is to follow it.
    pub fn epoch(&self) -> i32 {
        self.epoch
    }

    /// The epoch of the target.
    pub fn target_epoch(&self) -> i32 {
        self.target_epoch
    }

    /// The name of the assignor that makes the targets.
    pub fn assignor_name(&self, settings: &Settings) -> &'static str {
        self.assignor(settings).name()
    }

    /// The views that members subscribe to by name.
    pub fn views(&self) -> BTreeSet<String> {
        self.subscribed.views(self.members.values())
    }

    /// The members, by id.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&str, &Member)> {
        self.members.iter().map(|(id, member)| (id.as_str(), member))
    }

    /// What is known of those who read with the group's positions. `kept_at` is when the group was last kept.
    pub fn readers(&self, kept_at: Timestamp) -> Readers {
        match self {
            _ if self.epoch == 0 => Readers::Unknown,
            _ if self.members.is_empty() => Readers::LeftAt(kept_at),
            _ if self.tells_topics() => Readers::Reading,
            _ => Readers::Agreeing,
        }
    }

    /// True when it is known which topics its members read: after a restart patterns are matched at the first heartbeat.
    pub fn tells_topics(&self) -> bool {
        !self.members.is_empty()
            && (self.subscribed.is_known() || self.members.values().all(|member| member.pattern().is_none()))
    }

    /// Whether a member subscribes to the topic of that name, by name or by pattern.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.members.values().any(|member| member.topics.contains(topic) || self.subscribed.matches_name(member, topic))
    }
}

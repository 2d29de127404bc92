//! What can be seen of a group from outside.

use std::fmt;

use super::member::Member;
use super::{ConsumerGroup, Settings};

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

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GroupState::Empty => "Empty",
            GroupState::Assigning => "Assigning",
            GroupState::Reconciling => "Reconciling",
            GroupState::Stable => "Stable",
        })
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

    /// The members, by id.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&str, &Member)> {
        self.members.iter().map(|(id, member)| (id.as_str(), member))
    }

    /// Whether a member subscribes to the topic of that name, by name or by pattern.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.members.values().any(|member| member.topics.contains(topic) || self.subscribed.matches_name(member, topic))
    }
}

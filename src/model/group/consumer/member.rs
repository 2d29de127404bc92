//! A member: what it said of itself, at which epoch it is, and which partitions it holds.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use uuid::Uuid;

use super::super::Join;
use super::super::embedded::{CONSUMER, Subscription};
use crate::model::ids::{PartitionId, Timestamp};

/// The epoch of a static member that left and will be back.
pub const LEFT_FOR_A_WHILE: i32 = -2;

/// Partitions by topic, each with the epoch at which the member got it.
pub type Holdings = BTreeMap<Uuid, BTreeMap<PartitionId, i32>>;

/// Partitions by topic.
pub type Partitions = BTreeMap<Uuid, BTreeSet<PartitionId>>;

/// How far a member is on its way to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It holds what it should at its epoch.
    Stable,
    /// It was asked to let go of partitions, and has not said that it did.
    Unrevoked,
    /// It waits for partitions that others still hold.
    Unreleased,
}

/// What of a member lasts over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub epoch: i32,
    pub previous_epoch: i32,
    pub state: MemberState,
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub client_id: String,
    pub client_host: String,
    pub rebalance_timeout_ms: i32,
    /// The topics that it subscribes to by name.
    pub topics: BTreeSet<String>,
    /// The regular expression by which it subscribes. Empty: none.
    pub regex: Option<String>,
    pub assignor: Option<String>,
    /// What it may read.
    pub assigned: Holdings,
    /// What it must let go of first.
    pub revoking: Holdings,
    /// What it is to have in the end.
    pub target: Partitions,
    /// What it said as a member of the classic protocol, if it speaks that.
    pub classic: Option<Classic>,
}

/// The classic side of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classic {
    pub session_timeout_ms: i32,
    /// The assignors that it offers, each with its metadata as sent.
    pub protocols: Vec<(String, Bytes)>,
}

/// Until when a member must do what. Not kept: after a restart all of it starts anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deadlines {
    /// It must be heard of.
    pub(super) heard_by: Timestamp,
    /// It must have let go of what it was asked to.
    pub(super) revoked_by: Option<Timestamp>,
    /// It must have joined again, as it was told to by the classic protocol.
    pub(super) joined_by: Option<Timestamp>,
    /// It must have asked for its assignment, having joined by the classic protocol.
    pub(super) synced_by: Option<Timestamp>,
}

impl Classic {
    pub(super) fn of(join: &Join) -> Classic {
        let protocols = join.protocols.iter().map(|protocol| (protocol.name.clone(), protocol.metadata.clone()));
        Classic {
            session_timeout_ms: i32::try_from(join.session_ms).unwrap_or(i32::MAX),
            protocols: protocols.collect(),
        }
    }

    pub(super) fn knows(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|(name, _)| name == protocol)
    }

    /// Whether a member is told of that protocol when it joins. It need not name it.
    pub(super) fn is_told_of(&self, protocol_type: Option<&str>, protocol: Option<&str>) -> bool {
        let first = self.protocols.first().map(|(name, _)| name.as_str());
        protocol_type.is_none_or(|told| told == CONSUMER) && protocol.is_none_or(|told| Some(told) == first)
    }

    /// The version in which its subscription is written.
    pub(super) fn version(&self) -> i16 {
        let said = self.protocols.first().and_then(|(_, metadata)| Subscription::read(metadata));
        said.map_or(0, |said| said.version)
    }

    pub(super) fn session_end(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0 + i64::from(self.session_timeout_ms))
    }
}

impl Member {
    pub(super) fn new() -> Member {
        Member {
            epoch: 0,
            previous_epoch: -1,
            state: MemberState::Stable,
            instance: None,
            rack: None,
            client_id: String::new(),
            client_host: String::new(),
            rebalance_timeout_ms: -1,
            topics: BTreeSet::new(),
            regex: None,
            assignor: None,
            assigned: Holdings::new(),
            revoking: Holdings::new(),
            target: Partitions::new(),
            classic: None,
        }
    }

    /// The regular expression by which it subscribes.
    pub(super) fn pattern(&self) -> Option<&str> {
        self.regex.as_deref().filter(|regex| !regex.is_empty())
    }

    /// When its time is over to do what a rebalance asks of it, if that begins now.
    pub(super) fn rebalance_end(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0 + i64::from(self.rebalance_timeout_ms.max(0)))
    }

    /// Whether it is where the target of that epoch wants it.
    pub fn is_at(&self, target_epoch: i32) -> bool {
        self.state == MemberState::Stable && self.epoch == target_epoch
    }

    /// All partitions that no one else may have.
    pub(super) fn held(&self) -> impl Iterator<Item = (Uuid, PartitionId)> {
        self.assigned.iter().chain(&self.revoking).flat_map(|(topic, held)| held.keys().map(|p| (*topic, *p)))
    }

    /// The epoch since which it holds the partition.
    pub(super) fn holds_since(&self, topic: &Uuid, partition: PartitionId) -> Option<i32> {
        let since = |holdings: &Holdings| holdings.get(topic)?.get(&partition).copied();
        since(&self.assigned).or_else(|| since(&self.revoking))
    }
}

impl Deadlines {
    pub(super) fn soonest(&self) -> Timestamp {
        [self.revoked_by, self.joined_by, self.synced_by].into_iter().flatten().fold(self.heard_by, Timestamp::min)
    }
}

//! Where a group is on its way to the next generation.

use std::collections::BTreeSet;

use crate::model::Timestamp;

#[derive(Debug)]
pub(super) enum Phase {
    /// No members.
    Empty,
    /// Members join the next generation.
    Preparing(Preparing),
    /// Members know the generation, and wait for the leader's assignment.
    Completing(Syncing),
    /// Members have their assignment, or may fetch it.
    Stable(Syncing),
}

#[derive(Debug)]
pub(super) struct Preparing {
    pub until: Timestamp,
    /// In an empty group's first rebalance.
    pub initial: Option<Initial>,
}

/// More members are expected: each that comes puts off the end, for a while.
#[derive(Debug)]
pub(super) struct Initial {
    pub delay_ms: i64,
    pub left_ms: i64,
    pub newcomers: bool,
}

/// Members that do not sync by then are removed.
#[derive(Debug)]
pub(super) struct Syncing {
    pub until: Timestamp,
    pub missing: BTreeSet<String>,
}

impl Syncing {
    /// Nobody is missing.
    pub fn complete(now: Timestamp) -> Syncing {
        Syncing { until: now, missing: BTreeSet::new() }
    }
}

impl Phase {
    /// Kafka's name of it.
    pub fn name(&self) -> &'static str {
        match self {
            Phase::Empty => "Empty",
            Phase::Preparing(_) => "PreparingRebalance",
            Phase::Completing(_) => "CompletingRebalance",
            Phase::Stable(_) => "Stable",
        }
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        match self {
            Phase::Empty => None,
            Phase::Preparing(preparing) => Some(preparing.until),
            Phase::Completing(syncing) | Phase::Stable(syncing) => {
                (!syncing.missing.is_empty()).then_some(syncing.until)
            }
        }
    }

    /// The members that have yet to sync.
    pub fn syncing_mut(&mut self) -> Option<&mut Syncing> {
        match self {
            Phase::Completing(syncing) | Phase::Stable(syncing) => Some(syncing),
            Phase::Empty | Phase::Preparing(_) => None,
        }
    }
}

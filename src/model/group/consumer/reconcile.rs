//! One member's next step from what it holds to its target.
//!
//! It lets go before it takes: while it holds what it should not have it stays at its epoch, and is told the smaller
//! set. Once it says that it holds no more than that (or says nothing is to be let go), it comes to the target's epoch
//! and takes what nobody else holds. What others still hold it waits for.

use std::collections::{BTreeSet, HashSet};

use uuid::Uuid;

use super::member::{Holdings, Member, MemberState, Partitions};
use super::topics::Subscribed;
use crate::model::ids::PartitionId;

/// What a step depends on besides the member.
pub(super) struct Step<'a> {
    pub(super) target_epoch: i32,
    /// What the member says it holds; none when it did not say.
    pub(super) owned: Option<&'a Partitions>,
    /// Whether its subscription just changed.
    pub(super) resubscribed: bool,
    pub(super) subscribed: &'a Subscribed,
    /// What any member holds.
    pub(super) held: &'a HashSet<(Uuid, PartitionId)>,
}

/// The member after the step: the same one where there is nothing to do yet.
pub(super) fn next(member: &Member, step: &Step<'_>) -> Member {
    let waits = match member.state {
        MemberState::Stable => member.epoch == step.target_epoch,
        MemberState::Unrevoked => step.still_owns(&member.revoking),
        MemberState::Unreleased => false,
    };
    match waits {
        false => towards_target(member, step),
        true if step.resubscribed => without_unsubscribed(member, step),
        true => member.clone(),
    }
}

fn towards_target(member: &Member, step: &Step<'_>) -> Member {
    let parts = Parts::of(member, step);
    let mut next = member.clone();
    if step.still_owns(&parts.revoking) {
        (next.assigned, next.revoking) = (parts.kept, parts.revoking);
        return at(next, member.epoch, MemberState::Unrevoked);
    }
    next.revoking.clear();
    next.assigned = parts.kept;
    for (topic, partition) in parts.free {
        next.assigned.entry(topic).or_default().insert(partition, step.target_epoch);
    }
    let state = if parts.waits_for_others { MemberState::Unreleased } else { MemberState::Stable };
    at(next, step.target_epoch, state)
}

/// What the member no longer subscribes to is taken from it at once: clients expect no such partition.
fn without_unsubscribed(member: &Member, step: &Step<'_>) -> Member {
    let (kept, dropped) = split(&member.assigned, |topic, _| step.subscribed.subscribes(member, topic));
    if dropped.is_empty() {
        return member.clone();
    }
    let mut next = Member { assigned: kept, ..member.clone() };
    let mut revoking = member.revoking.clone();
    for (topic, partitions) in dropped {
        revoking.entry(topic).or_default().extend(partitions);
    }
    if !step.still_owns(&revoking) {
        return at(next, member.epoch, member.state);
    }
    next.revoking = revoking;
    at(next, member.epoch, MemberState::Unrevoked)
}

fn at(member: Member, epoch: i32, state: MemberState) -> Member {
    Member { previous_epoch: member.epoch, epoch, state, ..member }
}

/// The member's partitions by what becomes of them.
struct Parts {
    kept: Holdings,
    revoking: Holdings,
    free: BTreeSet<(Uuid, PartitionId)>,
    waits_for_others: bool,
}

impl Parts {
    fn of(member: &Member, step: &Step<'_>) -> Parts {
        let target = |topic: &Uuid| member.target.get(topic).filter(|_| step.subscribed.subscribes(member, topic));
        let (kept, revoking) = split(&member.assigned, |topic, partition| {
            target(topic).is_some_and(|partitions| partitions.contains(&partition))
        });
        let mut parts = Parts { kept, revoking, free: BTreeSet::new(), waits_for_others: false };
        for topic in member.target.keys() {
            for partition in target(topic).into_iter().flatten() {
                parts.claim(member, step, *topic, *partition);
            }
        }
        parts
    }

    fn claim(&mut self, member: &Member, step: &Step<'_>, topic: Uuid, partition: PartitionId) {
        let holds = |holdings: &Holdings| holdings.get(&topic).is_some_and(|held| held.contains_key(&partition));
        if holds(&self.kept) {
            return;
        }
        // What the member itself was to let go of it may take back.
        if step.held.contains(&(topic, partition)) && !holds(&member.revoking) {
            self.waits_for_others = true;
        } else {
            self.free.insert((topic, partition));
        }
    }
}

impl Step<'_> {
    /// Whether the member may still hold any of these: yes if it did not say what it holds.
    fn still_owns(&self, revoking: &Holdings) -> bool {
        let Some(owned) = self.owned else { return !revoking.is_empty() };
        revoking.iter().any(|(topic, partitions)| {
            owned.get(topic).is_some_and(|owned| partitions.keys().any(|partition| owned.contains(partition)))
        })
    }
}

fn split(holdings: &Holdings, keep: impl Fn(&Uuid, PartitionId) -> bool) -> (Holdings, Holdings) {
    let (mut kept, mut rest) = (Holdings::new(), Holdings::new());
    for (topic, partitions) in holdings {
        for (partition, since) in partitions {
            let side = if keep(topic, *partition) { &mut kept } else { &mut rest };
            side.entry(*topic).or_default().insert(*partition, *since);
        }
    }
    (kept, rest)
}

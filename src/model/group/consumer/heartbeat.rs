//! A member's heartbeat: it says what changed with it, and is told what it may read.
//!
//! In order: the member is found or made, what it says of itself is taken over, the group's epoch is raised if the
//! subscriptions or their topics changed, the target follows the epoch, and the member goes a step towards its target.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::member::{Holdings, Member, MemberState, Partitions};
use super::pattern::Pattern;
use super::reconcile::{self, Step};
use super::{Around, ConsumerGroup};
use crate::model::ids::Timestamp;
use crate::model::split_feed;

/// The epoch with which a member joins.
pub const JOIN: i32 = 0;
/// The epoch with which a member leaves.
pub const LEAVE: i32 = -1;

/// What a member says. What is none did not change since it last spoke.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    pub member: String,
    pub epoch: i32,
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub rebalance_timeout_ms: Option<i32>,
    pub topics: Option<BTreeSet<String>>,
    pub regex: Option<String>,
    pub assignor: Option<String>,
    pub owned: Option<Partitions>,
    pub client_id: String,
    pub client_host: String,
}

/// What a member is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub member: String,
    pub epoch: i32,
    pub heartbeat_interval_ms: i32,
    /// All that it may read now; none when that did not change.
    pub assignment: Option<Partitions>,
}

impl Heartbeat {
    /// The views that it names.
    pub fn views(&self) -> impl Iterator<Item = &str> {
        let topics = self.topics.iter().flatten().map(String::as_str);
        topics.filter(|topic| split_feed(topic).is_some())
    }

    /// Members say all of themselves when they join, and again when they lost an answer.
    fn is_full(&self) -> bool {
        let subscribed = self.topics.is_some() || self.regex.is_some();
        self.epoch == JOIN || (self.rebalance_timeout_ms.is_some() && subscribed && self.owned.is_some())
    }

    /// `member` with what is said here.
    fn applied_to(&self, member: &Member) -> Member {
        let mut member = member.clone();
        let replace = |field: &mut Option<String>, said: &Option<String>| {
            if said.is_some() {
                field.clone_from(said);
            }
        };
        replace(&mut member.instance, &self.instance);
        replace(&mut member.rack, &self.rack);
        replace(&mut member.regex, &self.regex);
        replace(&mut member.assignor, &self.assignor);
        if let Some(timeout_ms) = self.rebalance_timeout_ms {
            member.rebalance_timeout_ms = timeout_ms;
        }
        if let Some(topics) = &self.topics {
            member.topics.clone_from(topics);
        }
        member.client_id.clone_from(&self.client_id);
        member.client_host.clone_from(&self.client_host);
        member
    }
}

impl ConsumerGroup {
    /// Takes a heartbeat, also one that joins (epoch 0) or leaves (-1, -2).
    pub fn heartbeat(&mut self, beat: &Heartbeat, around: &Around<'_>, now: Timestamp) -> Result<Told, Fault> {
        beat.check(around.settings)?;
        if beat.epoch < JOIN { self.leave(beat) } else { self.beat(beat, around, now) }
    }

    fn beat(&mut self, beat: &Heartbeat, around: &Around<'_>, now: Timestamp) -> Result<Told, Fault> {
        let before = self.admit(beat, around.settings)?;
        let said = beat.applied_to(&before.member);
        let changed = Changed::between(&before.member, &said)?;
        self.check_room(&beat.member, before.replaces.as_deref(), &said)?;
        if let Some(replaced) = before.replaces {
            self.replace(&replaced, &beat.member, &before.member);
        }
        self.put(&beat.member, said);
        self.update_epoch(changed.any(), around, now);
        self.update_target(around.settings);
        self.take_step(&beat.member, beat.owned.as_ref(), changed.any(), now);
        self.deadlines.entry(beat.member.clone()).or_default().heard_by = around.settings.session_end(now);
        let member = &self.members[&beat.member];
        let tells = beat.is_full() || member.assigned != before.member.assigned;
        Ok(Told {
            member: beat.member.clone(),
            epoch: member.epoch,
            heartbeat_interval_ms: around.settings.heartbeat_interval_ms,
            assignment: tells.then(|| partitions(&member.assigned)),
        })
    }

    /// Raises the group's epoch if what its members subscribe to is not what the target was made for.
    pub(super) fn update_epoch(&mut self, changed: bool, around: &Around<'_>, now: Timestamp) {
        if !changed && self.epoch > 0 && !self.subscribed.is_stale(around.topics, now) {
            return;
        }
        self.subscribed.look(self.members.values(), around.topics, now);
        let hash = self.subscribed.hash();
        // After a member left the epoch is raised already, and only the hash is still to come.
        let other_topics = self.topics_hash.is_some_and(|known| known != hash);
        if changed || self.epoch == 0 || other_topics {
            self.epoch += 1;
        }
        self.topics_hash = Some(hash);
    }

    /// Brings the member a step towards its target.
    pub(super) fn take_step(&mut self, id: &str, owned: Option<&Partitions>, resubscribed: bool, now: Timestamp) {
        let member = &self.members[id];
        if !resubscribed && member.is_at(self.target_epoch) {
            return;
        }
        let step = Step {
            target_epoch: self.target_epoch,
            owned,
            resubscribed,
            subscribed: &self.subscribed,
            held: &self.held,
        };
        let next = reconcile::next(member, &step);
        if next == *member {
            return;
        }
        let revoked_by = match next.state {
            MemberState::Unrevoked => Some(Timestamp(now.0 + i64::from(next.rebalance_timeout_ms.max(0)))),
            _ => None,
        };
        self.put(id, next);
        self.deadlines.entry(id.to_owned()).or_default().revoked_by = revoked_by;
    }
}

/// Which part of a subscription is another one.
struct Changed {
    topics: bool,
    regex: bool,
}

impl Changed {
    fn between(before: &Member, after: &Member) -> Result<Changed, Fault> {
        let regex = before.pattern() != after.pattern();
        if regex
            && let Some(text) = after.pattern()
            && let Err(reason) = Pattern::new(text)
        {
            return Err(Fault::InvalidRegex { regex: text.chars().take(256).collect(), reason });
        }
        Ok(Changed { topics: before.topics != after.topics, regex })
    }

    fn any(&self) -> bool {
        self.topics || self.regex
    }
}

fn partitions(holdings: &Holdings) -> Partitions {
    holdings.iter().map(|(topic, held)| (*topic, held.keys().copied().collect())).collect()
}

//! A member's heartbeat: it says what changed with it, and is told what it may read.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::member::{Holdings, Member, Partitions};
use super::pattern::Pattern;
use super::renew::Said;
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
        // Whoever speaks this protocol speaks no other.
        member.classic = None;
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
        let member = beat.applied_to(&before.member);
        let resubscribed = changed(&before.member, &member)?;
        self.check_room(&beat.member, before.replaces.as_deref(), &member)?;
        let assigned = before.member.assigned.clone();
        let owned = beat.owned.as_ref();
        self.renew(&beat.member, Said { before, member, resubscribed, reason: None, owned }, around, now);
        let deadlines = self.deadlines.entry(beat.member.clone()).or_default();
        deadlines.heard_by = around.settings.session_end(now);
        // It may have spoken the classic protocol before.
        (deadlines.joined_by, deadlines.synced_by) = (None, None);
        let member = &self.members[&beat.member];
        let tells = beat.is_full() || member.assigned != assigned;
        Ok(Told {
            member: beat.member.clone(),
            epoch: member.epoch,
            heartbeat_interval_ms: around.settings.heartbeat_interval_ms,
            assignment: tells.then(|| partitions(&member.assigned)),
        })
    }
}

/// Whether it subscribes to something else.
fn changed(before: &Member, after: &Member) -> Result<bool, Fault> {
    let pattern = after.pattern();
    if let Some(text) = pattern.filter(|_| before.pattern() != pattern)
        && let Err(reason) = Pattern::new(text)
    {
        return Err(Fault::InvalidRegex { regex: text.chars().take(256).collect(), reason });
    }
    Ok(before.topics != after.topics || before.pattern() != pattern)
}

fn partitions(holdings: &Holdings) -> Partitions {
    holdings.iter().map(|(topic, held)| (*topic, held.keys().copied().collect())).collect()
}

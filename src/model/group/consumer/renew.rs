//! What a member says of itself is taken over, by whichever protocol it said it, and it goes a step towards its target.

use super::super::{Event, Reason};
use super::admit::Admitted;
use super::member::{Member, MemberState, Partitions};
use super::reconcile::{self, Step};
use super::{Around, ConsumerGroup};
use crate::model::ids::Timestamp;

/// What a member says.
pub(super) struct Said<'a> {
    pub(super) before: Admitted,
    pub(super) member: Member,
    /// It subscribes to something else than before.
    pub(super) resubscribed: bool,
    /// Why it joins, in its client's words.
    pub(super) reason: Option<String>,
    /// What it says it holds; none when it did not say.
    pub(super) owned: Option<&'a Partitions>,
}

impl ConsumerGroup {
    /// In order: the member is put in, the group's epoch is raised if the subscriptions or their topics changed, the target
    /// follows the epoch, and the member goes a step towards its target.
    pub(super) fn renew(&mut self, id: &str, said: Said<'_>, around: &Around<'_>, now: Timestamp) {
        let Said { before, member, resubscribed, reason: client, owned } = said;
        let (member_id, is_new) = (id.to_owned(), before.replaces.is_none() && !self.members.contains_key(id));
        let reason = match (is_new, resubscribed) {
            (true, _) => Some(Reason::NewMember { member: member_id, client }),
            (false, true) => Some(Reason::Resubscribed { member: member_id }),
            (false, false) => None,
        };
        if let Some(replaced) = &before.replaces {
            self.replace(replaced, id, &before.member);
        }
        self.put(id, member);
        self.update_epoch(reason, around, now);
        self.update_target(around.settings);
        self.take_step(id, owned, resubscribed, now);
    }

    /// Raises the group's epoch if there is a reason, or the topics are not those that the target was made for.
    pub(super) fn update_epoch(&mut self, reason: Option<Reason>, around: &Around<'_>, now: Timestamp) {
        if reason.is_none() && !self.subscribed.is_stale(around.topics, now) {
            return;
        }
        self.subscribed.look(self.members.values(), around.topics, now);
        let hash = self.subscribed.hash();
        // After a member left the epoch is raised already, and only the hash is still to come.
        let other_topics = self.topics_hash.is_some_and(|known| known != hash);
        if let Some(reason) = reason.or(other_topics.then_some(Reason::Topics)) {
            self.raise_epoch(reason);
        }
        self.topics_hash = Some(hash);
    }

    pub(super) fn raise_epoch(&mut self, reason: Reason) {
        self.epoch += 1;
        self.events.push(Event::Rebalancing { reason });
    }

    /// Brings the member a step towards its target.
    fn take_step(&mut self, id: &str, owned: Option<&Partitions>, resubscribed: bool, now: Timestamp) {
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
        // A classic member is given its time when it is told to join again.
        let lets_go = next.state == MemberState::Unrevoked && next.classic.is_none();
        let revoked_by = lets_go.then(|| next.rebalance_end(now));
        self.put(id, next);
        self.deadlines.entry(id.to_owned()).or_default().revoked_by = revoked_by;
    }
}

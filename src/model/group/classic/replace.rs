//! A static member that comes back without its member id (KIP-345): it takes the place of the one before.

use super::super::{Answer, GroupError, Join, Joined, Reason, Ticket};
use super::ClassicGroup;
use super::join::refused;
use super::phase::Phase;
use super::turn::Turn;

impl ClassicGroup {
    /// Gives the place of member `old` to `new`. Whoever still waits as `old` is fenced.
    pub(super) fn replace(&mut self, ticket: Ticket, old: &str, new: String, join: Join, turn: &mut Turn<'_>) {
        let (leader_before, reason) = (self.leader.clone(), join.reason.clone());
        self.rename(old, &new, turn);
        let skips = join.may_skip_assignment;
        match &self.phase {
            Phase::Stable(_) => {
                self.renew_member(&new, join);
                if self.preferred_protocol() == self.protocol {
                    self.keep_generation(turn);
                    self.revive(&new, turn.now);
                    let joined = self.joined_again(&new, leader_before, skips);
                    turn.answer(ticket, Answer::Join(Ok(joined)));
                } else {
                    self.wait_for_generation(ticket, &new, turn);
                    self.rebalance(Reason::Replaced { member: new }, turn);
                }
            }
            // The leader may have the old id already, and would assign to it.
            _ => {
                self.update_member(ticket, &new, join, turn);
                self.revive(&new, turn.now);
                self.rebalance(Reason::Rejoined { member: new, client: reason }, turn);
            }
        }
    }

    fn rename(&mut self, old: &str, new: &str, turn: &mut Turn<'_>) {
        let mut member = self.take_member(old);
        let instance = member.instance_id.clone().expect("a static member has an instance");
        let fenced = GroupError::Fenced { instance: instance.clone(), member: old.to_owned(), current: new.to_owned() };
        if let Some(joining) = member.joining.take() {
            self.num_joining -= 1;
            turn.answer(joining, refused(old, fenced.clone()));
        }
        if let Some(syncing) = member.syncing.take() {
            turn.answer(syncing, Answer::Sync(Err(fenced)));
        }
        member.is_new = false;
        self.insert_member(new.to_owned(), member);
        self.statics.insert(instance, new.to_owned());
        if self.is_leader(old) {
            self.leader = Some(new.to_owned());
        }
        if let Some(syncing) = self.phase.syncing_mut()
            && syncing.missing.remove(old)
        {
            syncing.missing.insert(new.to_owned());
        }
        self.keep_rename(old, new, turn);
    }

    fn wait_for_generation(&mut self, ticket: Ticket, id: &str, turn: &mut Turn<'_>) {
        self.member_mut(id).joining = Some(ticket);
        self.num_joining += 1;
        self.revive(id, turn.now);
    }

    /// What was assigned stands. A leader that does not understand that is told of the leader before it, so that it
    /// does not assign (KIP-814).
    fn joined_again(&self, id: &str, leader_before: Option<String>, skips: bool) -> Joined {
        let leads = skips && self.is_leader(id);
        let mut joined = self.joined(id, leads);
        joined.skip_assignment = leads;
        if !skips {
            joined.leader = leader_before.unwrap_or_default();
        }
        joined
    }
}

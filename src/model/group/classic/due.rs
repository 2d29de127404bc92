//! What time does: sessions that expire, members that do not join or sync, clients that are gone.

use super::super::{Reason, Ticket};
use super::ClassicGroup;
use super::member::Member;
use super::phase::Phase;
use super::turn::Turn;
use crate::model::Timestamp;

impl ClassicGroup {
    pub(super) fn due(&mut self, turn: &mut Turn<'_>) {
        self.expire_members(turn);
        if self.pending.expire(turn.now) {
            self.complete_if_all_joined(turn);
        }
        if self.phase.deadline().is_some_and(|until| until <= turn.now) {
            match self.phase {
                Phase::Preparing(_) => self.end_join(turn),
                _ => self.remove_unsynced(turn),
            }
        }
        let expiries = self.members.values().filter_map(|member| member.expires);
        self.alarm.reset(expiries.chain(self.pending.deadlines()).chain(self.phase.deadline()));
    }

    fn expire_members(&mut self, turn: &mut Turn<'_>) {
        let mut expired = Vec::new();
        for (id, member) in &mut self.members {
            if member.expires.is_none_or(|expires| expires > turn.now) {
                continue;
            }
            if waits(member) {
                // It gets a new session with its answer.
                member.expires = None;
            } else {
                expired.push(id.clone());
            }
        }
        if expired.is_empty() {
            return;
        }
        expired.iter().for_each(|id| self.remove_member(id, turn));
        self.rebalance(Reason::Expired { members: expired }, turn);
    }

    fn remove_unsynced(&mut self, turn: &mut Turn<'_>) {
        let Some(syncing) = self.phase.syncing_mut() else { return };
        let members: Vec<String> = std::mem::take(&mut syncing.missing).into_iter().collect();
        members.iter().for_each(|id| self.remove_member(id, turn));
        self.rebalance(Reason::NotSynced { members }, turn);
    }

    /// Nobody waits for that answer any more. The member has its session's time to come back.
    pub(super) fn forget(&mut self, ticket: Ticket, turn: &mut Turn<'_>) {
        let waits = |member: &Member| member.joining == Some(ticket) || member.syncing == Some(ticket);
        let Some(id) = self.members.iter().find(|(_, member)| waits(member)).map(|(id, _)| id.clone()) else { return };
        let member = self.member_mut(&id);
        member.syncing.take_if(|syncing| *syncing == ticket);
        if member.joining.take_if(|joining| *joining == ticket).is_some() {
            self.num_joining -= 1;
        }
        self.revive(&id, turn.now);
    }

    /// After a restart everybody has its session's time.
    pub(super) fn start_sessions(&mut self, now: Timestamp) {
        for id in self.members.keys().cloned().collect::<Vec<_>>() {
            self.revive(&id, now);
        }
    }
}

/// Members that wait for others send no heartbeats. A new one waits for a limited time: its client may be gone, and would
/// come back as another new one, again and again.
fn waits(member: &Member) -> bool {
    !member.is_new && (member.joining.is_some() || member.syncing.is_some())
}

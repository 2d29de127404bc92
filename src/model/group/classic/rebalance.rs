//! From one generation to the next: members leave the old one, join, and are told of the new one.

use super::super::{Answer, Event, GroupError, Reason};
use super::ClassicGroup;
use super::join::refused;
use super::member::Member;
use super::phase::{Initial, Phase, Preparing, Syncing};
use super::turn::Turn;

/// Static members that did not come are waited for again and again, at least so long each time, whatever they allow.
const STATICS_WAIT_MS_MIN: i64 = 1_000;

impl ClassicGroup {
    /// Something changed that members have to agree on anew.
    pub(super) fn rebalance(&mut self, reason: Reason, turn: &mut Turn<'_>) {
        if let Phase::Preparing(_) = self.phase {
            return self.complete_if_all_joined(turn);
        }
        turn.tell(Event::Rebalancing { reason });
        if matches!(self.phase, Phase::Completing(_)) {
            self.send_back_to_join(turn);
        }
        let (rebalance_ms, delay_ms) = (self.rebalance_ms(), self.settings.initial_delay_ms);
        let initial = matches!(self.phase, Phase::Empty).then(|| {
            let left_ms = (rebalance_ms - delay_ms).max(0);
            Initial { delay_ms, left_ms, newcomers: false }
        });
        let until = turn.after(if initial.is_some() { delay_ms } else { rebalance_ms });
        self.phase = Phase::Preparing(Preparing { until, initial });
        self.alarm.by(until);
        self.complete_if_all_joined(turn);
    }

    fn send_back_to_join(&mut self, turn: &mut Turn<'_>) {
        for id in self.waiting_for_sync() {
            if let Some(syncing) = self.member_mut(&id).syncing.take() {
                turn.answer(syncing, Answer::Sync(Err(GroupError::RebalanceInProgress)));
            }
            self.revive(&id, turn.now);
        }
    }

    /// The ids of the members that wait for their assignment.
    pub(super) fn waiting_for_sync(&self) -> Vec<String> {
        let waits = |(id, member): (&String, &Member)| member.syncing.is_some().then(|| id.clone());
        self.members.iter().filter_map(waits).collect()
    }

    /// An empty group's first members are given some time for others to come.
    pub(super) fn complete_if_all_joined(&mut self, turn: &mut Turn<'_>) {
        let Phase::Preparing(preparing) = &self.phase else { return };
        let all = self.num_joining == self.members.len() && self.pending.is_empty();
        if all && (preparing.initial.is_none() || self.members.is_empty()) {
            self.complete_join(turn);
        }
    }

    /// The time to join is over.
    pub(super) fn end_join(&mut self, turn: &mut Turn<'_>) {
        let Phase::Preparing(preparing) = &mut self.phase else { return };
        let initial = preparing.initial.as_mut().filter(|initial| initial.newcomers && initial.left_ms > 0);
        let Some(initial) = initial else { return self.complete_join(turn) };
        let delay_ms = self.settings.initial_delay_ms.min(initial.left_ms);
        *initial = Initial { delay_ms, left_ms: (initial.left_ms - initial.delay_ms).max(0), newcomers: false };
        preparing.until = turn.after(delay_ms);
        self.alarm.by(preparing.until);
    }

    /// Goes on with those that joined. Static members that did not stay for their session's time.
    fn complete_join(&mut self, turn: &mut Turn<'_>) {
        let late =
            |(id, member): (&String, &Member)| (member.joining.is_none() && !member.is_static()).then(|| id.clone());
        for id in self.members.iter().filter_map(late).collect::<Vec<_>>() {
            self.remove_member(&id, turn);
        }
        if self.members.is_empty() {
            self.become_empty(turn);
        } else if self.elect_leader() {
            self.begin_generation(turn);
        } else {
            // Only static members are left, none of which came: until their sessions are over.
            let until = turn.after(self.rebalance_ms().max(STATICS_WAIT_MS_MIN));
            self.phase = Phase::Preparing(Preparing { until, initial: None });
            self.alarm.by(until);
        }
    }

    fn become_empty(&mut self, turn: &mut Turn<'_>) {
        self.generation = self.next_generation();
        self.protocol = None;
        self.leader = None;
        self.phase = Phase::Empty;
        self.keep_generation(turn);
        turn.tell(Event::Emptied { generation: self.generation });
    }

    /// The leader stays if it joined. False: nobody did.
    fn elect_leader(&mut self) -> bool {
        let joined = |id: &String| self.members.get(id).is_some_and(|member| member.joining.is_some());
        if !self.leader.as_ref().is_some_and(joined) {
            self.leader = self.members.keys().find(|id| joined(id)).cloned();
        }
        self.leader.is_some()
    }

    fn begin_generation(&mut self, turn: &mut Turn<'_>) {
        self.generation = self.next_generation();
        self.protocol = self.preferred_protocol();
        let until = turn.after(self.rebalance_ms());
        let ids: Vec<String> = self.members.keys().cloned().collect();
        self.phase = Phase::Completing(Syncing { until, missing: ids.iter().cloned().collect() });
        self.alarm.by(until);
        self.keep_number(turn);
        for id in ids {
            let member = self.member_mut(&id);
            member.is_new = false;
            if let Some(joining) = member.joining.take() {
                self.num_joining -= 1;
                turn.answer(joining, Answer::Join(Ok(self.joined(&id, self.is_leader(&id)))));
            }
            self.revive(&id, turn.now);
        }
    }

    /// Puts a member in, under its id.
    pub(super) fn insert_member(&mut self, id: String, member: Member) {
        self.protocols.add(&member.protocols);
        self.member_bytes += member.size();
        self.leader.get_or_insert_with(|| id.clone());
        let before = self.members.insert(id, member);
        assert!(before.is_none(), "a member is put in twice");
    }

    /// Takes a member out, to be put back.
    pub(super) fn take_member(&mut self, id: &str) -> Member {
        let member = self.members.remove(id).unwrap_or_else(|| panic!("member {id:?} is expected in the group"));
        self.protocols.remove(&member.protocols);
        self.member_bytes -= member.size();
        member
    }

    /// Removes a member for good. If it waits, it is told that it is not known, and may join anew.
    pub(super) fn remove_member(&mut self, id: &str, turn: &mut Turn<'_>) {
        let member = self.take_member(id);
        if let Some(joining) = member.joining {
            self.num_joining -= 1;
            turn.answer(joining, refused("", GroupError::unknown_member(id)));
        }
        if let Some(syncing) = member.syncing {
            turn.answer(syncing, Answer::Sync(Err(GroupError::unknown_member(id))));
        }
        if let Some(instance) = member.instance_id {
            self.statics.remove(&instance);
        }
        if let Some(syncing) = self.phase.syncing_mut() {
            syncing.missing.remove(id);
        }
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
    }
}

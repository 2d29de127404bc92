//! SyncGroup and Heartbeat: members of a generation ask for their assignment, and show that they are alive.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::super::{Answer, Event, GroupError, Heartbeat, Sync, Synced, Ticket};
use super::phase::Phase;
use super::turn::Turn;
use super::{ClassicGroup, GROUP_BYTES_MAX};
use crate::model::Timestamp;

impl ClassicGroup {
    pub(super) fn sync(&mut self, ticket: Ticket, sync: Sync, turn: &mut Turn<'_>) {
        if let Err(error) = self.check_sync(&sync) {
            return turn.answer(ticket, Answer::Sync(Err(error)));
        }
        let id = sync.member_id;
        if let Some(syncing) = self.phase.syncing_mut() {
            syncing.missing.remove(&id);
        }
        if matches!(self.phase, Phase::Stable(_)) {
            self.revive(&id, turn.now);
            return turn.answer(ticket, Answer::Sync(Ok(self.synced(&id))));
        }
        if let Some(before) = self.member_mut(&id).syncing.replace(ticket) {
            turn.answer(before, Answer::Sync(Err(GroupError::RebalanceInProgress)));
        }
        if self.is_leader(&id) {
            self.assign(sync.assignments.into_iter().collect(), turn);
        }
    }

    fn check_sync(&self, sync: &Sync) -> Result<(), GroupError> {
        self.check_member(&sync.member_id, sync.instance_id.as_deref())?;
        self.check_generation(sync.generation)?;
        if differs(&sync.protocol_type, &self.protocol_type) || differs(&sync.protocol, &self.protocol) {
            return Err(GroupError::InconsistentProtocol);
        }
        if matches!(self.phase, Phase::Preparing(_)) {
            return Err(GroupError::RebalanceInProgress);
        }
        let (bytes, max) = (sync.assignments.iter().map(|(_, bytes)| bytes.len()).sum(), GROUP_BYTES_MAX);
        if bytes > max { Err(GroupError::TooLarge { bytes, max }) } else { Ok(()) }
    }

    /// The leader's word: whom it forgot has nothing to read.
    fn assign(&mut self, mut assignments: BTreeMap<String, Bytes>, turn: &mut Turn<'_>) {
        for (id, member) in &mut self.members {
            member.assignment = assignments.remove(id).unwrap_or_default();
        }
        let Phase::Completing(syncing) = std::mem::replace(&mut self.phase, Phase::Empty) else {
            unreachable!("an assignment is taken while members wait for it, and not as {:?}", self.phase);
        };
        self.phase = Phase::Stable(syncing);
        self.keep_generation(turn);
        for id in self.waiting_for_sync() {
            if let Some(syncing) = self.member_mut(&id).syncing.take() {
                turn.answer(syncing, Answer::Sync(Ok(self.synced(&id))));
            }
            self.revive(&id, turn.now);
        }
        turn.tell(Event::Stable { generation: self.generation, num_members: self.members.len() });
    }

    fn synced(&self, id: &str) -> Synced {
        Synced {
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            assignment: self.members[id].assignment.clone(),
        }
    }

    pub(super) fn heartbeat(&mut self, beat: &Heartbeat, now: Timestamp) -> Result<(), GroupError> {
        self.check_member(&beat.member_id, beat.instance_id.as_deref())?;
        self.check_generation(beat.generation)?;
        self.revive(&beat.member_id, now);
        match self.phase {
            Phase::Preparing(_) => Err(GroupError::RebalanceInProgress),
            _ => Ok(()),
        }
    }
}

/// A client may leave it open.
fn differs(told: &Option<String>, current: &Option<String>) -> bool {
    told.is_some() && current.is_some() && told != current
}

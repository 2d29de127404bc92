//! SyncGroup and Heartbeat: what a classic member may read, and whether it has to join again.

use super::super::super::embedded::Assignment;
use super::super::super::{GroupError, Heartbeat, Sync, Synced};
use super::super::member::MemberState;
use super::super::topics::names_of;
use super::super::{Around, ConsumerGroup};
use super::check_generation;
use crate::model::Timestamp;

impl ConsumerGroup {
    pub(super) fn sync(&mut self, sync: &Sync, around: &Around<'_>, now: Timestamp) -> Result<Synced, GroupError> {
        let (member, classic) = self.classic_member(&sync.member_id, sync.instance_id.as_deref())?;
        check_generation(member, sync.generation)?;
        if !classic.is_told_of(sync.protocol_type.as_deref(), sync.protocol.as_deref()) {
            return Err(GroupError::InconsistentProtocol);
        }
        // While it lets go of something it goes on where it is.
        if member.epoch < self.epoch && member.state != MemberState::Unrevoked {
            self.await_join(&sync.member_id, now);
            return Err(GroupError::RebalanceInProgress);
        }
        let partitions = names_of(member.assigned.iter().map(|(topic, held)| (topic, held.keys())), around.topics);
        let assignment = Assignment::write(classic.version(), &partitions);
        let heard_by = classic.session_end(now);
        let deadlines = self.deadlines.entry(sync.member_id.clone()).or_default();
        (deadlines.heard_by, deadlines.synced_by) = (heard_by, None);
        Ok(Synced { protocol_type: sync.protocol_type.clone(), protocol: sync.protocol.clone(), assignment })
    }

    pub(super) fn classic_heartbeat(
        &mut self,
        beat: &Heartbeat,
        around: &Around<'_>,
        now: Timestamp,
    ) -> Result<(), GroupError> {
        let (member, classic) = self.classic_member(&beat.member_id, beat.instance_id.as_deref())?;
        check_generation(member, beat.generation)?;
        let heard_by = classic.session_end(now);
        self.deadlines.entry(beat.member_id.clone()).or_default().heard_by = heard_by;
        // Views may have to wait for the disk: the other members look them up.
        if self.views().is_empty() {
            self.update_epoch(None, around, now);
        }
        if self.has_to_join(&self.members[&beat.member_id]) {
            self.await_join(&beat.member_id, now);
            return Err(GroupError::RebalanceInProgress);
        }
        Ok(())
    }
}

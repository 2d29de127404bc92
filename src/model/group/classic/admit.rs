//! Who may move the group's positions.

use super::super::{Committer, GroupError};
use super::ClassicGroup;
use super::phase::Phase;
use crate::model::Timestamp;

impl ClassicGroup {
    /// Members of the current generation, once they have their assignment; others while there are none.
    pub fn admit(&mut self, committer: Committer<'_>, now: Timestamp) -> Result<(), GroupError> {
        let Committer { member, instance, generation, .. } = committer;
        let empty = matches!(self.phase, Phase::Empty);
        if generation < 0 && empty {
            return Ok(());
        }
        if generation < 0 && member.is_empty() && instance.is_none() {
            return Err(GroupError::unknown_member(member));
        }
        self.check_member(member, instance)?;
        self.check_generation(generation)?;
        if matches!(self.phase, Phase::Completing(_)) {
            return Err(GroupError::RebalanceInProgress);
        }
        self.revive(member, now);
        Ok(())
    }
}

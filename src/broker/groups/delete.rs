//! Groups that operators delete, with their positions.

use super::super::{Broker, Gated};
use crate::model::group::GroupError;

impl Broker {
    /// Deletes a group that has no members.
    pub fn delete_group(&self, group: &str) -> Gated<Result<(), GroupError>> {
        self.groups.answer(self, group, |running| {
            if !running.machine.is_empty() {
                return Gated { value: Err(GroupError::NotEmpty), durable_at: running.kept_at };
            }
            let deleted = self.decide(|state| state.decide_delete_group(group));
            self.groups.begin_anew(running);
            deleted.map(|deleted| if deleted { Ok(()) } else { Err(GroupError::unknown_group(group)) })
        })
    }
}

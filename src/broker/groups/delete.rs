//! Groups that operators delete, with their positions.

use super::super::{Broker, Gated};
use crate::model::group::GroupError;

impl Broker {
    /// Deletes a group that has no members.
    pub fn delete_group(&self, group: &str) -> Gated<Result<(), GroupError>> {
        let worked = self.groups.with(self, group, |_, running| {
            if !running.machine.is_empty() {
                return Gated { value: Err(GroupError::NotEmpty), durable_at: running.kept_at };
            }
            let deleted = self.submit(|state| Ok::<_, GroupError>(state.decide_delete_group(group)));
            running.replace(self.groups.machine_of(None, self.group_time()));
            deleted.map(|deleted| match deleted {
                Ok(true) => Ok(()),
                Ok(false) => Err(GroupError::UnknownGroup { group: group.to_owned() }),
                Err(error) => Err(error),
            })
        });
        worked.unwrap_or_else(|error| Gated { value: Err(error), durable_at: self.core.next() })
    }
}

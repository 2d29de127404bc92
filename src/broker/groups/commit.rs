//! Who may move a group's positions.

use super::super::{Broker, Gated};
use crate::model::group::{Committer, Group, GroupError};
use crate::model::{MovedPosition, SubscriptionError};

/// Why positions are not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error(transparent)]
    Subscription(#[from] SubscriptionError),
}

impl Broker {
    /// Moves positions of a group, all at once, if the committer may. Decided under the group's lock: none is taken from a
    /// member of a generation that is over.
    pub fn commit_positions(
        &self,
        group: &str,
        committer: Committer<'_>,
        positions: Vec<MovedPosition>,
    ) -> Gated<Result<(), CommitError>> {
        self.groups.answer(self, group, |running| {
            let unknown = committer.generation >= 0 && !self.knows_group(group, &running.machine);
            let admitted = match unknown {
                true => Err(GroupError::unknown_group(group)),
                false => running.machine.admit(committer, &positions, self.group_time()),
            };
            if let Err(error) = admitted {
                return Gated { value: Err(error.into()), durable_at: running.kept_at };
            }
            self.submit(|state| Ok(state.decide_move_positions(group, positions, self.now())?))
        })
    }

    /// True when there is such a group: it runs, or something of it is kept.
    pub(super) fn knows_group(&self, group: &str, machine: &Group) -> bool {
        !machine.is_at_rest() || self.core.look(|state| state.subscription(group).is_some()).value
    }
}

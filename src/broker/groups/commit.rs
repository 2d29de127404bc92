//! Who may move a group's positions.

use super::super::{Broker, Gated};
use crate::model::group::{Committer, GroupError};
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
        let worked = self.groups.with(self, group, |_, running| {
            let unknown = committer.generation >= 0 && running.machine.is_at_rest() && !self.knows_group(group);
            let admitted = match unknown {
                true => Err(GroupError::UnknownGroup { group: group.to_owned() }),
                false => running.machine.admit(committer, &positions, self.group_time()),
            };
            if let Err(error) = admitted {
                return Gated { value: Err(error.into()), durable_at: running.kept_at };
            }
            self.submit(|state| Ok(state.decide_move_positions(group, positions, self.now())?))
        });
        worked.unwrap_or_else(|error| Gated { value: Err(error.into()), durable_at: self.core.next() })
    }

    /// True when anything of the group is kept.
    pub(super) fn knows_group(&self, group: &str) -> bool {
        self.core.look(|state| state.subscription(group).is_some()).value
    }
}

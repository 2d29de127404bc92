//! Positions that move with a transaction.

use super::super::{Broker, Gated};
use super::Committer;
use crate::model::group::GroupError;
use crate::model::{EnlistError, StagePositions};

/// Why positions do not move with a transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error(transparent)]
    Transaction(#[from] EnlistError),
}

impl Broker {
    /// Positions move when the transaction commits, if the committer may move them. Decided under the group's lock, as
    /// those are that move at once.
    pub fn stage_positions(&self, committer: Committer<'_>, stage: StagePositions) -> Gated<Result<(), StageError>> {
        let group = stage.group.clone();
        self.groups.answer(self, &group, |running| {
            let known = self.knows_group(&group, &running.machine) || self.is_staged(&group);
            let unknown = committer.generation >= 0 && !known;
            let admitted = match (unknown, is_nobody(committer)) {
                (true, _) => Err(GroupError::unknown_group(&group)),
                // Clients from before KIP-447 do not say which member they are: their transactional id fences them.
                (false, true) => Ok(()),
                (false, false) => running.machine.admit(committer, &stage.positions, self.group_time()),
            };
            match admitted {
                // A member whose generation is right may end what it has begun, whatever comes after.
                Ok(()) | Err(GroupError::RebalanceInProgress) => {
                    self.submit(|state| Ok(state.decide_stage_positions(stage)?))
                }
                Err(error) => Gated { value: Err(error.into()), durable_at: running.kept_at },
            }
        })
    }

    /// An open transaction is to move positions of the group, which makes it known.
    fn is_staged(&self, group: &str) -> bool {
        self.look_at_transactions(|transactions| transactions.staging(group).next().is_some()).value
    }
}

fn is_nobody(committer: Committer<'_>) -> bool {
    committer.generation < 0 && committer.member.is_empty() && committer.instance.is_none()
}

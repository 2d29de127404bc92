//! Consumer groups as they run: who may move a group's positions.

use super::{Broker, Gated};
use crate::model::{MovedPosition, SubscriptionError};

/// Who asks for positions to be moved: a member in a generation (or member epoch), or nobody in particular.
#[derive(Clone, Copy, Debug)]
pub struct Committer<'a> {
    /// Empty: a client that is not a member, such as an operator's tool.
    pub member: &'a str,
    pub instance: Option<&'a str>,
    /// -1 without membership.
    pub generation: i32,
}

/// Why positions are not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    #[error("the group has no member {member:?}")]
    UnknownMember { member: String },
    #[error(transparent)]
    Subscription(#[from] SubscriptionError),
}

impl Broker {
    /// Moves positions of a group, all at once, if the committer may.
    pub fn commit_positions(
        &self,
        group: &str,
        committer: Committer<'_>,
        positions: Vec<MovedPosition>,
    ) -> Gated<Result<(), CommitError>> {
        self.submit(|state| {
            if committer.generation >= 0 || !committer.member.is_empty() {
                return Err(CommitError::UnknownMember { member: committer.member.to_owned() });
            }
            Ok(state.decide_move_positions(group, positions, self.now())?)
        })
    }
}

//! Where consumer groups read on: told, and forgotten at a client's wish. Moving them is the groups' business, for it needs
//! a member's word.

use std::collections::BTreeSet;

use super::Broker;
use super::core::Gated;
use crate::model::{Decision, PartitionId, Readers, State, Subscription};

/// Why a group's positions are not told or forgotten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionsError {
    #[error("there is no group {group:?}")]
    UnknownGroup { group: String },
    #[error("a group needs a name")]
    NoName,
}

impl Broker {
    /// Looks at a group's positions; none when there is no such group.
    pub fn look_at_positions<T>(&self, group: &str, look: impl FnOnce(Option<&Subscription>) -> T) -> Gated<T> {
        self.core.look(|state| look(state.subscription(group)))
    }

    /// Who reads with a group's positions.
    pub(super) fn readers(&self, _group: &str, subscription: &Subscription) -> Readers {
        match subscription.kept() {
            None => Readers::Unknown,
            Some(_) => Readers::Agreeing,
        }
    }

    /// Forgets positions of a group, but for those in topics that members have subscribed to, which the outcome names.
    pub fn forget_positions(
        &self,
        group: &str,
        positions: Vec<(String, PartitionId)>,
    ) -> Gated<Result<BTreeSet<String>, PositionsError>> {
        self.submit(|state| decide_forget(state, group, positions))
    }
}

fn decide_forget(
    state: &State,
    group: &str,
    positions: Vec<(String, PartitionId)>,
) -> Result<Decision<BTreeSet<String>>, PositionsError> {
    if group.is_empty() {
        return Err(PositionsError::NoName);
    }
    if state.subscription(group).is_none() {
        return Err(PositionsError::UnknownGroup { group: group.to_owned() });
    }
    let subscribed = BTreeSet::new();
    let Decision { entries, .. } = state.decide_forget_positions(group, positions);
    Ok(Decision { entries, outcome: subscribed })
}

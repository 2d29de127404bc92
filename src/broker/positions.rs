//! Where consumer groups read on, as it is told. Moving and forgetting positions is the groups' business, for it needs to be
//! known who reads.

use super::Broker;
use super::core::Gated;
use crate::model::Subscription;

impl Broker {
    /// Looks at a group's positions; none when there is no such group.
    pub fn look_at_positions<T>(&self, group: &str, look: impl FnOnce(Option<&Subscription>) -> T) -> Gated<T> {
        self.core.look(|state| look(state.subscription(group)))
    }
}

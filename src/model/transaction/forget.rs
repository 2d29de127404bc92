//! Forgetting transactional ids that nobody used for long.

use super::super::decision::Decision;
use super::super::entry::Entry;
use super::super::ids::Timestamp;
use super::super::state::State;

impl State {
    /// Decides that the transactional ids are forgotten that were last used before `before` and have nothing open; the
    /// outcome is how many they are.
    pub fn decide_forget_transactional_ids(&self, before: Timestamp) -> Decision<usize> {
        match self.transactions.unused_since(before).count() {
            0 => Decision::nothing(0),
            num => Decision::one(Entry::TransactionalIdsForgotten { before }, num),
        }
    }
}

//! Transactions in the words in which Kafka shows them to operators.

use crate::model::Transactional;

pub const EMPTY: &str = "Empty";
pub const ONGOING: &str = "Ongoing";
pub const COMMITTED: &str = "CompleteCommit";
pub const ABORTED: &str = "CompleteAbort";

/// All that Kafka knows. A transaction ends here in one step, so that nobody sees it in the others.
pub const STATES: &[&str] =
    &[EMPTY, ONGOING, "PrepareCommit", "PrepareAbort", COMMITTED, ABORTED, "Dead", "PrepareEpochFence"];

/// The state that Kafka would show.
pub fn state(known: &Transactional) -> &'static str {
    match (known.open(), known.ended()) {
        (Some(_), _) => ONGOING,
        (None, Some(ended)) if ended.committed => COMMITTED,
        (None, Some(_)) => ABORTED,
        (None, None) => EMPTY,
    }
}

//! The invariants of a run, whatever happened to its clients and its broker: fourteen faults that none may show.
//!
//! Clients write down what they ask and what they are told ([`Event`]), the end of the run is read in full ([`Found`]),
//! and [`check`] holds one against the other. Each kind of fault has a file; `tests` shows that each is found.

mod cycles;
mod history;
mod index;
mod owners;
mod polls;
mod positions;
mod process;
mod processed;
mod records;
mod tally;
mod tests;
mod torn;
mod views;

use std::fmt;

pub use history::{Commit, Event, Found, History, Isolation, Place, Process, Range, Row, Txn, Value, feed_of};
use index::Index;
pub use tally::Tally;

/// What no run may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Acknowledged, and committed if it was part of a transaction, and not there at the end.
    Lost = 1,
    /// A record of an idempotent producer at two offsets.
    Duplicate,
    /// Two records at one offset, ever.
    InconsistentOffset,
    /// Two records of a producer in a partition, not as they were sent.
    Order,
    /// A reader went back, or left out what it is to be shown.
    PollSkip,
    /// What was aborted, or refused, was shown as committed.
    AbortedRead,
    /// A part of a transaction without the rest of it.
    Torn,
    /// Shown before it was committed, or shown and not durable.
    Dirty,
    /// Transactions each of which comes before the next, and the last before the first.
    Cycle,
    /// A position that no commit moved there.
    PositionBack,
    /// A partition with two owners in a group.
    TwoOwners,
    /// A view that differs from the log.
    View,
    /// A client that does not go on when all is well again.
    Liveness,
    /// A panic, an error in the log, or more memory than the bound.
    Process,
}

/// One thing that went wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    pub what: String,
}

impl Fault {
    fn new(kind: Kind, what: String) -> Fault {
        Fault { kind, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.kind as u8, self.kind, self.what)
    }
}

/// All that is wrong with a run.
pub fn check(history: &History) -> Vec<Fault> {
    let index = Index::of(history);
    let checks = [
        records::check,
        polls::check,
        torn::check,
        cycles::check,
        positions::check,
        processed::check,
        owners::check,
        views::check,
        process::check,
    ];
    checks.iter().flat_map(|check| check(history, &index)).collect()
}

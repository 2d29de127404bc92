//! Transactions: which producer a transactional id has, and what its open transaction touches.
//!
//! A transaction is a stream on every feed that it touches. Ending it is one entry: the markers of all partitions, the
//! commits of all feeds and the positions sent with it stand in it together, so there is no second phase that could be
//! left half done.

mod bind;
mod end;
mod enlist;
mod forget;
mod held;
mod known;
mod name;
mod open;

use super::ids::{FeedId, Offset, PartitionId, ProducerId};
use super::state::State;

pub use bind::{Bind, BindError};
pub use end::{EndError, EndTransaction, Rolling};
pub use enlist::{Enlist, EnlistError, InTransaction, StagePositions};
pub use held::{HELD_BYTES_MAX, Held};
pub use known::Transactions;
pub use name::{NameError, NameOutcome, NameStream};
pub use open::{Ending, Identity, OpenTransaction, Transactional};

/// Transactional ids that may be known. One more takes the place of the longest unused one that has nothing open.
pub const TRANSACTIONAL_IDS_MAX: usize = 100_000;

/// Bytes that the ids may take, which are kept twice. The same holds for them.
pub const TRANSACTIONAL_ID_BYTES_MAX: u64 = 64 << 20;

/// Partitions that one transaction may touch.
pub const TRANSACTION_PARTITIONS_MAX: usize = 100_000;

/// Groups whose positions one transaction may move.
pub const TRANSACTION_GROUPS_MAX: usize = 1_000;

impl State {
    /// The transactional ids.
    pub fn transactions(&self) -> &Transactions {
        &self.transactions
    }

    /// Where the open transaction of a producer begins in a partition; none if it holds nothing there.
    pub fn transaction_start(&self, feed: FeedId, partition: PartitionId, producer: ProducerId) -> Option<Offset> {
        let (_, known) = self.transactions.of_producer(producer)?;
        let stream = known.open()?.stream_on(feed)?;
        let extents = self.feed(feed)?.open.get(&stream)?.extents(partition);
        extents.first().map(|extent| extent.base)
    }
}

//! The wire protocol by hand: just the requests needed, none of them in a flexible version.

mod answer;
mod batch;
mod buffer;
mod connection;
mod group;
mod record;
mod request;
mod transaction;

pub use answer::{created, fetched, listed, names_a_broker, produced};
pub use batch::{Writer, batch, batch_of, batch_with};
pub use connection::Connection;
pub use group::{
    Joined, Membership, code, committed, find_coordinator, found_coordinator, heartbeat, join_group, joined,
    offset_commit, sync_group, synced,
};
pub use record::{Record, records};
pub use request::{create_topics, fetch, fetch_committed, list_end, metadata, produce};

pub use transaction::{
    Identity, add_partition, add_partitions, added, end, find_transaction_coordinator, found_transaction_coordinator,
    given, init_producer, init_producer_within, produce_in, produce_wide,
};

use crate::Fault;

/// Kafka's codes that say: not yet, ask again (LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION).
const NOT_YET: [i16; 3] = [5, 6, 3];

/// True when the broker took it, false when it says "not yet".
pub fn accepted(what: &str, code: i16) -> Result<bool, Fault> {
    match code {
        0 => Ok(true),
        code if NOT_YET.contains(&code) => Ok(false),
        code => Err(format!("{what}: the broker answered error {code}").into()),
    }
}

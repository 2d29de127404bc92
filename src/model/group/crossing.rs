//! What a group takes along from one protocol to the other: what both kinds know of it.

use bytes::Bytes;

use super::embedded::CONSUMER;
use super::{Client, Protocol};

/// A group on its way.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    /// The highest generation or epoch that any member was told: what comes is above it.
    pub epoch: i32,
    pub protocol_type: Option<String>,
    /// Whose metadata counts; any if members are yet to agree.
    pub protocol: Option<String>,
    pub members: Vec<Crosser>,
}

/// One of its members, which speaks the classic protocol.
#[derive(Clone, Debug)]
pub(super) struct Crosser {
    pub id: String,
    pub instance: Option<String>,
    pub client: Client,
    pub session_ms: i64,
    pub rebalance_ms: i64,
    pub protocols: Vec<Protocol>,
    /// The generation or epoch in which it is.
    pub epoch: i32,
    /// What it may read, as consumers are told it.
    pub assignment: Bytes,
}

/// Why a group with classic members does not become a consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoUpgrade {
    #[error("group.consumer.migration.policy does not allow it")]
    Forbidden,
    #[error("its members are no consumers")]
    OtherType,
    #[error("it has more members than group.consumer.max.size, which is {max}")]
    TooLarge { max: usize },
    #[error("what its members subscribe to or are assigned cannot be read")]
    Unreadable,
    #[error("its assignor tells members more than partitions, which would be lost; use one of Kafka's own")]
    Assignor,
    #[error("its leader assigned a partition to two members")]
    TwoOwners,
}

impl Crossing {
    pub fn is_of_consumers(&self) -> bool {
        self.protocol_type.as_deref() == Some(CONSUMER)
    }
}

impl Crosser {
    /// What it said of itself.
    pub fn metadata(&self, protocol: Option<&str>) -> Option<&Bytes> {
        let counts = |known: &&Protocol| protocol.is_none_or(|name| known.name == name);
        self.protocols.iter().find(counts).map(|known| &known.metadata)
    }
}

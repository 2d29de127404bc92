//! The fields of every request served, version by version, for the guard. Facts of the protocol: Kafka's message schemas.
//!
//! A field stands in versions `since..=until`, may be null from `null_since` on, and is a tagged field if it has a tag.

mod admin;
mod cluster;
mod consumer_group;
mod data;
mod groups;
mod operator;
mod positions;
mod security;
mod transactions;

pub use admin::{
    ALTER_CONFIGS, CREATE_PARTITIONS, CREATE_TOPICS, DELETE_RECORDS, DELETE_TOPICS, DESCRIBE_CONFIGS,
    INCREMENTAL_ALTER_CONFIGS,
};
pub use cluster::{API_VERSIONS, DESCRIBE_CLUSTER, DESCRIBE_TOPIC_PARTITIONS, FIND_COORDINATOR, METADATA};
pub use consumer_group::{CONSUMER_GROUP_DESCRIBE, CONSUMER_GROUP_HEARTBEAT};
pub use data::{FETCH, INIT_PRODUCER_ID, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH, PRODUCE};
pub use groups::{DELETE_GROUPS, DESCRIBE_GROUPS, HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, LIST_GROUPS, SYNC_GROUP};
pub use operator::{
    ALTER_PARTITION_REASSIGNMENTS, DESCRIBE_LOG_DIRS, DESCRIBE_PRODUCERS, ELECT_LEADERS, LIST_CONFIG_RESOURCES,
    LIST_PARTITION_REASSIGNMENTS, UPDATE_FEATURES,
};
pub use positions::{OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH};
pub use security::{CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS, DESCRIBE_CLIENT_QUOTAS, DESCRIBE_USER_SCRAM_CREDENTIALS};
pub use transactions::{
    ADD_OFFSETS_TO_TXN, ADD_PARTITIONS_TO_TXN, DESCRIBE_TRANSACTIONS, END_TXN, LIST_TRANSACTIONS, TXN_OFFSET_COMMIT,
    WRITE_TXN_MARKERS,
};

/// A request's body.
#[derive(Debug)]
pub struct Schema {
    /// First version with compact lengths and tagged fields.
    pub flexible_since: i16,
    pub fields: &'static [Field],
}

impl Schema {
    /// True when `version` has compact lengths and tagged fields.
    pub fn is_flexible(&self, version: i16) -> bool {
        version >= self.flexible_since
    }
}

/// A field of a request or of a struct in it.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub since: i16,
    pub until: i16,
    pub null_since: i16,
    pub tag: Option<u32>,
}

/// What a field is on the wire.
#[derive(Debug)]
pub enum Kind {
    /// A number, a flag or a UUID of that many bytes.
    Fixed(usize),
    String,
    Bytes,
    Array(&'static Kind),
    Struct(&'static [Field]),
}

const NEVER: i16 = i16::MAX;

impl Field {
    const fn new(name: &'static str, kind: Kind) -> Field {
        Field { name, kind, since: 0, until: i16::MAX, null_since: NEVER, tag: None }
    }

    const fn since(mut self, version: i16) -> Field {
        self.since = version;
        self
    }

    const fn until(mut self, version: i16) -> Field {
        self.until = version;
        self
    }

    const fn null_since(mut self, version: i16) -> Field {
        self.null_since = version;
        self
    }

    const fn tagged(mut self, tag: u32) -> Field {
        self.tag = Some(tag);
        self
    }

    /// True when the field stands in `version`, by position or as a tag.
    pub fn is_in(&self, version: i16) -> bool {
        self.since <= version && version <= self.until
    }

    /// True when the field may be null in `version`.
    pub fn may_be_null(&self, version: i16) -> bool {
        version >= self.null_since
    }
}

const fn int8(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(1))
}

const fn flag(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(1))
}

const fn int16(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(2))
}

const fn int32(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(4))
}

const fn int64(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(8))
}

const fn uuid(name: &'static str) -> Field {
    Field::new(name, Kind::Fixed(16))
}

const fn string(name: &'static str) -> Field {
    Field::new(name, Kind::String)
}

const fn records(name: &'static str) -> Field {
    Field::new(name, Kind::Bytes)
}

const fn array(name: &'static str, of: &'static Kind) -> Field {
    Field::new(name, Kind::Array(of))
}

const fn structure(name: &'static str, fields: &'static [Field]) -> Field {
    Field::new(name, Kind::Struct(fields))
}

const INT32: Kind = Kind::Fixed(4);

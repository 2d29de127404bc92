//! A record as read.

use bytes::Bytes;

use crate::batch::{self, RecordRef};

/// A record with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub partition: i32,
    pub offset: i64,
    pub timestamp: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    /// In order; keys may repeat.
    pub headers: Vec<Header>,
}

/// A header of a record. Its key is text by convention only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub key: Bytes,
    pub value: Option<Bytes>,
}

impl Record {
    pub(super) fn copied(partition: i32, record: &RecordRef<'_>) -> Record {
        Record {
            partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key.map(Bytes::copy_from_slice),
            value: record.value.map(Bytes::copy_from_slice),
            headers: record.headers().map(Header::copied).collect(),
        }
    }
}

impl Header {
    fn copied(header: batch::Header<'_>) -> Header {
        Header { key: Bytes::copy_from_slice(header.key), value: header.value.map(Bytes::copy_from_slice) }
    }
}

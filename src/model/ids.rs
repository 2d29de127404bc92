//! Types for numbers that look alike: which feed, which offset in which space, which journal entry.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// A feed's number, given at creation, never used again after deletion.
    FeedId(u32)
}
number! {
    /// A partition of a feed, from 0.
    PartitionId(u32)
}
number! {
    /// A position in a partition's log, in append order (what Produce returns).
    Offset(i64)
}
number! {
    /// A position in a partition's feed space, in seal order, dense.
    FeedOffset(i64)
}
number! {
    /// A commit of a feed, dense from 0.
    CommitNumber(i64)
}
number! {
    /// A stream of a feed, dense from 0.
    StreamId(i64)
}
number! {
    /// The number of a journal entry, from 0; "at lsn n" means entries below n are applied.
    Lsn(u64)
}
number! {
    /// A producer id as Kafka clients carry it; -1 means none.
    ProducerId(i64)
}
number! {
    /// Milliseconds since 1970-01-01 UTC.
    Timestamp(i64)
}

impl Lsn {
    /// The lsn `count` entries later.
    pub fn plus(self, count: u64) -> Lsn {
        Lsn(self.0 + count)
    }
}

impl Offset {
    /// The offset `count` records later.
    pub fn plus(self, count: i64) -> Offset {
        Offset(self.0 + count)
    }
}

impl FeedOffset {
    /// The feed offset `count` records later.
    pub fn plus(self, count: i64) -> FeedOffset {
        FeedOffset(self.0 + count)
    }
}

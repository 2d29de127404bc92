//! What the clients of a run wrote down, and what was read when it was over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a record says. No two say the same, and `n` rises over the life of a producer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    pub producer: u32,
    /// How often the producer has begun anew.
    pub epoch: u32,
    pub n: u32,
}

/// A transaction of a producer, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Txn {
    pub producer: u32,
    pub number: u32,
}

/// A partition of a topic or view.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub topic: &'static str,
    pub partition: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    Uncommitted,
    Committed,
}

/// A record, and its offset.
pub type Row = (i64, Value);

/// One thing that a client did or was told. Questions are written down before they are asked, answers when they are there.
#[derive(Clone, Debug)]
pub enum Event {
    /// Its fate is unknown until one of the next two says it.
    Sent {
        value: Value,
        place: Place,
        txn: Option<Txn>,
    },
    /// The broker has it, at that offset unless it has forgotten where.
    Acked {
        value: Value,
        offset: Option<i64>,
    },
    /// The broker does not have it and never will.
    Refused {
        value: Value,
    },
    /// The outcome is unknown until the next one says it. A transaction that never comes here is never committed.
    Committing {
        txn: Txn,
    },
    Ended {
        txn: Txn,
        committed: bool,
    },
    /// By one reader in one go from one place on, in a transaction of its own or in none.
    Polled {
        reader: u32,
        assignment: u32,
        place: Place,
        row: Row,
        isolation: Isolation,
        txn: Option<Txn>,
    },
    /// A position that moves if the transaction commits.
    Staged {
        txn: Txn,
        group: u32,
        place: Place,
        offset: i64,
    },
    /// Where the group stood, asked by the client that moves it.
    Position {
        group: u32,
        place: Place,
        offset: Option<i64>,
    },
    /// From here on a member owns a partition, or no longer does.
    Owned {
        group: u32,
        place: Place,
        member: u32,
        owned: bool,
    },
}

/// A commit of a feed.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub number: i64,
    /// By partition.
    pub rows: BTreeMap<i32, Vec<Row>>,
    pub siblings: BTreeSet<(String, i64)>,
}

/// A view of the commits `first` to `last` of a feed.
#[derive(Clone, Debug)]
pub struct Range {
    pub topic: &'static str,
    pub first: i64,
    pub last: i64,
    /// By partition.
    pub rows: BTreeMap<i32, Vec<Row>>,
}

/// What was read at the end, all of it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The plain topics, open and aborted records too.
    pub log: BTreeMap<Place, Vec<Row>>,
    /// The plain topics as committed.
    pub committed: BTreeMap<Place, Vec<Row>>,
    /// Their `..feed`.
    pub feed: BTreeMap<Place, Vec<Row>>,
    pub commits: BTreeMap<&'static str, Vec<Commit>>,
    pub ranges: Vec<Range>,
    pub positions: BTreeMap<(u32, Place), i64>,
}

/// How the process bore it, and how its clients went on.
#[derive(Clone, Debug, Default)]
pub struct Process {
    pub log: Vec<String>,
    pub rss_peak_mb: u64,
    pub rss_max_mb: u64,
    /// By client: it committed something after the last fault.
    pub progress: BTreeMap<String, bool>,
}

/// A whole run.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub events: Vec<Event>,
    pub found: Found,
    pub process: Process,
}

impl Found {
    /// All that a reader of a place is shown at the end.
    pub fn shown(&self, place: Place, isolation: Isolation) -> Option<&Vec<Row>> {
        match (place.topic.ends_with(FEED), isolation) {
            (true, _) => self.feed.get(&place),
            (false, Isolation::Uncommitted) => self.log.get(&place),
            (false, Isolation::Committed) => self.committed.get(&place),
        }
    }
}

const FEED: &str = "..feed";

/// The view that holds a topic's records in the order of their commits.
pub fn feed_of(topic: &str) -> String {
    format!("{topic}{FEED}")
}

impl Place {
    /// The plain topic's partition that a partition of `..feed` belongs to.
    pub fn plain(self) -> Place {
        Place { topic: self.topic.strip_suffix(FEED).unwrap_or(self.topic), ..self }
    }
}

impl Value {
    pub fn text(self) -> String {
        format!("{} {} {}", self.producer, self.epoch, self.n)
    }

    /// Panics at what no producer of a run sends.
    pub fn read(bytes: &[u8]) -> Value {
        let text = std::str::from_utf8(bytes).expect("a value is text");
        let numbers: Vec<u32> = text.split(' ').map(|part| part.parse().expect("a number")).collect();
        let [producer, epoch, n] = numbers[..] else { panic!("no record of a run: {text:?}") };
        Value { producer, epoch, n }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}e{}n{}", self.producer, self.epoch, self.n)
    }
}

impl fmt::Debug for Txn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}t{}", self.producer, self.number)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

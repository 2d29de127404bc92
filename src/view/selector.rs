//! What the name of a view says: of which feed, which commits or stream, read in which mode.
//!
//! One view has one name, its canonical text, which `Display` writes and `view::name` reads back.

use std::fmt;

use uuid::Uuid;

use crate::model::{CommitNumber, StreamId, Timestamp};

/// A view of a feed, as its name says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewName {
    pub feed: String,
    pub selector: Selector,
    pub mode: Mode,
}

/// Which part of a feed's history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// All commits, those to come too.
    Feed,
    Commit(CommitNumber),
    /// Both included.
    Commits {
        first: CommitNumber,
        last: CommitNumber,
    },
    /// From this commit on, those to come too.
    Since(CommitNumber),
    /// From commit 0 to this one, which is included.
    Upto(CommitNumber),
    /// Commits with `from <= seal time < to`.
    Sealed {
        from: Timestamp,
        to: Timestamp,
        spelling: TimeSpelling,
    },
    Stream(StreamId),
    /// The newest stream with this label.
    Named(String),
    /// One record per commit: its manifest.
    CommitLog,
    /// One record per event of a stream.
    StreamLog,
    /// The control topic that seals.
    Seal,
}

/// How a name writes a stretch of time. The same hour written in two ways is two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeSpelling {
    FromTo,
    Hour,
    Day,
}

/// Which of the selected records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Raw,
    Dedup,
    Latest,
    Live,
    Changed,
}

impl ViewName {
    /// The topic id of this view of the feed whose topic id is `feed`: the same after a restart, never zero.
    ///
    /// FNV-1a with 128 bits over the feed's id and the canonical name, marked as a UUID of version 8 (RFC 9562: made
    /// by the vendor's own rule), which feeds never have: theirs are random, version 4. Frozen: clients keep ids.
    pub fn topic_id(&self, feed: &Uuid) -> Uuid {
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let name = self.to_string();
        let bytes = feed.as_bytes().iter().chain(name.as_bytes());
        let hash = bytes.fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
        uuid::Builder::from_custom_bytes(hash.to_be_bytes()).into_uuid()
    }
}

impl Selector {
    /// True when the content cannot grow once it is there.
    pub fn bounded(&self) -> bool {
        matches!(self, Selector::Commit(_) | Selector::Commits { .. } | Selector::Upto(_) | Selector::Sealed { .. })
    }

    /// True when the selector takes a mode: it selects commits.
    pub fn takes_mode(&self) -> bool {
        self.bounded() || matches!(self, Selector::Feed | Selector::Since(_))
    }
}

impl fmt::Display for ViewName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.feed)?;
        match (&self.selector, self.mode) {
            (selector, Mode::Raw) => selector.fmt(f),
            (Selector::Feed, mode) => mode.fmt(f),
            (selector, mode) => write!(f, "{selector}..{mode}"),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Feed => f.write_str("feed"),
            Selector::Commit(commit) => write!(f, "commit-{commit}"),
            Selector::Commits { first, last } => write!(f, "commits-{first}-{last}"),
            Selector::Since(first) => write!(f, "since-{first}"),
            Selector::Upto(last) => write!(f, "upto-{last}"),
            Selector::Sealed { from, to, spelling } => match spelling {
                TimeSpelling::FromTo => write!(f, "sealed-{}-{}", minute(*from), minute(*to)),
                TimeSpelling::Hour => write!(f, "hour-{}", utc(*from, "%Y%m%d%H")),
                TimeSpelling::Day => write!(f, "day-{}", utc(*from, "%Y%m%d")),
            },
            Selector::Stream(stream) => write!(f, "stream-{stream}"),
            Selector::Named(label) => write!(f, "named-{label}"),
            Selector::CommitLog => f.write_str("commits"),
            Selector::StreamLog => f.write_str("streams"),
            Selector::Seal => f.write_str("seal"),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Raw => "raw",
            Mode::Dedup => "dedup",
            Mode::Latest => "latest",
            Mode::Live => "live",
            Mode::Changed => "changed",
        })
    }
}

fn minute(time: Timestamp) -> String {
    utc(time, "%Y%m%dT%H%MZ")
}

/// Times outside the calendar's years have no name; they are not made by the parser.
fn utc(time: Timestamp, format: &str) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(instant) => instant.strftime(format).to_string(),
        Err(_) => time.to_string(),
    }
}

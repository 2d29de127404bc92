//! A feed and its partitions: where every space ends, and where every file does.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::ids::{CommitNumber, FeedId, FeedOffset, Offset, PartitionId, StreamId, Timestamp};
use super::producers::Producers;
use super::state::Overrides;
use super::stream::OpenStream;

/// A feed. Made by its first entry, changed by [`super::State::apply`] alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    pub(super) id: FeedId,
    pub(super) name: String,
    pub(super) topic_id: Uuid,
    pub(super) overrides: Overrides,
    pub(super) created_at: Timestamp,
    pub(super) partitions: Vec<Partition>,
    /// Streams that are neither sealed nor aborted.
    pub(super) open: BTreeMap<StreamId, OpenStream>,
    /// Extents of the streams of transactions among them. Follows from them and is not stored.
    pub(super) num_extents: usize,
    /// Bytes of what records to `..seal` said of them. The same holds for it.
    pub(super) named_bytes: u64,
    /// The one among them that plain produces go into.
    pub(super) implicit: Option<StreamId>,
    pub(super) next_stream: StreamId,
    pub(super) next_commit: CommitNumber,
    pub(super) last_sealed_at: Timestamp,
    /// Bytes of `commits.log`; it holds one manifest a commit.
    pub(super) commits_bytes: u64,
    pub(super) streams: EventLog,
    pub(super) history: HistoryStart,
    /// Idempotent producers that wrote to the control topic `..seal`.
    pub(super) seal_producers: Producers,
}

/// Where a feed's history begins: what lies below was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryStart {
    /// Commits below were dropped, with all their records.
    pub commit: CommitNumber,
    /// The manifests of commits below are gone as well.
    pub manifest: CommitNumber,
    /// Seal time of the newest commit whose manifest is gone.
    pub manifest_sealed: Timestamp,
    /// Stream events below are gone.
    pub event: i64,
    /// No commit from here on has lost a record.
    pub whole: CommitNumber,
}

/// The end of `streams.log`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventLog {
    pub bytes: u64,
    /// The number of the next event.
    pub next: i64,
}

/// A partition. There may be tens of thousands, most of them idle, so an idle one is small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    pub(super) log_start: Offset,
    pub(super) log_end: Offset,
    pub(super) segment: Segment,
    pub(super) feed_start: FeedOffset,
    pub(super) feed_end: FeedOffset,
    pub(super) first_run: u64,
    pub(super) num_runs: u64,
    pub(super) producers: Producers,
    /// None until the first transaction.
    pub(super) transactions: Option<Box<PartitionTransactions>>,
}

/// What transactions did in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartitionTransactions {
    /// Rows of `aborted.index`.
    pub num_aborted: u64,
    /// Offsets that have no place in feed space: markers, and records of aborted transactions.
    pub unplaced: i64,
    /// Where the streams of open transactions begin, in order. Follows from the open streams and is not stored.
    pub open: BTreeSet<(Offset, StreamId)>,
}

/// The segment that a partition's next batch goes to, unless it is rolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The offset that the segment starts with.
    pub base: Offset,
    pub bytes: u64,
    /// When its first batch was appended.
    pub first_at: Timestamp,
}

impl HistoryStart {
    /// Each of the two where it is later.
    pub(super) fn later(self, other: HistoryStart) -> HistoryStart {
        let commit = self.commit.max(other.commit);
        HistoryStart {
            commit,
            manifest: self.manifest.max(other.manifest),
            manifest_sealed: self.manifest_sealed.max(other.manifest_sealed),
            event: self.event.max(other.event),
            whole: self.whole.max(other.whole).max(commit),
        }
    }
}

/// The config that makes a feed a name of a view.
pub const VIEW: &str = "streamstack.view";

impl Feed {
    pub(super) fn new(id: FeedId, name: String, topic_id: Uuid, created_at: Timestamp) -> Feed {
        Feed {
            id,
            name,
            topic_id,
            overrides: Overrides::new(),
            created_at,
            partitions: Vec::new(),
            open: BTreeMap::new(),
            num_extents: 0,
            named_bytes: 0,
            implicit: None,
            next_stream: StreamId(0),
            next_commit: CommitNumber(0),
            last_sealed_at: Timestamp(0),
            commits_bytes: 0,
            streams: EventLog::default(),
            history: HistoryStart::default(),
            seal_producers: Producers::default(),
        }
    }

    /// True when it is but a name of a view of another feed, and takes no records.
    pub(super) fn is_alias(&self) -> bool {
        self.overrides.contains_key(VIEW)
    }

    /// True when nobody ever opened a stream of it.
    pub(super) fn is_unused(&self) -> bool {
        self.next_stream == StreamId(0)
    }

    /// Its number.
    pub fn id(&self) -> FeedId {
        self.id
    }

    /// Its name, as a topic's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The topic id under which Kafka clients know it.
    pub fn topic_id(&self) -> Uuid {
        self.topic_id
    }

    /// What clients set on it.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// When it was made.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// Its partitions, by number.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// One of its partitions.
    pub fn partition(&self, partition: PartitionId) -> Option<&Partition> {
        self.partitions.get(partition.0 as usize)
    }

    /// The stream that plain produces go into, once it holds something.
    pub fn open_stream(&self) -> Option<&OpenStream> {
        self.implicit.map(|id| &self.open[&id])
    }

    /// All streams that hold something and are not sealed, by number.
    pub fn open_streams(&self) -> impl Iterator<Item = &OpenStream> {
        self.open.values()
    }

    /// The number that the next stream gets.
    pub fn next_stream(&self) -> StreamId {
        self.next_stream
    }

    /// The number that the next commit gets; also the number of commits.
    pub fn next_commit(&self) -> CommitNumber {
        self.next_commit
    }

    /// Seal time of the newest commit; 0 if there is none.
    pub fn last_sealed_at(&self) -> Timestamp {
        self.last_sealed_at
    }

    /// Where `commits.log` ends.
    pub fn commits_bytes(&self) -> u64 {
        self.commits_bytes
    }

    /// Where `streams.log` ends.
    pub fn stream_events(&self) -> EventLog {
        self.streams
    }

    /// Idempotent producers that wrote to the control topic `..seal`.
    pub fn seal_producers(&self) -> &Producers {
        &self.seal_producers
    }

    /// Where its history begins.
    pub fn history(&self) -> HistoryStart {
        self.history
    }

    /// Takes an open stream out, to be sealed or aborted.
    pub(super) fn close(&mut self, stream: StreamId) -> Option<OpenStream> {
        let stream = self.open.remove(&stream)?;
        if stream.transaction.is_some() {
            self.num_extents -= stream.num_extents;
            self.named_bytes -= stream.named_bytes();
        }
        Some(stream)
    }

    /// When its open stream is due to be sealed by its age.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.open_stream().map(|stream| stream.due)
    }
}

impl Partition {
    /// The first offset that is still there.
    pub fn log_start(&self) -> Offset {
        self.log_start
    }

    /// The offset that the next record gets.
    pub fn log_end(&self) -> Offset {
        self.log_end
    }

    /// Where the log's last file ends.
    pub fn segment(&self) -> Segment {
        self.segment
    }

    /// The first feed offset that is still there.
    pub fn feed_start(&self) -> FeedOffset {
        self.feed_start
    }

    /// The feed offset that the next sealed record gets.
    pub fn feed_end(&self) -> FeedOffset {
        self.feed_end
    }

    /// Idempotent producers that wrote to it.
    pub fn producers(&self) -> &Producers {
        &self.producers
    }

    /// What lies below is decided: no open transaction holds any of it.
    pub fn last_stable(&self) -> Offset {
        let open = self.transactions.as_ref().and_then(|transactions| transactions.open.first());
        open.map_or(self.log_end, |(first, _)| (*first).max(self.log_start))
    }

    /// Rows of `aborted.index`.
    pub fn num_aborted(&self) -> u64 {
        self.transactions.as_ref().map_or(0, |transactions| transactions.num_aborted)
    }

    /// The first row of `feed.runs` that is still there.
    pub fn first_run(&self) -> u64 {
        self.first_run
    }

    /// Rows of `feed.runs`, those deleted included.
    pub fn num_runs(&self) -> u64 {
        self.num_runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_partition_takes_less_than_a_hundred_bytes() {
        assert!(size_of::<Partition>() <= 88, "{}", size_of::<Partition>());
    }
}

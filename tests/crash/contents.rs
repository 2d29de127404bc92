//! What the files of a store should hold, kept in memory, and what they do hold, read as a broker reads.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use streamstack::batch::{BatchHeader, PLACED_HEAD_LEN, batch_lengths, placed_head};
use streamstack::model::{
    AbortedRow, CommitNumber, CommitRow, DropCommits, Feed, FeedId, FeedOffset, HistoryStart, Offset, PartitionId,
    PartitionStart, RunRow, SealedPlace, State, TailWrite, Timestamp,
};
use streamstack::store::{Commits, FileError, PartitionFiles, Store, Streams};

/// Everything that readers can see, by feed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    feeds: BTreeMap<FeedId, FeedContents>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct FeedContents {
    partitions: Vec<PartitionContents>,
    manifests: Vec<Bytes>,
    rows: Vec<CommitRow>,
    events: Vec<Bytes>,
    start: HistoryStart,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct PartitionContents {
    /// With the offset at which each ends. Those below the start are kept here all the same.
    batches: Vec<(i64, Bytes)>,
    end: i64,
    runs: Vec<RunRow>,
    aborted: Vec<AbortedRow>,
    start: i64,
    first_run: usize,
}

impl Contents {
    pub fn write(&mut self, write: &TailWrite) {
        match write {
            TailWrite::FeedCreated { feed, partitions } => {
                let feed = self.feeds.entry(*feed).or_default();
                feed.partitions.resize_with(*partitions as usize, PartitionContents::default);
            }
            TailWrite::FeedDeleted { feed } => drop(self.feeds.remove(feed)),
            TailWrite::PartitionsAdded { feed, partitions } => {
                self.feed(*feed).partitions.resize_with(*partitions as usize, PartitionContents::default);
            }
            TailWrite::Batch { feed, partition, base_offset, end_offset, batch, .. } => {
                let mut placed = placed_head(batch, base_offset.0).to_vec();
                placed.extend_from_slice(&batch[PLACED_HEAD_LEN..]);
                let partition = &mut self.feed(*feed).partitions[partition.0 as usize];
                assert_eq!(partition.end, base_offset.0);
                partition.batches.push((end_offset.0, Bytes::from(placed)));
                partition.end = end_offset.0;
            }
            TailWrite::Aborted { feed, partition, row, aborted } => {
                let partition = &mut self.feed(*feed).partitions[partition.0 as usize];
                assert_eq!(partition.aborted.len() as u64, *row);
                partition.aborted.push(*aborted);
            }
            TailWrite::Runs { feed, partition, row, runs } => {
                let partition = &mut self.feed(*feed).partitions[partition.0 as usize];
                assert_eq!(partition.runs.len() as u64, *row);
                partition.runs.extend(runs);
            }
            TailWrite::Commit { feed, row, batch, .. } => {
                let feed = self.feed(*feed);
                assert_eq!(feed.rows.len() as i64, row.commit.0, "commits are dense");
                feed.rows.push(*row);
                feed.manifests.push(batch.clone());
            }
            TailWrite::StreamEvent { feed, event, batch, .. } => {
                let feed = self.feed(*feed);
                assert_eq!(feed.events.len() as i64, *event);
                feed.events.push(batch.clone());
            }
            TailWrite::Trimmed { feed, start, partitions } => {
                let feed = self.feed(*feed);
                feed.start = *start;
                for log in partitions {
                    let partition = &mut feed.partitions[log.start.partition.0 as usize];
                    partition.start = log.start.log.0;
                    partition.first_run = log.start.run as usize;
                }
            }
        }
    }

    /// Where a log offset lies in feed space; none when a stream is open that begins below.
    pub fn place(&self, feed: &Feed, partition: PartitionId, below: Offset) -> Option<SealedPlace> {
        if open_start(feed, partition).is_some_and(|open| open < below) {
            return None;
        }
        let runs = &self.feeds[&feed.id()].partitions[partition.0 as usize].runs;
        let run = runs.iter().rfind(|run| run.log_base < below);
        let feed = run.map_or(FeedOffset(0), |run| run.feed_base.plus(run.count.min(below.0 - run.log_base.0)));
        Some(SealedPlace { feed, last_before: run.map(|run| run.commit) })
    }

    /// The wish to drop the commits below one, the manifests below another and the events below a third.
    pub fn drop_below(&self, feed: &Feed, commit: i64, manifest: i64, event: i64) -> DropCommits {
        let contents = &self.feeds[&feed.id()];
        let dropped = contents.rows[..manifest as usize].last();
        let start = HistoryStart {
            commit: CommitNumber(commit),
            manifest: CommitNumber(manifest),
            manifest_sealed: dropped.map_or(Timestamp(0), |row| row.sealed),
            event,
            whole: CommitNumber(commit),
        };
        let partitions = contents.partitions.iter().enumerate().filter_map(|(index, partition)| {
            let run = partition.runs.partition_point(|run| run.commit.0 < commit);
            let last = partition.runs[..run].last()?;
            let number = PartitionId(index as u32);
            let kept = partition.runs[run..].iter().map(|run| run.log_base);
            let log = kept.chain(open_start(feed, number)).min().unwrap_or(Offset(partition.end));
            Some(PartitionStart { partition: number, log, feed: last.feed_base.plus(last.count), run: run as u64 })
        });
        DropCommits { feed: feed.id(), start, partitions: partitions.collect(), now: Timestamp(0) }
    }

    /// How many commits and how many stream events a feed has had.
    pub fn lengths(&self, feed: FeedId) -> (i64, i64) {
        let feed = &self.feeds[&feed];
        (feed.rows.len() as i64, feed.events.len() as i64)
    }

    /// Reads all of a store and holds it against these contents.
    pub fn check(&self, store: &Store, state: &State) {
        for (id, feed) in &self.feeds {
            let files = store.feed(*id).unwrap();
            assert_eq!(files.num_partitions() as usize, feed.partitions.len());
            for (number, partition) in feed.partitions.iter().enumerate() {
                partition.check(&files.partition(PartitionId(number as u32)).unwrap());
            }
            let end = CommitNumber(feed.rows.len() as i64);
            assert_eq!(state.feed(*id).unwrap().next_commit(), end);
            let first = feed.start.manifest;
            let manifests = feed.manifests[first.0 as usize..].concat();
            assert_eq!(read_commits(files.commits(), first, end), manifests);
            for row in &feed.rows[first.0 as usize..] {
                assert_eq!(files.commits().row(row.commit).unwrap(), *row);
                assert_eq!(files.commits().of_stream(row.stream, first, end).unwrap(), Some(*row));
                let one = files.commits().read(row.commit, end, 1).unwrap();
                assert_eq!(one, feed.manifests[row.commit.0 as usize]);
            }
            let num_events = feed.events.len() as i64;
            assert_eq!(
                read_events(files.streams(), feed.start.event, num_events),
                feed.events[feed.start.event as usize..].concat()
            );
        }
        assert!(state.feeds().all(|feed| self.feeds.contains_key(&feed.id())));
    }

    /// Reads the history of a store one by one: what is given is what these contents hold, and the rest is refused with the
    /// name of the file. Returns how much was refused.
    pub fn check_or_refused(&self, store: &Store, damaged: &Path) -> usize {
        let mut num_refused = 0;
        let mut check = |read: Result<Bytes, FileError>, expected: &Bytes| match read {
            Ok(bytes) => assert_eq!(bytes, *expected, "{}", damaged.display()),
            Err(error) => {
                assert!(error.to_string().contains(damaged.to_str().unwrap()), "{}: {error}", damaged.display());
                num_refused += 1;
            }
        };
        for (id, feed) in &self.feeds {
            let files = store.feed(*id).unwrap();
            let (first, end) = (feed.start.manifest, CommitNumber(feed.rows.len() as i64));
            for row in &feed.rows[first.0 as usize..] {
                assert_eq!(files.commits().row(row.commit).unwrap(), *row);
                check(files.commits().read(row.commit, end, 1), &feed.manifests[row.commit.0 as usize]);
            }
            let num_events = feed.events.len() as i64;
            for event in feed.start.event..num_events {
                check(files.streams().read(event, num_events, 1), &feed.events[event as usize]);
            }
        }
        num_refused
    }

    fn feed(&mut self, feed: FeedId) -> &mut FeedContents {
        self.feeds.get_mut(&feed).unwrap()
    }
}

/// Where the open streams begin in a partition's log.
fn open_start(feed: &Feed, partition: PartitionId) -> Option<Offset> {
    feed.open_streams().filter_map(|stream| stream.extents(partition).first()).map(|extent| extent.base).min()
}

impl PartitionContents {
    fn check(&self, files: &PartitionFiles) {
        let kept = self.batches.iter().filter(|(end, _)| *end > self.start).map(|(_, batch)| batch.to_vec());
        assert_eq!(files.start().unwrap().0, self.start);
        assert_eq!(read_log(files, self.start, self.end), kept.collect::<Vec<_>>().concat());
        let num_runs = self.runs.len() as u64;
        assert_eq!(files.runs().num_rows(), num_runs);
        let first = self.first_run as u64;
        assert_eq!(files.runs().rows(first, num_runs).unwrap(), self.runs[self.first_run..]);
        self.check_aborted(&files.aborted().within(Offset(self.start), Offset(self.end)).unwrap());
        let feed_end = self.runs.last().map_or(0, |run| run.feed_base.0 + run.count);
        let covering = files.runs_covering(first, FeedOffset(0), FeedOffset(feed_end), usize::MAX >> 1).unwrap();
        assert_eq!(covering, self.runs[self.first_run..]);
        for run in &self.runs[self.first_run..] {
            if run.log_base.0 >= self.start {
                let bytes = read_log(files, run.log_base.0, run.log_base.0 + run.count);
                assert_eq!(i64::from_be_bytes(bytes[..8].try_into().unwrap()), run.log_base.0);
            }
            assert_eq!(files.runs_covering(first, run.feed_base, FeedOffset(feed_end), 1).unwrap(), [*run]);
            let base = files.runs().base_of(first, run.commit, FeedOffset(feed_end)).unwrap();
            assert!(base <= run.feed_base);
        }
    }
}

/// The aborted transactions.
impl PartitionContents {
    /// Those that ended below the start may be there or not. Of those that began below it, the first record may have been
    /// forgotten with the file that held it: what is left must be known as aborted.
    fn check_aborted(&self, found: &[AbortedRow]) {
        assert!(found.is_sorted_by_key(|row| (row.first, row.last)), "{found:?}");
        let mut found: BTreeMap<_, _> = found.iter().map(|row| ((row.producer, row.last), row.first)).collect();
        for row in self.aborted.iter().filter(|row| row.last.0 >= self.start) {
            let first_left = self.first_left(row);
            match found.remove(&(row.producer, row.last)) {
                Some(first) if first == row.first => {}
                Some(first) => {
                    assert!(row.first.0 < self.start, "{row:?} is told to begin at {first}");
                    assert!(
                        first_left.is_none_or(|left| first.0 <= left),
                        "{row:?} from {first}, {first_left:?} is left"
                    );
                }
                None => assert!(row.first.0 < self.start && first_left.is_none(), "{row:?} is not told"),
            }
        }
        assert!(found.values().all(|first| first.0 < self.start), "{found:?}");
    }

    /// The first batch of the transaction that is still there.
    fn first_left(&self, row: &AbortedRow) -> Option<i64> {
        let headers = self.batches.iter().filter_map(|(end, batch)| {
            let header = BatchHeader::parse(batch).unwrap();
            (*end > self.start && header.producer_id == row.producer.0).then_some(header.base_offset)
        });
        headers.filter(|base| (row.first.0..row.last.0).contains(base)).min()
    }
}

/// All manifests of `[from, end)`, read in pieces.
fn read_commits(commits: &Commits, from: CommitNumber, end: CommitNumber) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = from;
    while next < end {
        let piece = commits.read(next, end, 2_000).unwrap();
        next.0 += batch_lengths(&piece).count() as i64;
        bytes.extend_from_slice(&piece);
    }
    bytes
}

/// All stream events of `[from, end)`, read in pieces.
fn read_events(streams: &Streams, from: i64, end: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = from;
    while next < end {
        let piece = streams.read(next, end, 2_000).unwrap();
        next += batch_lengths(&piece).count() as i64;
        bytes.extend_from_slice(&piece);
    }
    bytes
}

/// All of `[from, end)` of a log.
fn read_log(files: &PartitionFiles, from: i64, end: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = Offset(from);
    while next < Offset(end) {
        let slice = files.read(next, Offset(end), 3_000).unwrap();
        assert!(slice.next_offset > next, "a read below the end of the log gives something");
        next = slice.next_offset;
        bytes.extend_from_slice(&slice.bytes);
    }
    bytes
}

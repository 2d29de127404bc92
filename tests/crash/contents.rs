//! What the files of a store should hold, kept in memory, and what they do hold, read as a broker reads.

use std::collections::BTreeMap;

use bytes::Bytes;
use streamstack::batch::{PLACED_HEAD_LEN, placed_head};
use streamstack::model::{CommitNumber, CommitRow, FeedId, FeedOffset, Offset, PartitionId, RunRow, State, TailWrite};
use streamstack::store::{PartitionFiles, Store};

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
}

#[derive(Clone, Debug, Default, PartialEq)]
struct PartitionContents {
    batches: Vec<Bytes>,
    end: i64,
    runs: Vec<RunRow>,
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
                partition.batches.push(Bytes::from(placed));
                partition.end = end_offset.0;
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
        }
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
            assert_eq!(files.commits().read(CommitNumber(0), end, usize::MAX >> 1).unwrap(), feed.manifests.concat());
            for row in &feed.rows {
                assert_eq!(files.commits().row(row.commit).unwrap(), *row);
                assert_eq!(files.commits().of_stream(row.stream, end).unwrap(), Some(*row));
                let one = files.commits().read(row.commit, end, 1).unwrap();
                assert_eq!(one, feed.manifests[row.commit.0 as usize]);
            }
            let num_events = feed.events.len() as i64;
            assert_eq!(files.streams().read(0, num_events, usize::MAX >> 1).unwrap(), feed.events.concat());
        }
        assert!(state.feeds().all(|feed| self.feeds.contains_key(&feed.id())));
    }

    fn feed(&mut self, feed: FeedId) -> &mut FeedContents {
        self.feeds.get_mut(&feed).unwrap()
    }
}

impl PartitionContents {
    fn check(&self, files: &PartitionFiles) {
        assert_eq!(read_log(files, 0, self.end), self.batches.concat());
        let num_runs = self.runs.len() as u64;
        assert_eq!(files.runs().num_rows().unwrap(), num_runs);
        assert_eq!(files.runs().rows(0, num_runs).unwrap(), self.runs);
        let feed_end = self.runs.last().map_or(0, |run| run.feed_base.0 + run.count);
        let covering = files.runs_covering(FeedOffset(0), FeedOffset(feed_end), usize::MAX >> 1).unwrap();
        assert_eq!(covering, self.runs);
        for run in &self.runs {
            let bytes = read_log(files, run.log_base.0, run.log_base.0 + run.count);
            assert_eq!(i64::from_be_bytes(bytes[..8].try_into().unwrap()), run.log_base.0);
            assert_eq!(files.runs_covering(run.feed_base, FeedOffset(feed_end), 1).unwrap(), [*run]);
            let base = files.runs().base_of(run.commit, FeedOffset(feed_end)).unwrap();
            assert!(base <= run.feed_base);
        }
    }
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

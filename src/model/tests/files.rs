//! The files that tail writes add up to, as lists. Checks that every write continues its file.

use std::collections::BTreeMap;

use super::*;
use crate::batch::read_marker;

/// All files of all feeds.
#[derive(Default)]
pub struct Files {
    feeds: BTreeMap<FeedId, FeedFiles>,
}

#[derive(Default)]
pub struct FeedFiles {
    pub partitions: Vec<PartitionFiles>,
    pub commits: Vec<(CommitRow, Manifest)>,
    pub events: Vec<StreamEvent>,
    pub start: HistoryStart,
    commits_bytes: u64,
    events_bytes: u64,
}

#[derive(Default)]
pub struct PartitionFiles {
    /// Values by offset.
    pub log: Vec<String>,
    pub runs: Vec<RunRow>,
    pub aborted: Vec<AbortedRow>,
    /// Where log, feed space and runs begin; what lies below is kept here all the same.
    pub start: Option<PartitionStart>,
    segment: Offset,
    position: u64,
    pub num_segments: usize,
}

impl Files {
    pub fn feed(&self, feed: FeedId) -> &FeedFiles {
        &self.feeds[&feed]
    }

    pub fn ids(&self) -> Vec<FeedId> {
        self.feeds.keys().copied().collect()
    }

    pub fn write(&mut self, write: &TailWrite) {
        match write {
            TailWrite::FeedCreated { feed, partitions } => {
                assert!(self.feeds.insert(*feed, FeedFiles::default()).is_none());
                self.of(*feed).grow(*partitions);
            }
            TailWrite::FeedDeleted { feed } => assert!(self.feeds.remove(feed).is_some()),
            TailWrite::PartitionsAdded { feed, partitions } => self.of(*feed).grow(*partitions),
            TailWrite::Batch { feed, partition, .. } => self.partition(*feed, *partition).append(write),
            TailWrite::Aborted { feed, partition, row, aborted } => {
                let partition = self.partition(*feed, *partition);
                assert_eq!(*row, partition.aborted.len() as u64);
                partition.aborted.push(*aborted);
            }
            TailWrite::Runs { feed, partition, row, runs } => {
                let partition = self.partition(*feed, *partition);
                assert_eq!(*row, partition.runs.len() as u64);
                assert!(!runs.is_empty());
                partition.runs.extend(runs);
            }
            TailWrite::Commit { feed, position, row, batch } => self.of(*feed).commit(*position, *row, batch),
            TailWrite::StreamEvent { feed, event, position, at, batch, .. } => {
                let feed = self.of(*feed);
                assert_eq!((*event, *position), (feed.events.len() as i64, feed.events_bytes));
                let told = StreamEvent::parse(&one_value(batch)).unwrap();
                assert_eq!(told.at, at.0);
                feed.events.push(told);
                feed.events_bytes += batch.len() as u64;
            }
            TailWrite::Trimmed { feed, start, partitions } => self.trim(*feed, *start, partitions),
        }
    }

    fn trim(&mut self, feed: FeedId, start: HistoryStart, partitions: &[TrimmedLog]) {
        self.of(feed).start = start;
        for TrimmedLog { start, emptied } in partitions {
            let partition = self.partition(feed, start.partition);
            let before = partition.start.map_or((Offset(0), FeedOffset(0), 0), |s| (s.log, s.feed, s.run));
            assert!(before.0 <= start.log && before.1 <= start.feed && before.2 <= start.run, "{before:?} {start:?}");
            assert_eq!(*emptied, start.log.0 == partition.log.len() as i64);
            partition.start = Some(*start);
            if *emptied {
                (partition.segment, partition.position) = (start.log, 0);
            }
        }
    }

    fn of(&mut self, feed: FeedId) -> &mut FeedFiles {
        self.feeds.get_mut(&feed).unwrap()
    }

    fn partition(&mut self, feed: FeedId, partition: PartitionId) -> &mut PartitionFiles {
        &mut self.of(feed).partitions[partition.0 as usize]
    }
}

impl FeedFiles {
    fn grow(&mut self, partitions: u32) {
        assert!(partitions as usize > self.partitions.len());
        self.partitions.resize_with(partitions as usize, PartitionFiles::default);
    }

    fn commit(&mut self, position: u64, row: CommitRow, batch: &Bytes) {
        assert_eq!((row.commit.0, row.position), (self.commits.len() as i64, position));
        assert_eq!(position, self.commits_bytes);
        self.commits_bytes += batch.len() as u64;
        let records = records(batch, usize::MAX).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        assert_eq!((record.offset, record.timestamp), (row.commit.0, row.sealed.0));
        assert_eq!(record.key, Some(row.stream.to_string().as_bytes()));
        self.commits.push((row, Manifest::parse(record.value.unwrap()).unwrap()));
    }
}

impl PartitionFiles {
    fn append(&mut self, write: &TailWrite) {
        let TailWrite::Batch { segment, position, base_offset, end_offset, max_timestamp, batch, .. } = write else {
            unreachable!("only batches are appended")
        };
        if *position == 0 {
            assert_eq!(segment, base_offset, "a segment is named by its first offset");
            (self.segment, self.position) = (*segment, 0);
            self.num_segments += 1;
        }
        assert_eq!((*segment, *position), (self.segment, self.position));
        assert_eq!(base_offset.0, self.log.len() as i64);
        self.position += batch.len() as u64;
        let records = records(batch, usize::MAX).unwrap();
        match read_marker(batch).unwrap() {
            Some(marker) => self.log.push(format!("{marker:?}")),
            None => self.log.extend(records.iter().map(|record| text(record.unwrap().value))),
        }
        assert_eq!(end_offset.0, self.log.len() as i64);
        assert_eq!(max_timestamp.0, records.header().max_timestamp);
    }

    /// Values by feed offset, as the runs say.
    pub fn feed_space(&self) -> Vec<String> {
        let mut values = Vec::new();
        for run in &self.runs {
            assert_eq!(run.feed_base.0, values.len() as i64, "runs are dense");
            let start = run.log_base.0 as usize;
            values.extend_from_slice(&self.log[start..start + run.count as usize]);
        }
        assert!(self.runs.is_sorted_by_key(|run| run.commit));
        values
    }
}

fn text(value: Option<&[u8]>) -> String {
    String::from_utf8(value.unwrap().to_vec()).unwrap()
}

/// A write as every machine makes it: the bytes that are placed anew are what they are placed as.
pub fn placed(write: &TailWrite) -> TailWrite {
    let mut write = write.clone();
    if let TailWrite::Batch { base_offset, batch, .. } = &mut write {
        let mut bytes = batch.to_vec();
        bytes[..16].copy_from_slice(&crate::batch::placed_head(batch, base_offset.0));
        *batch = bytes.into();
    }
    write
}

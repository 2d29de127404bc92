//! The stored files on a faulty disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::directory::Directory;
use super::feed::{FeedEnds, PartitionEnds, PartitionFiles};
use super::log::LogEnd;
use super::shelf::Shelf;
use crate::batch::{BatchBuilder, NewRecord};
use crate::disk::FaultyDisk;
use crate::model::{FeedId, Lsn, Offset, PartitionId, TailWrite, Timestamp};

mod flips;
mod huge;
mod log;
mod open;
mod tables;

const FEED: FeedId = FeedId(3);

/// A feed with one partition, written to as a state would.
struct Fixture {
    disk: FaultyDisk,
    directory: Directory,
    end: Offset,
    log: LogEnd,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture::on(FaultyDisk::new(), Offset(0), LogEnd::default());
        fixture.directory.write(Lsn(1), &[TailWrite::FeedCreated { feed: FEED, partitions: 1 }]).unwrap();
        fixture
    }

    fn on(disk: FaultyDisk, end: Offset, log: LogEnd) -> Fixture {
        let shelf = Shelf::new(Arc::new(disk.clone()), 4, 1_000, 1 << 20);
        let ends =
            FeedEnds { partitions: vec![PartitionEnds { log, ..PartitionEnds::default() }], ..FeedEnds::default() };
        let directory = Directory::new(shelf, PathBuf::from("/data/feeds"), Lsn(0), &BTreeMap::from([(FEED, ends)]));
        Fixture { disk, directory, end, log }
    }

    /// The same files, opened again.
    fn reopened(self) -> Fixture {
        Fixture::on(self.disk.kill_image(), self.end, self.log)
    }

    fn partition(&self) -> Arc<PartitionFiles> {
        self.directory.feed(FEED).unwrap().partition(PartitionId(0)).unwrap()
    }

    /// Appends a batch with these timestamps; returns its bytes as stored.
    fn append(&mut self, timestamps: &[i64], roll: bool) -> Bytes {
        let batch = batch(self.end.0, timestamps);
        let (base_offset, end_offset) = (self.end, self.end.plus(timestamps.len() as i64));
        if roll {
            self.log = LogEnd { segment: base_offset, position: 0 };
        }
        let write = TailWrite::Batch {
            feed: FEED,
            partition: PartitionId(0),
            segment: self.log.segment,
            position: self.log.position,
            base_offset,
            end_offset,
            max_timestamp: Timestamp(*timestamps.iter().max().unwrap()),
            last_stable: Offset(0),
            batch: batch.clone(),
        };
        self.directory.write(Lsn(1), &[write]).unwrap();
        self.log.position += batch.len() as u64;
        self.end = end_offset;
        batch
    }
}

fn batch(base_offset: i64, timestamps: &[i64]) -> Bytes {
    let mut builder = BatchBuilder::new(base_offset);
    for timestamp in timestamps {
        let value = vec![*timestamp as u8; 100];
        builder.push(NewRecord { timestamp: *timestamp, value: Some(&value), ..NewRecord::default() });
    }
    builder.build()
}

fn segment_path(base: i64, extension: &str) -> PathBuf {
    Path::new("/data/feeds/3/0").join(format!("{base:020}.{extension}"))
}

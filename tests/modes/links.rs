//! The links of a feed, looked up in the model, and a feed that has them as its index.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use streamstack::broker::FeedHandle;
use streamstack::model::{CommitNumber, FeedOffset, HistoryStart, PartitionId, StreamId, Timestamp};
use streamstack::store::{FeedFiles, FileError};
use streamstack::view::link::{CommitCounts, Link, Links, Place};
use streamstack::view::{Index, OpenStreamReading, PartitionEnds, Published};

use crate::model::{Model, Record, Sealed, is_tombstone};

/// Links that know as much of the history as they are told.
pub struct NaiveLinks {
    known: Mutex<Known>,
    ends_asked: AtomicUsize,
}

#[derive(Default)]
struct Known {
    indexed: usize,
    links: Vec<Vec<Link>>,
    /// The offsets of their first ones.
    starts: Vec<i64>,
    by_key: HashMap<String, (Place, Record)>,
    by_identity: HashMap<(Option<String>, Option<String>), Place>,
    num_records: usize,
}

impl NaiveLinks {
    /// Of the records from these offsets on.
    pub fn new(starts: Vec<i64>) -> NaiveLinks {
        let known = Known { links: vec![Vec::new(); starts.len()], starts, ..Known::default() };
        NaiveLinks { known: Mutex::new(known), ends_asked: AtomicUsize::new(0) }
    }

    /// How often it was asked for the end of a partition.
    pub fn ends_asked(&self) -> usize {
        self.ends_asked.load(Ordering::Relaxed)
    }

    /// Goes on to the commits below `end`. What was deleted by then, of a stream that was sealed later, links lead past.
    pub fn index(&self, model: &Model, end: usize, kept_from: impl Fn(usize) -> i64) {
        let mut known = self.known.lock().unwrap();
        while let Some(sealed) = model.records.get(known.num_records).filter(|sealed| sealed.commit < end) {
            if sealed.offset >= kept_from(sealed.partition) {
                known.add(sealed);
            } else if sealed.offset >= known.starts[sealed.partition] {
                known.links[sealed.partition].push(Link::default());
            }
            known.num_records += 1;
        }
        known.indexed = known.indexed.max(end);
    }
}

impl Known {
    fn add(&mut self, sealed: &Sealed) {
        let place = Place { partition: PartitionId(sealed.partition as u32), offset: FeedOffset(sealed.offset) };
        let Record { key, value, .. } = &sealed.record;
        let key_before = key.as_ref().and_then(|key| self.by_key.insert(key.clone(), (place, sealed.record.clone())));
        let link = Link {
            identity_before: self.by_identity.insert((key.clone(), value.clone()), place),
            repeats_value: key_before.as_ref().is_some_and(|(_, before)| before.value == *value),
            key_before: key_before.map(|(before, _)| before),
            is_tombstone: is_tombstone(&sealed.record),
        };
        self.links[sealed.partition].push(link);
    }
}

impl Links for NaiveLinks {
    fn indexed(&self) -> CommitNumber {
        CommitNumber(self.known.lock().unwrap().indexed as i64)
    }

    fn end(&self, partition: PartitionId) -> FeedOffset {
        self.ends_asked.fetch_add(1, Ordering::Relaxed);
        let known = self.known.lock().unwrap();
        let index = partition.0 as usize;
        FeedOffset(known.starts[index] + known.links[index].len() as i64)
    }

    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError> {
        let known = self.known.lock().unwrap();
        let index = partition.0 as usize;
        let at = |offset: FeedOffset| (offset.0 - known.starts[index]) as usize;
        Ok(known.links[index][at(from)..at(end)].to_vec())
    }

    fn counts(&self, _: CommitNumber) -> Result<Option<CommitCounts>, FileError> {
        Ok(None)
    }
}

/// A published feed with these links.
pub struct Linked {
    pub feed: Arc<FeedHandle>,
    pub links: Arc<NaiveLinks>,
}

impl Published for Linked {
    fn partitions(&self) -> u32 {
        Published::partitions(&*self.feed)
    }

    fn partition(&self, partition: PartitionId) -> Option<PartitionEnds> {
        Published::partition(&*self.feed, partition)
    }

    fn history(&self) -> HistoryStart {
        self.feed.history()
    }

    fn commits(&self) -> CommitNumber {
        Published::commits(&*self.feed)
    }

    fn streams(&self) -> StreamId {
        self.feed.streams()
    }

    fn events(&self) -> i64 {
        self.feed.events()
    }

    fn sealed_at(&self) -> Timestamp {
        self.feed.sealed_at()
    }

    fn open_stream(&self, stream: StreamId) -> Option<OpenStreamReading> {
        self.feed.open_stream(stream)
    }

    fn open_stream_labelled(&self, label: &str) -> Option<StreamId> {
        self.feed.open_stream_labelled(label)
    }

    fn files(&self) -> &Arc<FeedFiles> {
        Published::files(&*self.feed)
    }

    fn losses(&self) -> u64 {
        // These links are told of each deletion at once.
        0
    }

    fn index(&self) -> Index {
        Index::Kept { links: self.links.clone(), wanted: CommitNumber(0), losses: 0, failure: None }
    }
}

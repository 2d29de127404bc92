//! What must always hold of a state. Tests ask after every step; `inspect` may ask of a manifest.

use std::collections::BTreeSet;

use super::feed::{Feed, Partition};
use super::ids::{CommitNumber, FeedId, PartitionId, Timestamp};
use super::producers::{BATCHES_MAX, PRODUCERS_MAX, Producers};
use super::state::State;
use super::stream::{OpenStream, StreamPart};

impl State {
    /// Panics, naming the values, if the state contradicts itself.
    pub fn check(&self) {
        let mut due = BTreeSet::new();
        for (id, feed) in &self.feeds {
            assert!(*id == feed.id && *id < self.next_feed, "feed {} stands at {id}", feed.id);
            assert_eq!(self.feed_named(&feed.name).map(Feed::id), Some(*id), "name {:?}", feed.name);
            assert_eq!(self.feed_with_topic_id(&feed.topic_id).map(Feed::id), Some(*id), "topic id of feed {id}");
            assert!(self.colliding(&feed.name).is_none(), "feed {:?} collides", feed.name);
            due.extend(feed.due().map(|at| (at, *id)));
            feed.check();
        }
        assert_eq!(self.due, due, "deadlines");
        let partitions: usize = self.feeds.values().map(|feed| feed.partitions.len()).sum();
        assert_eq!(self.num_partitions, partitions as u64, "partitions");
        let producers: u64 = self.feeds.values().map(Feed::num_producers).sum();
        assert_eq!(self.num_producers, producers, "producers");
        let extents: usize = self.feeds.values().map(|feed| feed.num_extents).sum();
        let named_bytes: u64 = self.feeds.values().map(|feed| feed.named_bytes).sum();
        assert_eq!((self.num_extents, self.named_bytes), (extents, named_bytes), "extents and names of transactions");
        self.check_subscriptions();
        self.transactions.check();
        self.check_open_transactions();
    }

    /// Each stream of a transaction belongs to one that is open, and the other way round.
    fn check_open_transactions(&self) {
        let mut streams = BTreeSet::new();
        for (id, known) in self.transactions.iter() {
            let identity = known.identity();
            assert!(identity.producer < self.next_producer && identity.epoch >= 0, "{id:?}: {identity:?}");
            let Some(open) = known.open() else { continue };
            streams.extend(open.streams().map(|(feed, stream)| (feed, stream, id)));
            for (feed, partition) in open.partitions() {
                assert!(open.stream_on(feed).is_some(), "{id:?} has no stream on feed {feed}");
                assert!(self.feed(feed).and_then(|feed| feed.partition(partition)).is_some(), "{id:?} on feed {feed}");
            }
        }
        let of_feeds = self.feeds.values().flat_map(|feed| feed.open.values().map(|stream| (feed.id, stream)));
        let found = of_feeds.filter_map(|(feed, stream)| Some((feed, stream.id, stream.owner()?)));
        assert_eq!(found.collect::<BTreeSet<_>>(), streams, "streams of transactions");
    }

    fn check_subscriptions(&self) {
        let (mut total, mut bytes) = (0, 0);
        for (group, subscription) in &self.subscriptions {
            assert!(!subscription.is_empty(), "group {group:?} holds nothing");
            assert_eq!(subscription.positions().count() as u64, subscription.num_positions, "positions of {group:?}");
            let metadata: usize = subscription.positions().map(|(_, _, position)| position.metadata.len()).sum();
            assert_eq!(metadata as u64, subscription.metadata_bytes, "metadata of {group:?}");
            total += subscription.num_positions;
            bytes += subscription.metadata_bytes;
        }
        assert_eq!((self.num_positions, self.metadata_bytes), (total, bytes), "positions and their metadata");
        assert!(self.groups.values().all(|overrides| !overrides.is_empty()), "groups with no configs");
    }
}

impl Feed {
    fn check(&self) {
        let id = self.id;
        let (streams, commits, open) = (self.next_stream.0, self.next_commit.0, self.open.len() as i64);
        assert!(commits + open <= streams, "every commit and open stream of feed {id} was opened");
        assert_eq!(self.streams.next, 2 * streams - open, "feed {id} tells of each opening and each end");
        let plain = self.open.values().filter(|stream| stream.transaction.is_none()).map(|stream| stream.id);
        assert_eq!(plain.collect::<Vec<_>>(), Vec::from_iter(self.implicit), "the implicit stream of feed {id}");
        let in_transactions = || self.open.values().filter(|stream| stream.transaction.is_some());
        let extents: usize = in_transactions().map(|stream| stream.num_extents).sum();
        let named_bytes: u64 = in_transactions().map(OpenStream::named_bytes).sum();
        assert_eq!((self.num_extents, self.named_bytes), (extents, named_bytes), "open transactions on feed {id}");
        self.check_history();
        for stream in self.open.values() {
            stream.check(self);
        }
        for (index, partition) in self.partitions.iter().enumerate() {
            partition.check(self, PartitionId(index as u32));
        }
        // Batches that name streams of transactions are remembered with the commit that came next.
        check_producers(&self.seal_producers, commits + 1, false);
    }

    fn check_history(&self) {
        let (start, id) = (self.history, self.id);
        let numbers = [CommitNumber(0), start.manifest, start.commit, self.next_commit];
        assert!(numbers.is_sorted(), "the history of feed {id} begins inside it: {start:?}");
        assert!(start.commit <= start.whole, "dropped commits of feed {id} are not whole: {start:?}");
        assert!((0..=self.streams.next).contains(&start.event), "events of feed {id}: {start:?}");
        assert!(start.manifest_sealed <= self.last_sealed_at, "seal times of feed {id}: {start:?}");
    }

    /// Records of open streams in a partition.
    fn open_records(&self, partition: PartitionId) -> i64 {
        self.open.values().filter_map(|stream| stream.parts.get(&partition)).map(|part| part.records).sum()
    }
}

impl OpenStream {
    fn check(&self, feed: &Feed) {
        let name = (feed.id, self.id);
        let parts = || self.parts.values();
        assert!(self.id < feed.next_stream, "stream {name:?}");
        assert_eq!(self.records, parts().map(|part| part.records).sum::<i64>(), "records of stream {name:?}");
        assert_eq!(self.bytes, parts().map(|part| part.bytes).sum::<u64>(), "bytes of stream {name:?}");
        assert_eq!(
            self.num_extents,
            parts().map(|part| part.extents.len()).sum::<usize>(),
            "extents of stream {name:?}"
        );
        for (partition, part) in &self.parts {
            part.check(name.0, feed.partition(*partition).expect("a stream is in partitions that exist"));
        }
    }
}

impl StreamPart {
    fn check(&self, feed: FeedId, partition: &Partition) {
        let records: i64 = self.extents.iter().map(|extent| extent.count).sum();
        assert_eq!(self.records, records, "extents of feed {feed} add up");
        assert!(self.timestamp_min <= self.timestamp_max, "timestamps in feed {feed}");
        let last = self.extents.last().expect("a part holds records");
        assert!(last.end() <= partition.log_end, "{last:?} of feed {feed} ends past the log");
        for pair in self.extents.windows(2) {
            assert!(pair[0].end() < pair[1].base, "extents of feed {feed} are ordered and merged: {pair:?}");
        }
    }
}

impl Partition {
    fn check(&self, feed: &Feed, id: PartitionId) {
        let name = (feed.id, id);
        let Partition { log_start, log_end, segment, feed_start, feed_end, .. } = self;
        assert!(log_start.0 >= 0 && log_start <= log_end, "log of {name:?}: {log_start} to {log_end}");
        assert!(segment.base <= *log_end, "segment {segment:?} of {name:?} starts past the log's end {log_end}");
        assert_eq!(segment.bytes == 0, log_start == log_end, "the last segment of {name:?} holds the last batch");
        assert!(segment.bytes > 0 || segment.base == *log_end, "an empty segment of {name:?} is where the log ends");
        assert!(feed_start.0 >= 0 && feed_start <= feed_end, "feed space of {name:?}: {feed_start} to {feed_end}");
        assert!(self.first_run <= self.num_runs, "runs of {name:?}: {} to {}", self.first_run, self.num_runs);
        let placed = feed_end.0 + feed.open_records(id) + self.transactions.as_ref().map_or(0, |t| t.unplaced);
        assert_eq!(placed, log_end.0, "every record of {name:?} is sealed, open or aborted");
        let begins = |stream: &OpenStream| Some((stream.extents(id).first()?.base, stream.id));
        let open = feed.open.values().filter(|stream| stream.transaction.is_some()).filter_map(begins).collect();
        assert_eq!(self.transactions.as_ref().map_or(&BTreeSet::new(), |t| &t.open), &open, "open in {name:?}");
        assert!(self.last_stable() >= self.log_start && self.last_stable() <= self.log_end, "stable end of {name:?}");
        assert!(self.num_runs <= feed_end.0 as u64, "no run of {name:?} is empty");
        check_producers(&self.producers, log_end.0, true);
    }
}

fn check_producers(producers: &Producers, end: i64, rise: bool) {
    assert!(producers.len() <= PRODUCERS_MAX);
    for (id, producer) in producers.iter() {
        let batches = &producer.batches;
        assert!(batches.len() <= BATCHES_MAX, "batches of producer {id}: {batches:?}");
        assert!(batches.iter().all(|batch| batch.first >= 0 && batch.last >= 0 && batch.base < end), "{batches:?}");
        assert!(
            batches.is_sorted_by(|a, b| a.base < b.base || (!rise && a.base == b.base)),
            "batches of producer {id} rise: {batches:?}"
        );
        assert!(producer.last_at > Timestamp(i64::MIN) && (producer.run > 0) != batches.is_empty(), "producer {id}");
    }
}

//! A simple model of feeds, written down a second time: lists of values, nothing clever. What the machine does must
//! be what this says.

mod transactions;

use std::collections::{BTreeMap, HashMap};

use super::files::{FeedFiles, Files};
use super::*;

/// What should be there.
#[derive(Default)]
pub struct Oracle {
    pub feeds: BTreeMap<FeedId, OracleFeed>,
    pub floor: i64,
    /// Transactions by their transactional ids.
    pub open: BTreeMap<String, transactions::OracleTransaction>,
    /// Of one group, in partition 0 of topics.
    pub positions: BTreeMap<String, i64>,
}

#[derive(Default)]
pub struct OracleFeed {
    pub name: String,
    pub partitions: Vec<OraclePartition>,
    pub open: Option<OracleStream>,
    /// Those of transactions, by their transactional ids.
    pub transactions: BTreeMap<String, OracleStream>,
    /// How many streams became no commit.
    pub aborted: i64,
    pub commits: Vec<OracleCommit>,
    /// Commits, and manifests, below were dropped.
    pub dropped: (i64, i64),
    streams: i64,
}

#[derive(Default)]
pub struct OraclePartition {
    pub log: Vec<String>,
    /// With their offsets in the log.
    pub feed: Vec<(String, i64)>,
    /// Records of the log below were deleted.
    pub start: i64,
    /// Feed space below is gone.
    pub feed_start: i64,
    pub aborted: Vec<AbortedRow>,
}

/// Its values by partition, in append order.
#[derive(Clone)]
pub struct OracleStream {
    id: i64,
    opened: i64,
    appended: Option<(i64, i64)>,
    label: Option<String>,
    due: i64,
    records: i64,
    bytes: u64,
    values: BTreeMap<u32, Vec<(String, i64)>>,
}

pub struct OracleCommit {
    stream: OracleStream,
    reason: SealReason,
    sealed: i64,
    bases: BTreeMap<u32, i64>,
}

/// A batch that is appended.
pub struct Produced<'a> {
    pub partition: u32,
    pub values: &'a [String],
    pub bytes: u64,
    pub label: Option<String>,
    pub seal: Option<Option<String>>,
}

impl Oracle {
    /// Appends; returns the base offset.
    pub fn append(&mut self, feed: FeedId, batch: Produced<'_>, settings: &FeedSettings, now: i64) -> i64 {
        let floor = self.floor;
        let feed = self.feeds.get_mut(&feed).unwrap();
        let base = feed.partitions[batch.partition as usize].push(batch.values);
        if feed.open.is_none() {
            feed.open = Some(feed.new_stream(now, batch.label));
        }
        let stream = feed.open.as_mut().unwrap();
        stream.due = stream.opened.min(now) + settings.seal_ms;
        stream.add(batch.partition, base, batch.values, batch.bytes, now);
        let (records, bytes) = (stream.records, stream.bytes);
        if let Some(label) = batch.seal {
            feed.seal(SealReason::Header, label, now, floor);
        } else if records >= settings.seal_records {
            feed.seal(SealReason::Records, None, now, floor);
        } else if bytes >= settings.seal_bytes as u64 {
            feed.seal(SealReason::Bytes, None, now, floor);
        }
        base
    }

    /// Seals; returns the commit.
    pub fn seal(&mut self, feed: FeedId, reason: SealReason, label: Option<String>, now: i64) -> i64 {
        let feed = self.feeds.get_mut(&feed).unwrap();
        feed.seal(reason, label, now, self.floor);
        feed.commits.len() as i64 - 1
    }

    pub fn seal_due(&mut self, now: i64) {
        for feed in self.feeds.values_mut() {
            if feed.open.as_ref().is_some_and(|stream| stream.due <= now) {
                feed.seal(SealReason::Time, None, now, self.floor);
            }
        }
    }

    /// Drops commits with their records, and manifests.
    pub fn drop_commits(&mut self, feed: FeedId, commit: i64, manifest: i64) {
        let feed = self.feeds.get_mut(&feed).unwrap();
        feed.dropped = (feed.dropped.0.max(commit), feed.dropped.1.max(manifest));
        for (index, partition) in feed.partitions.iter_mut().enumerate() {
            let dropped = feed.commits[..commit as usize].iter();
            let records: usize =
                dropped.filter_map(|commit| commit.stream.values.get(&(index as u32))).map(Vec::len).sum();
            if records == 0 {
                continue;
            }
            // The log begins with the first record that is kept or may yet be.
            let open = feed.open.iter().chain(feed.transactions.values());
            let open = open.filter_map(|stream| stream.first_in(index as u32));
            let kept = partition.feed[records..].iter().map(|(_, offset)| *offset);
            let first = kept.chain(open).min().unwrap_or(partition.log.len() as i64);
            partition.start = partition.start.max(first);
            partition.feed_start = partition.feed_start.max(records as i64);
        }
    }

    /// Compares all that is written and all that is open.
    pub fn compare(&self, state: &State, files: &Files) {
        assert_eq!(files.ids(), self.feeds.keys().copied().collect::<Vec<_>>());
        assert_eq!(state.feeds().count(), self.feeds.len());
        let due = self.feeds.values().filter_map(|feed| feed.open.as_ref()).map(|stream| stream.due);
        let due = due.chain(self.open.values().map(|open| open.due)).min();
        assert_eq!(state.deadline(), due.map(Timestamp));
        let positions = state.subscription("readers").into_iter().flat_map(Subscription::positions);
        let positions = positions.map(|(topic, _, position)| (topic.to_owned(), position.offset));
        assert_eq!(positions.collect::<BTreeMap<_, _>>(), self.positions);
        for (id, feed) in &self.feeds {
            feed.compare(state.feed(*id).unwrap(), files.feed(*id));
        }
    }
}

impl OracleFeed {
    pub fn new(name: &str, partitions: u32) -> OracleFeed {
        let mut feed = OracleFeed { name: name.to_owned(), ..OracleFeed::default() };
        feed.partitions.resize_with(partitions as usize, OraclePartition::default);
        feed
    }

    pub fn last_sealed(&self) -> i64 {
        self.commits.last().map_or(0, |commit| commit.sealed)
    }

    fn new_stream(&mut self, opened: i64, label: Option<String>) -> OracleStream {
        self.streams += 1;
        let (id, values) = (self.streams - 1, BTreeMap::new());
        OracleStream { id, opened, appended: None, label, due: 0, records: 0, bytes: 0, values }
    }

    fn seal(&mut self, reason: SealReason, label: Option<String>, now: i64, floor: i64) {
        let sealed = now.max(floor).max(self.last_sealed());
        let mut stream = match self.open.take() {
            Some(stream) => stream,
            None => self.new_stream(sealed, None),
        };
        stream.label = stream.label.or(label);
        self.publish(stream, reason, sealed);
    }

    fn publish(&mut self, stream: OracleStream, reason: SealReason, sealed: i64) {
        let mut bases = BTreeMap::new();
        for (partition, values) in &stream.values {
            let partition_of = &mut self.partitions[*partition as usize];
            let base = partition_of.feed.len() as i64;
            bases.insert(*partition, base);
            partition_of.feed.extend_from_slice(values);
            // What was deleted from it while it was open is gone from feed space as well.
            let lost = values.iter().filter(|(_, offset)| *offset < partition_of.start).count() as i64;
            if lost > 0 {
                partition_of.feed_start = base + lost;
            }
        }
        self.commits.push(OracleCommit { stream, reason, sealed, bases });
    }

    fn compare(&self, feed: &Feed, files: &FeedFiles) {
        assert_eq!((feed.name(), feed.partitions().len()), (self.name.as_str(), self.partitions.len()));
        for (index, expected) in self.partitions.iter().enumerate() {
            let (files, partition) = (&files.partitions[index], &feed.partitions()[index]);
            assert_eq!(files.log, expected.log);
            let values: Vec<String> = expected.feed.iter().map(|(value, _)| value.clone()).collect();
            assert_eq!(files.feed_space(), values);
            assert_eq!(files.aborted, expected.aborted);
            assert_eq!(partition.log_end().0, expected.log.len() as i64);
            assert_eq!(partition.feed_end().0, expected.feed.len() as i64);
            assert_eq!(partition.log_start().0, expected.start);
            assert_eq!(partition.feed_start().0, expected.feed_start);
            assert_eq!(partition.last_stable().0, self.stable(index as u32));
            let (first, dropped) = (partition.first_run() as usize, feed.history().commit);
            assert!(files.runs[..first].iter().all(|run| run.commit < dropped));
            assert!(files.runs[first..].iter().all(|run| run.commit >= dropped));
        }
        assert_eq!(files.commits.len(), self.commits.len());
        for (commit, (row, manifest)) in self.commits.iter().zip(&files.commits) {
            commit.compare(row, manifest);
        }
        assert_eq!(files.events.len() as i64, self.streams + self.commits.len() as i64 + self.aborted);
        assert_eq!((feed.history().commit.0, feed.history().manifest.0), self.dropped);
        assert_eq!(feed.history(), files.start);
        for commit in &self.commits[self.commits.len().min(feed.history().whole.0 as usize)..] {
            let lost = |(index, base): (&u32, &i64)| *base < self.partitions[*index as usize].feed_start;
            assert!(!commit.bases.iter().any(lost), "a commit that is called whole has lost records");
        }
        let values_of = |stream: &OpenStream| {
            let values = |partition: PartitionId| {
                let log = &files.partitions[partition.0 as usize].log;
                let extents = stream.extents(partition).iter();
                extents.flat_map(|e| log[e.base.0 as usize..e.end().0 as usize].to_vec()).collect::<Vec<_>>()
            };
            let owner = stream.owner().map(str::to_owned);
            (stream.id().0, (owner, stream.parts().map(|(p, _)| (p.0, values(p))).collect::<BTreeMap<_, _>>()))
        };
        let open: BTreeMap<_, _> = feed.open_streams().map(values_of).collect();
        let owned = self.transactions.iter().map(|(id, stream)| (Some(id.clone()), stream));
        let expected = self.open.iter().map(|stream| (None, stream)).chain(owned);
        let expected = expected.map(|(owner, stream)| (stream.id, (owner, stream.texts())));
        assert_eq!(open, expected.collect());
    }
}

impl OraclePartition {
    /// Appends to the log; returns the base offset.
    fn push(&mut self, values: &[String]) -> i64 {
        self.log.extend_from_slice(values);
        (self.log.len() - values.len()) as i64
    }
}

impl OracleStream {
    fn add(&mut self, partition: u32, base: i64, values: &[String], bytes: u64, now: i64) {
        self.appended = Some((self.appended.map_or(now, |(first, _)| first), now));
        self.records += values.len() as i64;
        self.bytes += bytes;
        let placed = values.iter().cloned().zip(base..);
        self.values.entry(partition).or_default().extend(placed);
    }

    pub fn first_in(&self, partition: u32) -> Option<i64> {
        Some(self.values.get(&partition)?.first()?.1)
    }

    fn texts(&self) -> BTreeMap<u32, Vec<String>> {
        let texts = |values: &Vec<(String, i64)>| values.iter().map(|(value, _)| value.clone()).collect();
        self.values.iter().map(|(partition, values)| (*partition, texts(values))).collect()
    }
}

impl OracleCommit {
    fn compare(&self, row: &CommitRow, manifest: &Manifest) {
        let stream = &self.stream;
        assert_eq!((manifest.reason, manifest.sealed, manifest.stream), (self.reason, self.sealed, stream.id));
        assert_eq!((&manifest.label, manifest.opened), (&stream.label, stream.opened));
        assert_eq!((manifest.records, manifest.bytes), (stream.records, stream.bytes));
        assert_eq!(manifest.first_append.zip(manifest.last_append), stream.appended);
        let expected: Vec<_> = stream.values.iter().map(|(p, v)| (*p, self.bases[p], v.len() as i64)).collect();
        let found: Vec<_> = manifest.partitions.iter().map(|p| (p.partition, p.feed_base, p.count)).collect();
        assert_eq!(found, expected);
        assert_eq!((row.stream.0, row.sealed.0), (stream.id, self.sealed));
        assert_eq!(row.label_hash, stream.label.as_deref().map_or(0, label_hash));
    }
}

/// What clients remember of the batches that they sent to one partition, or to one control topic.
#[derive(Default)]
pub struct Clients {
    by_id: HashMap<i64, Client>,
}

/// An idempotent producer. Its sequences are counted without wrapping.
#[derive(Clone)]
pub struct Client {
    pub epoch: i16,
    pub next: i64,
    pub sent: Vec<Sent>,
    last_at: i64,
}

#[derive(Clone)]
pub struct Sent {
    pub first: i64,
    pub count: i64,
    pub base: i64,
}

impl Clients {
    /// The producer, as the broker should know it at this time.
    pub fn known(&self, id: i64, expired: i64) -> Option<&Client> {
        self.by_id.get(&id).filter(|client| client.last_at >= expired)
    }

    /// The producer's batch was taken.
    pub fn taken(&mut self, id: i64, epoch: i16, sent: Sent, at: i64, expired: i64) {
        if self.by_id.get(&id).is_none_or(|client| client.last_at < expired) {
            self.by_id.retain(|_, client| client.last_at >= expired);
        }
        let new = Client { epoch, next: sent.first, sent: Vec::new(), last_at: at };
        let client = self.by_id.entry(id).or_insert(new.clone());
        if client.epoch != epoch {
            *client = new;
        }
        assert_eq!(client.next, sent.first);
        client.next += sent.count;
        client.last_at = at;
        client.sent.push(sent);
    }
}

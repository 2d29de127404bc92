//! A history: what a broker does to its store, drawn from a seed. Decided on the state, applied, and written in groups,
//! as the broker does it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use streamstack::batch::{BatchBuilder, Header, Limits, NewRecord, SEAL_HEADER, STREAM_HEADER, check_produced};
use streamstack::disk::{FaultyDisk, SplitMix};
use streamstack::model::{
    Append, DeleteRecords, Entry, FeedId, FeedSettings, Lsn, MovedPosition, Offset, PartitionId, Seal, SealReason,
    SealWish, State, TailWrite, Timestamp,
};
use streamstack::store::{Durability, Opened, Store, StoreError, StoreOptions};
use uuid::Uuid;

#[path = "transactions.rs"]
mod transactions;

pub use transactions::{WIDE_GROUPS, run_wide};

use crate::contents::Contents;

const SETTINGS: FeedSettings = FeedSettings {
    segment_bytes: 1_500,
    segment_ms: 10_000,
    seal_ms: 500,
    seal_records: 25,
    seal_bytes: 4_000,
    producer_expiration_ms: 86_400_000,
};
const LIMITS: Limits = Limits::of_size(1 << 20);
const FEEDS_MAX: usize = 3;

/// A point at which nothing is in flight.
#[derive(Clone)]
pub struct Point {
    pub lsn: Lsn,
    pub state: State,
    pub contents: Contents,
}

/// What a run left for whoever recovers.
pub struct Ran {
    /// Every end of a group, the last of which may be in flight; the first is the start.
    pub points: Vec<Point>,
    /// How many of them were acknowledged.
    pub num_acknowledged: usize,
}

/// The broker without its network.
struct Machine {
    store: Store,
    state: State,
    lsn: Lsn,
    now: i64,
    random: SplitMix,
    contents: Contents,
    entries: Vec<Entry>,
    writes: Vec<TailWrite>,
    /// A state for the next checkpoint, taken while its group was open, and its lsn.
    image: (Bytes, Lsn),
    num_created: u32,
    /// Whether the fronts of logs and histories are deleted.
    deletes: bool,
}

pub fn open(disk: &FaultyDisk, durability: Durability) -> Result<Opened, StoreError> {
    let options = StoreOptions {
        durability,
        cluster_id: Some("crash-test".to_owned()),
        journal_file_bytes: 6_000,
        num_open_files_max: 5,
        index_save_bytes: 700,
        apart_bytes_min: 90,
        chunk_bytes: 512,
        journal_salt: Some(7),
        ..StoreOptions::default()
    };
    Store::open(Arc::new(disk.clone()), PathBuf::from("/data"), options)
}

/// Runs the history of `seed`, `num_groups` long, until it ends or the disk dies.
pub fn run(disk: &FaultyDisk, durability: Durability, seed: u64, num_groups: usize) -> Ran {
    run_groups(disk, durability, seed, num_groups, |machine, _| machine.decide_group())
}

/// The same with what `decide` puts into each group.
fn run_groups(
    disk: &FaultyDisk,
    durability: Durability,
    seed: u64,
    num_groups: usize,
    decide: impl Fn(&mut Machine, usize),
) -> Ran {
    let start = Point { lsn: Lsn(0), state: State::default(), contents: Contents::default() };
    let mut ran = Ran { points: vec![start], num_acknowledged: 1 };
    let Ok(opened) = open(disk, durability) else { return ran };
    let mut machine = Machine::new(opened, Contents::default(), seed);
    for group in 0..num_groups {
        decide(&mut machine, group);
        let acknowledged = machine.write_group();
        ran.points.push(machine.point());
        if acknowledged.is_err() {
            break;
        }
        ran.num_acknowledged += 1;
        if machine.upkeep().is_err() {
            break;
        }
    }
    ran
}

/// Runs a history to its end and stops in order. Returns where it ends.
pub fn run_to_rest(disk: &FaultyDisk, seed: u64, num_groups: usize, deletes: bool) -> Point {
    let opened = open(disk, Durability::Fsync).unwrap();
    let mut machine = Machine::new(opened, Contents::default(), seed);
    machine.deletes = deletes;
    machine.live(num_groups);
    machine.store.checkpoint(&machine.state.encode(), machine.lsn).unwrap();
    machine.store.mark_idle().unwrap();
    machine.point()
}

/// Goes on after a recovery, with another history. Returns where it ends.
pub fn go_on(opened: Opened, contents: Contents, seed: u64, num_groups: usize) -> Point {
    let mut machine = Machine::new(opened, contents, seed);
    machine.live(num_groups);
    machine.point()
}

impl Machine {
    fn new(opened: Opened, contents: Contents, seed: u64) -> Machine {
        Machine {
            now: if opened.lsn > Lsn(0) { 2_000_000 } else { 1_000_000 },
            num_created: opened.state.next_feed().0,
            store: opened.store,
            state: opened.state,
            lsn: opened.lsn,
            random: SplitMix::new(seed),
            contents,
            entries: Vec::new(),
            writes: Vec::new(),
            image: (Bytes::new(), Lsn(0)),
            deletes: true,
        }
    }

    /// Groups on a disk that works.
    fn live(&mut self, num_groups: usize) {
        for _ in 0..num_groups {
            self.decide_group();
            self.write_group().unwrap();
            self.upkeep().unwrap();
        }
    }

    fn point(&self) -> Point {
        Point { lsn: self.lsn, state: self.state.clone(), contents: self.contents.clone() }
    }

    fn decide_group(&mut self) {
        let wanted = 1 + self.random.below(4) as usize;
        while self.entries.len() < wanted {
            self.now += self.random.below(150) as i64;
            let entries = self.decide();
            self.apply(entries);
            if self.image.1 == Lsn(0) || self.random.chance(1, 2) {
                self.take_image();
            }
        }
    }

    fn take_image(&mut self) {
        self.image = (self.state.encode(), self.lsn.plus(self.entries.len() as u64));
    }

    fn decide(&mut self) -> Vec<Entry> {
        let due = self.state.decide_due(Timestamp(self.now));
        let due = if due.entries.is_empty() { self.time_out() } else { due.entries };
        if !due.is_empty() {
            return due;
        }
        let feeds: Vec<FeedId> = self.state.feeds().map(|feed| feed.id()).collect();
        if feeds.is_empty() || (feeds.len() < FEEDS_MAX && self.random.chance(1, 6)) {
            return self.create();
        }
        let feed = feeds[self.random.below(feeds.len() as u64) as usize];
        match self.random.below(60) {
            0..=5 => self.seal(feed),
            6 => self.add_partition(feed),
            7 => self.state.decide_delete(feed, Timestamp(self.now)).unwrap().entries,
            8 => self.state.decide_open_producer().entries,
            9 => self.state.decide_time_floor(Timestamp(self.now)).entries,
            10 => {
                let overrides = BTreeMap::from([("retention.ms".to_owned(), self.now.to_string())]);
                self.state.decide_configure(feed, overrides).unwrap().entries
            }
            11..=14 if self.deletes => self.delete_records(feed),
            15..=17 if self.deletes => self.drop_commits(feed),
            18..=22 => self.move_positions(feed),
            23..=38 => self.transact(feed),
            _ => self.append(feed),
        }
    }

    /// Further than ever before: the time goes on.
    fn move_positions(&mut self, feed: FeedId) -> Vec<Entry> {
        let group = format!("group-{}", self.random.below(2));
        let feed = self.state.feed(feed).unwrap().name();
        let moved = |topic: String, partition| MovedPosition {
            topic,
            partition: PartitionId(partition),
            offset: self.now,
            leader_epoch: 0,
            metadata: "as sent".to_owned(),
            expires: (partition == 1).then_some(Timestamp(self.now + 60_000)),
        };
        let positions =
            vec![moved(feed.to_owned(), 0), moved(feed.to_owned(), 1), moved(format!("{feed}..commits"), 0)];
        self.state.decide_move_positions(&group, positions, Timestamp(self.now)).unwrap().entries
    }

    fn delete_records(&mut self, feed: FeedId) -> Vec<Entry> {
        let partition = self.partition_of(feed);
        let end = self.state.feed(feed).unwrap().partition(partition).unwrap().log_end().0;
        // Every third deletes all there is, which starts a new segment.
        let below = if self.random.chance(1, 3) { end } else { self.random.below(end as u64 + 1) as i64 };
        // No record of an open transaction can be deleted.
        let stable = self.state.feed(feed).unwrap().partition(partition).unwrap().last_stable();
        let below = Offset(below).min(stable);
        let sealed = self.contents.place(self.state.feed(feed).unwrap(), partition, below);
        let wish = DeleteRecords { feed, partition, below, sealed, now: Timestamp(self.now) };
        self.state.decide_delete_records(wish).unwrap().entries
    }

    fn drop_commits(&mut self, feed: FeedId) -> Vec<Entry> {
        let (commits, events) = self.contents.lengths(feed);
        let commit = commits - self.random.below(3).min(commits as u64) as i64;
        let manifest = self.random.below(commit as u64 + 1) as i64;
        let event = self.random.below(events as u64 + 1) as i64;
        let wish = self.contents.drop_below(self.state.feed(feed).unwrap(), commit, manifest, event);
        self.state.decide_drop_commits(wish).unwrap().entries
    }

    fn partition_of(&mut self, feed: FeedId) -> PartitionId {
        let num_partitions = self.state.feed(feed).unwrap().partitions().len() as u64;
        PartitionId(self.random.below(num_partitions) as u32)
    }

    fn create(&mut self) -> Vec<Entry> {
        self.num_created += 1;
        let name = format!("feed-{}", self.num_created);
        let id = Uuid::from_u128(u128::from(self.num_created));
        let partitions = 1 + self.random.below(3) as u32;
        self.state.decide_create(&name, id, partitions, BTreeMap::new(), Timestamp(self.now)).unwrap().entries
    }

    fn add_partition(&mut self, feed: FeedId) -> Vec<Entry> {
        let current = self.state.feed(feed).unwrap().partitions().len() as u32;
        if current > 4 {
            return Vec::new();
        }
        self.state.decide_add_partitions(feed, current + 1, Timestamp(self.now)).unwrap().entries
    }

    fn seal(&mut self, feed: FeedId) -> Vec<Entry> {
        let label = self.random.chance(1, 2).then(|| format!("poll-{}", self.random.below(3)));
        let metadata = self.random.chance(1, 2).then(|| r#"{"by":"test"}"#.to_owned());
        let seal = Seal {
            feed,
            wishes: vec![SealWish { label, metadata }],
            producer: None,
            reason: SealReason::Control,
            producer_expiration_ms: SETTINGS.producer_expiration_ms,
            now: Timestamp(self.now),
        };
        self.state.decide_seal(seal).unwrap().entries
    }

    fn append(&mut self, feed: FeedId) -> Vec<Entry> {
        let partition = self.partition_of(feed);
        let mut builder = BatchBuilder::new(0);
        let num_records = 1 + self.random.below(5);
        let seals = self.random.chance(1, 12);
        for number in 0..num_records {
            let value = vec![self.random.below(256) as u8; self.random.below(250) as usize];
            let label = [Header { key: STREAM_HEADER.as_bytes(), value: Some(b"hourly") }];
            let seal = [Header { key: SEAL_HEADER.as_bytes(), value: None }];
            let headers: &[Header<'_>] = match number {
                0 if number + 1 < num_records => &label,
                _ if seals && number + 1 == num_records => &seal,
                _ => &[],
            };
            let value = self.random.chance(9, 10).then_some(&value[..]);
            builder.push(NewRecord { timestamp: self.now, key: Some(b"k"), value, headers });
        }
        let batch = check_produced(builder.build(), &LIMITS).unwrap();
        let append =
            Append { feed, partition, batch, settings: &SETTINGS, transaction: None, now: Timestamp(self.now) };
        self.state.decide_append(append).unwrap().entries
    }

    fn apply(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let first = self.writes.len();
            self.state.apply(&entry, &mut self.writes);
            self.writes[first..].iter().for_each(|write| self.contents.write(write));
            self.entries.push(entry);
        }
    }

    fn write_group(&mut self) -> Result<(), StoreError> {
        let entries = std::mem::take(&mut self.entries);
        let writes = std::mem::take(&mut self.writes);
        let first = self.lsn;
        self.lsn = first.plus(entries.len() as u64);
        self.store.write_group(first, &entries, &writes).map(drop)
    }

    /// What happens beside the writes.
    fn upkeep(&mut self) -> Result<(), StoreError> {
        match self.random.below(14) {
            0 | 1 => self.store.checkpoint(&self.image.0, self.image.1),
            2 => self.store.mark_idle(),
            3 => self.store.prepare_spare(),
            _ => Ok(()),
        }
    }
}

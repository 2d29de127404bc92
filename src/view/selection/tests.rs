//! Selections of random histories against what the modes mean, whatever the steps in which they were made.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::*;
use crate::disk::{ManualClock, SplitMix, waiting};
use crate::model::{CommitNumber, FeedId};
use crate::view::link::CommitCounts;
use crate::view::reading::ViewError;

const HISTORIES: u64 = if cfg!(debug_assertions) { 2_000 } else { 40_000 };
const PARTITIONS: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Record {
    partition: usize,
    offset: i64,
    key: Option<u64>,
    value: Option<u64>,
}

impl Record {
    fn place(&self) -> Place {
        Place { partition: PartitionId(self.partition as u32), offset: FeedOffset(self.offset) }
    }
}

/// Records in feed order, and the links that follow.
#[derive(Default)]
struct History {
    records: Vec<Record>,
    ends: [i64; PARTITIONS],
    links: [Vec<Link>; PARTITIONS],
    by_key: HashMap<u64, Record>,
    by_identity: HashMap<(Option<u64>, Option<u64>), Place>,
}

impl History {
    fn random(random: &mut SplitMix, records: u64, keys: u64) -> History {
        let mut history = History::default();
        for _ in 0..records {
            let key = (!random.chance(1, 10)).then(|| random.below(keys));
            let value = (!random.chance(1, 8)).then(|| random.below(3));
            history.add(random.below(PARTITIONS as u64) as usize, key, value);
        }
        history
    }

    fn add(&mut self, partition: usize, key: Option<u64>, value: Option<u64>) {
        let record = Record { partition, offset: self.ends[partition], key, value };
        self.ends[partition] += 1;
        let key_before = key.and_then(|key| self.by_key.insert(key, record));
        self.links[partition].push(Link {
            key_before: key_before.map(|before| before.place()),
            identity_before: self.by_identity.insert((key, value), record.place()),
            repeats_value: key_before.is_some_and(|before| before.value == value),
            is_tombstone: key.is_some() && value.is_none(),
        });
        self.records.push(record);
    }

    /// Where each partition stands after so many records.
    fn cut(&self, num_records: usize) -> [i64; PARTITIONS] {
        let mut ends = [0; PARTITIONS];
        self.records[..num_records].iter().for_each(|record| ends[record.partition] += 1);
        ends
    }
}

impl Links for History {
    fn indexed(&self) -> CommitNumber {
        CommitNumber(0)
    }

    fn end(&self, partition: PartitionId) -> FeedOffset {
        FeedOffset(self.ends[partition.0 as usize])
    }

    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError> {
        Ok(self.links[partition.0 as usize][from.0 as usize..end.0 as usize].to_vec())
    }

    fn counts(&self, _: CommitNumber) -> Result<Option<CommitCounts>, FileError> {
        Ok(None)
    }
}

/// What the mode emits of these records, by what SEMANTICS says of it.
fn emitted(mode: Mode, records: &[Record]) -> BTreeSet<(usize, i64)> {
    let mut shown = BTreeSet::new();
    for (at, record) in records.iter().enumerate() {
        let (before, after) = (&records[..at], &records[at + 1..]);
        let has_key = |other: &&Record| record.key.is_some() && other.key == record.key;
        let is_last = !after.iter().any(|other| has_key(&other));
        let is_shown = match mode {
            Mode::Raw => true,
            Mode::Dedup => !before.iter().any(|other| (other.key, other.value) == (record.key, record.value)),
            Mode::Latest => is_last,
            Mode::Live => is_last && !(record.key.is_some() && record.value.is_none()),
            Mode::Changed => before.iter().rev().find(has_key).is_none_or(|other| other.value != record.value),
        };
        if is_shown {
            shown.insert((record.partition, record.offset));
        }
    }
    shown
}

fn shown(selection: &Selection) -> BTreeSet<(usize, i64)> {
    let mut shown = BTreeSet::new();
    for (partition, bits) in selection.partitions.iter().enumerate() {
        let mut next = bits.next(0);
        while let Some(offset) = next {
            shown.insert((partition, offset));
            next = bits.next(offset + 1);
        }
    }
    shown
}

fn extents(starts: &[i64; PARTITIONS], ends: &[i64; PARTITIONS]) -> Extents {
    starts.iter().zip(ends).map(|(start, end)| FeedOffset(*start)..FeedOffset(*end)).collect()
}

const MODES: [Mode; 4] = [Mode::Dedup, Mode::Latest, Mode::Live, Mode::Changed];

#[test]
fn it_emits_what_the_mode_means_in_whatever_steps_it_is_made() {
    for seed in 0..HISTORIES {
        let mut random = SplitMix::new(seed);
        let num_records = random.below(40) as usize;
        let num_keys = 1 + random.below(6);
        let history = History::random(&mut random, num_records as u64, num_keys);
        let (first, end) = (random.below(num_records as u64 + 1) as usize, num_records);
        let first = first.min(end);
        let starts = history.cut(first);
        for mode in MODES {
            let mut selection = Selection::of(mode);
            let mut looked_at = starts;
            while looked_at != history.cut(end) {
                // Partition by partition, with no regard to the order of the feed.
                let partition = random.below(PARTITIONS as u64) as usize;
                let left = history.ends[partition] - looked_at[partition];
                looked_at[partition] += random.below(left as u64 + 1) as i64;
                let extents = extents(&starts, &looked_at);
                selection.extend(&history, &extents).unwrap();
                assert!(selection.covers(&extents), "seed {seed}, {mode}");
            }
            let expected = emitted(mode, &history.records[first..end]);
            assert_eq!(shown(&selection), expected, "seed {seed}, {mode}, from record {first} of {end}");
        }
    }
}

#[test]
fn a_latest_goes_on_when_its_oldest_records_are_deleted_and_the_others_are_made_anew() {
    for seed in 0..HISTORIES / 10 {
        let mut random = SplitMix::new(seed);
        let history = History::random(&mut random, 60, 5);
        let cuts = [0, 20, 40, 60].map(|at| history.cut(at));
        for mode in [Mode::Dedup, Mode::Latest, Mode::Changed] {
            let mut selection = Selection::of(mode);
            selection.extend(&history, &extents(&cuts[0], &cuts[2])).unwrap();
            let later = extents(&cuts[1], &cuts[3]);
            let moved = cuts[0] != cuts[1];
            assert_eq!(selection.goes_on_to(&later), mode == Mode::Latest || !moved, "seed {seed}, {mode}");
            if !selection.goes_on_to(&later) {
                selection = Selection::of(mode);
            }
            selection.extend(&history, &later).unwrap();
            let mut emitted_now = shown(&selection);
            emitted_now.retain(|(partition, offset)| *offset >= cuts[1][*partition]);
            assert_eq!(emitted_now, emitted(mode, &history.records[20..]), "seed {seed}, {mode}");
        }
    }
}

#[test]
fn what_was_deleted_before_it_was_looked_at_is_not_asked_for() {
    let mut random = SplitMix::new(1);
    let history = History::random(&mut random, 60, 5);
    let cuts = [0, 10, 40, 60].map(|at| history.cut(at));
    let mut selection = Selection::of(Mode::Latest);
    selection.extend(&history, &extents(&cuts[0], &cuts[1])).unwrap();
    assert!(!selection.goes_on_to(&extents(&cuts[2], &cuts[3])));
}

#[test]
fn a_large_history_is_the_same_in_one_pass_and_in_many() {
    let mut random = SplitMix::new(5);
    let history = History::random(&mut random, 300_000, 1_000);
    for mode in MODES {
        let (start, end) = ([0; PARTITIONS], history.cut(300_000));
        let mut at_once = Selection::of(mode);
        at_once.extend(&history, &extents(&start, &end)).unwrap();
        let mut in_steps = Selection::of(mode);
        for at in (0..=300_000).step_by(25) {
            in_steps.extend(&history, &extents(&start, &history.cut_near(at))).unwrap();
        }
        in_steps.extend(&history, &extents(&start, &end)).unwrap();
        assert_eq!(shown(&at_once), shown(&in_steps), "{mode}");
    }
}

impl History {
    /// Some records of each partition: about as many as a cut after `num_records` gives, in no time.
    fn cut_near(&self, num_records: usize) -> [i64; PARTITIONS] {
        self.ends.map(|end| end * num_records as i64 / self.records.len() as i64)
    }
}

/// Counts what is read of a history.
struct Counted {
    history: History,
    num_read: AtomicI64,
    failures: AtomicUsize,
}

impl Links for Counted {
    fn indexed(&self) -> CommitNumber {
        self.history.indexed()
    }

    fn end(&self, partition: PartitionId) -> FeedOffset {
        self.history.end(partition)
    }

    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError> {
        self.num_read.fetch_add(end.0 - from.0, Ordering::Relaxed);
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.fetch_sub(1, Ordering::Relaxed);
            return Err(FileError::damaged(std::path::Path::new("links"), 0, "as the test wants it"));
        }
        self.history.read(partition, from, end)
    }

    fn counts(&self, commit: CommitNumber) -> Result<Option<CommitCounts>, FileError> {
        self.history.counts(commit)
    }
}

/// Links that are read once the test lets them be.
struct Held {
    history: History,
    num_waiting: std::sync::Mutex<usize>,
    changed: std::sync::Condvar,
    is_open: std::sync::atomic::AtomicBool,
}

impl Held {
    fn until_waiting(&self, num: usize) {
        let waiting = self.num_waiting.lock().unwrap();
        drop(self.changed.wait_while(waiting, |waiting| *waiting < num).unwrap());
    }

    fn open(&self) {
        let _waiting = self.num_waiting.lock().unwrap();
        self.is_open.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

impl Links for Held {
    fn indexed(&self) -> CommitNumber {
        self.history.indexed()
    }

    fn end(&self, partition: PartitionId) -> FeedOffset {
        self.history.end(partition)
    }

    fn read(&self, partition: PartitionId, from: FeedOffset, end: FeedOffset) -> Result<Vec<Link>, FileError> {
        let mut waiting = self.num_waiting.lock().unwrap();
        *waiting += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(waiting, |_| !self.is_open.load(Ordering::Relaxed)).unwrap());
        self.history.read(partition, from, end)
    }

    fn counts(&self, commit: CommitNumber) -> Result<Option<CommitCounts>, FileError> {
        self.history.counts(commit)
    }
}

#[test]
fn nobody_waits_for_what_is_made_for_long_and_only_some_are_made_at_a_time() {
    let history = History::random(&mut SplitMix::new(3), 100_000, 50);
    let all = extents(&[0; PARTITIONS], &history.cut(100_000));
    let held = Arc::new(Held {
        history,
        num_waiting: Default::default(),
        changed: Default::default(),
        is_open: Default::default(),
    });
    let links: Arc<dyn Links> = held.clone();
    let selections = within(64 << 20);
    let find = |first| selections.find(wanted(first), &links, &all);
    std::thread::scope(|scope| {
        let find = &find;
        let makers: Vec<_> = (0..4).map(|first| scope.spawn(move || find(first).map(|_| ()))).collect();
        held.until_waiting(4);
        // On an async worker too: it need not go elsewhere to be told.
        let same = waiting::without(|| find(0).map(|_| ()));
        assert!(matches!(same, Some(Err(ViewError::BeingSelected { .. }))), "{same:?}");
        let another = find(4).map(|_| ());
        assert!(matches!(another, Err(ViewError::BeingSelected { .. })), "{another:?}");
        held.open();
        makers.into_iter().for_each(|maker| maker.join().unwrap().unwrap());
    });
    find(0).unwrap();
    find(4).unwrap();
}

#[test]
fn large_ones_in_use_do_not_push_each_other_out() {
    let counted = counted(100_000);
    let links: Arc<dyn Links> = counted.clone();
    let all = extents(&[0; PARTITIONS], &counted.history.cut(100_000));
    let clock = Arc::new(ManualClock::new(0));
    let selections = Selections::within(30 << 10, clock.clone());
    for first in [0, 1, 0, 1, 0, 1] {
        selections.find(wanted(first), &links, &all).unwrap();
    }
    assert_eq!(counted.num_read.load(Ordering::Relaxed), 2 * 100_000);
    let bytes = selections.num_bytes();
    assert!(bytes > 30 << 10, "they fit both: {bytes}");
    let third = selections.find(wanted(2), &links, &all).map(|_| ());
    assert!(matches!(third, Err(ViewError::BeingSelected { .. })), "{third:?}");
    clock.advance_ms(60_000);
    selections.find(wanted(2), &links, &all).unwrap();
    let bytes = selections.num_bytes();
    assert!(bytes <= 30 << 10, "{bytes}");
}

fn counted(records: u64) -> Arc<Counted> {
    let history = History::random(&mut SplitMix::new(3), records, 50);
    Arc::new(Counted { history, num_read: AtomicI64::new(0), failures: AtomicUsize::new(0) })
}

fn within(bytes_max: usize) -> Selections {
    Selections::within(bytes_max, Arc::new(ManualClock::new(0)))
}

fn wanted(first: i64) -> Wanted {
    Wanted { feed: FeedId(1), first: CommitNumber(first), end: None, mode: Mode::Latest }
}

#[test]
fn readers_share_a_selection_and_read_only_what_is_new() {
    let counted = counted(1_000);
    let links: Arc<dyn Links> = counted.clone();
    let selections = within(64 << 20);
    let cuts = [0, 600, 1_000].map(|at| counted.history.cut(at));
    let find = |end| selections.find(wanted(0), &links, &extents(&cuts[0], &cuts[end])).unwrap();
    let first = find(1);
    assert!(Arc::ptr_eq(&first, &find(1)));
    assert_eq!(counted.num_read.load(Ordering::Relaxed), 600);
    let before = shown(&first);
    let second = find(2);
    assert_eq!(counted.num_read.load(Ordering::Relaxed), 1_000);
    assert_eq!(shown(&first), before, "whoever began with it goes on with it");
    assert_eq!(shown(&second), emitted(Mode::Latest, &counted.history.records));
    assert!(Arc::ptr_eq(&second, &find(1)), "the newer one serves those who ask for less");
}

#[test]
fn a_failed_look_leaves_nothing_half_done() {
    let counted = counted(1_000);
    let links: Arc<dyn Links> = counted.clone();
    let selections = within(64 << 20);
    let cuts = [0, 600, 1_000].map(|at| counted.history.cut(at));
    selections.find(wanted(0), &links, &extents(&cuts[0], &cuts[1])).unwrap();
    counted.failures.store(2, Ordering::Relaxed);
    for _ in 0..2 {
        assert!(selections.find(wanted(0), &links, &extents(&cuts[0], &cuts[2])).is_err());
    }
    let made = selections.find(wanted(0), &links, &extents(&cuts[0], &cuts[2])).unwrap();
    assert_eq!(shown(&made), emitted(Mode::Latest, &counted.history.records));
}

#[test]
fn other_links_make_another_selection() {
    let (one, other): (Arc<dyn Links>, Arc<dyn Links>) = (counted(1_000), counted(1_000));
    let ends = [one.end(PartitionId(0)).0, one.end(PartitionId(1)).0, one.end(PartitionId(2)).0];
    let selections = within(64 << 20);
    let find = |links| selections.find(wanted(0), links, &extents(&[0; PARTITIONS], &ends)).unwrap();
    let first = find(&one);
    assert!(!Arc::ptr_eq(&first, &find(&other)));
}

#[test]
fn the_longest_unused_go_when_there_are_too_many() {
    let counted = counted(1_000);
    let links: Arc<dyn Links> = counted.clone();
    let ends = counted.history.cut(1_000);
    let selections = within(200 << 10);
    let find = |first| selections.find(wanted(first), &links, &extents(&[0; PARTITIONS], &ends)).unwrap();
    let num_read = || counted.num_read.swap(0, Ordering::Relaxed);
    find(0);
    assert_eq!(num_read(), 1_000);
    for first in 1..500 {
        find(first);
        find(0);
    }
    assert_eq!(num_read(), 499 * 1_000, "the one in use stays");
    find(1);
    assert_eq!(num_read(), 1_000, "one of the others is made anew");
    let bytes: usize = selections.num_bytes();
    assert!(bytes <= 200 << 10, "{bytes}");
}

#[test]
fn a_long_look_is_not_for_an_async_worker() {
    let counted = counted(100_000);
    let links: Arc<dyn Links> = counted.clone();
    let selections = within(64 << 20);
    let all = extents(&[0; PARTITIONS], &counted.history.cut(100_000));
    let find = || selections.find(wanted(0), &links, &all).map(|_| ());
    assert!(waiting::without(find).is_none());
    assert_eq!(counted.num_read.load(Ordering::Relaxed), 0);
    find().unwrap();
    waiting::without(find).expect("it is there now").unwrap();
}

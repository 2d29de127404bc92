//! The largest transaction that there may be: its end is one entry all the same, and one frame.

use super::*;
use crate::model::codec::encode_group;
use crate::model::{
    Bind, EndTransaction, Enlist, EnlistError, Entry, Identity, InTransaction, NameStream, Rolling, SealWish,
    SealingProducer, State, TRANSACTION_PARTITIONS_MAX,
};
use crate::store::{Opened, Store, StoreOptions};

const ID: &str = "huge";
const NOW: Timestamp = Timestamp(1_000);
const ROOMY: Rolling<'static> = &|_| (1 << 30, i64::MAX);
/// Partitions of a feed.
const WIDTH: usize = 10_000;
/// What the end of the largest transaction may take: of its partitions only those are named whose segment it ends.
const ENTRY_BYTES_MAX: usize = 4 << 20;

fn open(disk: &FaultyDisk) -> Opened {
    let options = StoreOptions { journal_file_bytes: 8_192, journal_salt: Some(1), ..StoreOptions::default() };
    Store::open(Arc::new(disk.clone()), PathBuf::from("/data"), options).unwrap()
}

/// What was decided, applied; with what it asks of the disk.
fn take(state: &mut State, entries: Vec<Entry>) -> (Vec<Entry>, Vec<TailWrite>) {
    let mut writes = Vec::new();
    entries.iter().for_each(|entry| state.apply(entry, &mut writes));
    (entries, writes)
}

fn feeds(state: &mut State, num: usize) {
    for number in 0..num {
        let id = uuid::Uuid::from_u128(number as u128 + 1);
        let created = state.decide_create(&format!("feed-{number}"), id, WIDTH as u32, BTreeMap::new(), NOW).unwrap();
        take(state, created.entries);
    }
}

fn bound(state: &mut State) -> Identity {
    let bound = state.decide_bind(binds(), ROOMY).unwrap();
    take(state, bound.entries);
    bound.outcome
}

fn binds() -> Bind {
    Bind { id: ID.into(), timeout_ms: 60_000, timeout_max_ms: 60_000, current: None, now: NOW }
}

fn enlists(identity: Identity, feed: usize, partitions: std::ops::Range<usize>) -> Enlist {
    let partitions = partitions.map(|partition| (FeedId(feed as u32), PartitionId(partition as u32))).collect();
    Enlist { id: ID.into(), identity, partitions, seals: Vec::new(), groups: Vec::new(), now: NOW }
}

/// Each feed gets a commit, though an empty one.
fn named(state: &mut State, identity: Identity, feed: usize) {
    let producer = SealingProducer { producer: identity.producer, epoch: identity.epoch, sequence: 0 };
    let named = state.decide_name_stream(NameStream {
        feed: FeedId(feed as u32),
        transaction: InTransaction { id: ID, enlists: true },
        producer,
        wishes: vec![SealWish { label: Some("l".repeat(1_000)), metadata: None }],
        now: NOW,
    });
    let entries = named.unwrap().entries;
    take(state, entries);
}

fn ends(state: &State, identity: Identity) -> Vec<Entry> {
    let wish = EndTransaction { id: ID.into(), identity, commit: true, bumps: true, now: NOW };
    // Every marker would start a segment of its own, if there were one to end.
    state.decide_end(wish, &|_| (0, 0)).unwrap().entries
}

#[test]
fn a_transaction_over_too_many_partitions_is_refused_before_it_commits() {
    let mut state = State::default();
    let num_feeds = TRANSACTION_PARTITIONS_MAX / WIDTH;
    feeds(&mut state, num_feeds + 1);
    let identity = bound(&mut state);
    for feed in 0..num_feeds {
        let free = if feed == 0 { num_feeds } else { 0 };
        let enlisted = state.decide_enlist(enlists(identity, feed, free..WIDTH)).unwrap();
        take(&mut state, enlisted.entries);
        named(&mut state, identity, feed);
    }
    let refused = state.decide_enlist(enlists(identity, num_feeds, 0..1));
    assert_eq!(refused, Err(EnlistError::TooManyPartitions));
    let entries = ends(&state, identity);
    let bytes: usize = encode_group(&entries).iter().map(Bytes::len).sum();
    assert_eq!(entries.len(), 1);
    assert!(bytes < ENTRY_BYTES_MAX, "{bytes} bytes");
    let (_, writes) = take(&mut state, entries);
    let num = |is: fn(&TailWrite) -> bool| writes.iter().filter(|write| is(write)).count();
    assert_eq!(num(|write| matches!(write, TailWrite::Batch { .. })), TRANSACTION_PARTITIONS_MAX - num_feeds);
    assert_eq!(num(|write| matches!(write, TailWrite::Commit { .. })), num_feeds, "one commit a feed");
}

#[test]
fn the_end_of_a_wide_transaction_comes_back_after_a_crash() {
    const NUM: usize = 2_000;
    let disk = FaultyDisk::new();
    let mut opened = open(&disk);
    let id = uuid::Uuid::from_u128(1);
    let created = opened.state.decide_create("feed-0", id, WIDTH as u32, BTreeMap::new(), NOW).unwrap();
    write(&mut opened, created.entries);
    let bound = opened.state.decide_bind(binds(), ROOMY).unwrap();
    let identity = bound.outcome;
    write(&mut opened, bound.entries);
    let enlisted = opened.state.decide_enlist(enlists(identity, 0, 0..NUM)).unwrap();
    write(&mut opened, enlisted.entries);
    let entries = ends(&opened.state, identity);
    write(&mut opened, entries);
    let reopened = open(&disk.kill_image());
    assert!(reopened.state == opened.state);
    let feed = reopened.state.feed(FeedId(0)).unwrap();
    let marked = feed.partitions().iter().filter(|partition| partition.log_end() == Offset(1)).count();
    assert_eq!(marked, NUM, "a marker on each");
}

fn write(opened: &mut Opened, entries: Vec<Entry>) {
    let (entries, writes) = take(&mut opened.state, entries);
    opened.store.write_group(opened.lsn, &entries, &writes).unwrap();
    opened.lsn = opened.lsn.plus(entries.len() as u64);
}

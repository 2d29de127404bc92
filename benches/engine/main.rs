//! `cargo bench --bench engine`: what one step of a record's way costs, without sockets: check, decide, write, read.
//!
//! Sizes are those of `benches/compare`, so that its figures can be taken apart: 100 B x 10, x 100 and x 1000, and
//! 1 KiB x 128. The store writes to a temporary folder on the disk of the target folder, without syncs (`os`) and with
//! them (`fsync`).
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a measurement outside the library")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use streamstack::batch::{BatchBuilder, Limits, NewRecord, check_produced};
use streamstack::disk::OsDisk;
use streamstack::model::{
    Append, Entry, FeedId, FeedSettings, Lsn, Offset, PartitionId, State, TailWrite, Timestamp, codec,
};
use streamstack::store::{Durability, Store, StoreOptions};
use uuid::Uuid;

const SHAPES: [(usize, usize); 4] = [(100, 10), (100, 100), (100, 1000), (1024, 128)];

const LIMITS: Limits = Limits::of_size(16 << 20);

const SETTINGS: FeedSettings = FeedSettings {
    segment_bytes: 1 << 30,
    segment_ms: i64::MAX,
    seal_ms: 5_000,
    seal_records: 1_000_000,
    seal_bytes: 1 << 30,
    producer_expiration_ms: 86_400_000,
};

const FEED: FeedId = FeedId(0);
const NOW: Timestamp = Timestamp(1_000);

fn batch_of(size: usize, count: usize) -> Bytes {
    let value: Vec<u8> = (0..size).map(|index| b'A' + (index * 7 % 26) as u8).collect();
    let mut builder = BatchBuilder::new(0);
    for _ in 0..count {
        builder.push(NewRecord { timestamp: NOW.0, key: None, value: Some(&value), headers: &[] });
    }
    builder.build()
}

/// A state with one feed of one partition.
struct Machine {
    state: State,
    lsn: Lsn,
    writes: Vec<TailWrite>,
}

impl Machine {
    fn new(state: State, lsn: Lsn) -> Machine {
        Machine { state, lsn, writes: Vec::new() }
    }

    fn apply(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        self.writes.clear();
        entries.iter().for_each(|entry| self.state.apply(entry, &mut self.writes));
        self.lsn = self.lsn.plus(entries.len() as u64);
        entries
    }

    fn create(&mut self) -> Vec<Entry> {
        let created = self.state.decide_create("bench", Uuid::from_u128(1), 1, BTreeMap::new(), NOW).unwrap();
        self.apply(created.entries)
    }

    fn append(&mut self, bytes: &Bytes) -> Vec<Entry> {
        let batch = check_produced(bytes.clone(), &LIMITS).unwrap();
        let append =
            Append { feed: FEED, partition: PartitionId(0), batch, settings: &SETTINGS, transaction: None, now: NOW };
        let decided = self.state.decide_append(append).unwrap();
        self.apply(decided.entries)
    }
}

fn check(c: &mut Criterion) {
    let mut group = c.benchmark_group("check a produced batch");
    for (size, count) in SHAPES {
        let bytes = batch_of(size, count);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("{size} B x {count}")), |b| {
            b.iter(|| check_produced(black_box(bytes.clone()), &LIMITS).unwrap());
        });
    }
}

fn decide(c: &mut Criterion) {
    let mut group = c.benchmark_group("check, decide and apply");
    for (size, count) in SHAPES {
        let bytes = batch_of(size, count);
        let mut machine = Machine::new(State::default(), Lsn(0));
        machine.create();
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::from_parameter(format!("{size} B x {count}")), |b| {
            b.iter(|| black_box(machine.append(&bytes)));
        });
    }
}

fn encode(c: &mut Criterion) {
    let mut group = c.benchmark_group("encode a group of five");
    for (size, count) in SHAPES {
        let bytes = batch_of(size, count);
        let mut machine = Machine::new(State::default(), Lsn(0));
        machine.create();
        let entries: Vec<Entry> = (0..5).flat_map(|_| machine.append(&bytes)).collect();
        group.throughput(Throughput::Bytes(5 * bytes.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("{size} B x {count}")), |b| {
            b.iter(|| codec::encode_group(black_box(&entries)));
        });
    }
}

/// A store with the feed, in a folder that goes with it.
fn store(durability: Durability) -> (tempfile::TempDir, Store, Machine) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let options = StoreOptions { durability, ..StoreOptions::default() };
    let opened = Store::open(Arc::new(OsDisk), folder.path().join("data"), options).unwrap();
    opened.store.prepare_spare().unwrap();
    let mut machine = Machine::new(opened.state, opened.lsn);
    let first = machine.lsn;
    let entries = machine.create();
    opened.store.write_group(first, &entries, &machine.writes).unwrap();
    (folder, opened.store, machine)
}

fn write(c: &mut Criterion) {
    for (name, durability) in [("os", Durability::Os), ("fsync", Durability::Fsync)] {
        let mut group = c.benchmark_group(format!("check, decide and write, {name}"));
        group.sample_size(30);
        for (size, count) in SHAPES {
            let bytes = batch_of(size, count);
            let (_folder, store, mut machine) = store(durability);
            group.throughput(Throughput::Bytes(bytes.len() as u64));
            group.bench_function(BenchmarkId::from_parameter(format!("{size} B x {count}")), |b| {
                b.iter(|| {
                    let first = machine.lsn;
                    let entries = machine.append(&bytes);
                    store.write_group(first, &entries, &machine.writes).unwrap()
                });
            });
        }
    }
}

fn read(c: &mut Criterion) {
    const BATCHES: i64 = 1000;
    let mut group = c.benchmark_group("read 1 MiB of a partition, in the page cache");
    for (size, count) in SHAPES {
        let bytes = batch_of(size, count);
        let (_folder, store, mut machine) = store(Durability::Os);
        for _ in 0..BATCHES {
            let first = machine.lsn;
            let entries = machine.append(&bytes);
            store.write_group(first, &entries, &machine.writes).unwrap();
        }
        let partition = store.feed(FEED).unwrap().partition(PartitionId(0)).unwrap();
        let end = Offset(BATCHES * count as i64);
        let mut from = 0;
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::from_parameter(format!("{size} B x {count}")), |b| {
            b.iter(|| {
                from = (from + 7919) % end.0;
                black_box(partition.read(Offset(from), end, 1 << 20).unwrap())
            });
        });
    }
}

fn state(c: &mut Criterion) {
    let mut group = c.benchmark_group("encode the state of so many feeds");
    group.sample_size(10);
    for num_feeds in [1_000_u32, 10_000, 50_000] {
        let mut machine = Machine::new(State::default(), Lsn(0));
        for number in 0..num_feeds {
            let id = Uuid::from_u128(u128::from(number) + 1);
            let name = format!("feed-{number}");
            let created = machine.state.decide_create(&name, id, 1, BTreeMap::new(), NOW).unwrap();
            machine.apply(created.entries);
        }
        group.throughput(Throughput::Elements(num_feeds.into()));
        group.bench_function(BenchmarkId::from_parameter(num_feeds), |b| b.iter(|| machine.state.encode()));
    }
}

criterion_group!(engine, check, decide, encode, write, read, state);
criterion_main!(engine);

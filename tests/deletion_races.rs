//! Readers at work while the front of what they read is deleted, on a real disk: a read gives the right records or says
//! that the offset is gone, and bytes once given stay what they are though their file is removed.
#![allow(clippy::disallowed_methods, reason = "the test has a folder of its own")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use streamstack::batch::{self, BatchBuilder, Limits, NewRecord};
use streamstack::broker::{Broker, CreateFeed, FeedHandle};
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{OsClock, OsDisk, SplitMix};
use streamstack::model::{Append, Offset, PartitionId, Seal, SealReason, SealWish};
use streamstack::view::name::{self, TopicName};
use streamstack::view::{Budget, Isolation, Reading, ViewError, ViewReadError};

const LIMITS: Limits = Limits::of_size(1 << 20);
const ROUNDS: usize = 400;
const PADDING: usize = 6_000;

/// Every record tells its offset, which is its feed offset too.
async fn append(broker: &Broker, feed: &FeedHandle, next: &mut i64, count: i64) {
    let mut builder = BatchBuilder::new(0);
    for offset in *next..*next + count {
        let value = format!("{offset:0PADDING$}");
        builder.push(NewRecord { timestamp: offset, value: Some(value.as_bytes()), ..NewRecord::default() });
    }
    *next += count;
    let batch = batch::check_produced(builder.build(), &LIMITS).unwrap();
    let (partition, settings, now) = (PartitionId(0), &feed.config().model, broker.now());
    let appended = broker.append(Append { feed: feed.id, partition, batch, settings, transaction: None, now });
    broker.durable(appended.durable_at).await.unwrap();
}

async fn seal(broker: &Broker, feed: &FeedHandle) {
    let sealed = broker.seal(Seal {
        feed: feed.id,
        wishes: vec![SealWish::default()],
        producer: None,
        reason: SealReason::Operator,
        producer_expiration_ms: 1_000,
        now: broker.now(),
    });
    broker.durable(sealed.durable_at).await.unwrap();
}

fn check(reading: &Reading) -> u64 {
    let mut all = BytesMut::new();
    reading.parts.iter().for_each(|part| all.extend_from_slice(part));
    let (mut rest, mut num_records) = (all.freeze(), 0);
    let lengths: Vec<usize> = batch::batch_lengths(&rest).collect();
    for length in lengths {
        let one: Bytes = rest.split_to(length);
        for record in &batch::records(&one, 1 << 20).unwrap() {
            let record = record.unwrap();
            let told: i64 = std::str::from_utf8(record.value.unwrap()).unwrap().parse().unwrap();
            assert_eq!(told, record.offset);
            num_records += 1;
        }
    }
    assert!(rest.is_empty());
    num_records
}

/// Reads from random places until told to stop; looks at what it read again, long after.
fn read(broker: &Broker, view: &str, seed: u64, stop: &AtomicBool, num_read: &AtomicU64, num_gone: &AtomicU64) {
    let mut random = SplitMix::new(seed);
    let mut held: Vec<Reading> = Vec::new();
    while !stop.load(Ordering::Acquire) {
        let TopicName::View(name) = name::parse_topic(view).unwrap() else { panic!("{view} is a view") };
        let view = broker.resolve_view(&name).unwrap().view;
        let bounds = view.bounds(PartitionId(0), Isolation::ReadUncommitted).unwrap();
        // From a little before the start on, where deletions are.
        let from = (bounds.start - 20 + random.below(60) as i64).clamp(0, bounds.end);
        let budget = Budget { max_bytes: 60_000, at_least_one: true };
        match view.read(PartitionId(0), from, budget, Isolation::ReadUncommitted) {
            Ok((_, reading)) => {
                num_read.fetch_add(check(&reading), Ordering::Relaxed);
                held.push(reading);
            }
            Err(ViewReadError::OutOfRange { bounds, .. }) => {
                assert!(from < bounds.start);
                num_gone.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => panic!("{view_name}: {error}", view_name = name),
        }
        if held.len() > 50 {
            held.drain(..).for_each(|reading| assert!(check(&reading) > 0 || reading.is_empty()));
        }
    }
}

/// Names with an end are whole or refused.
fn read_bounded(broker: &Broker, seed: u64, stop: &AtomicBool, num_refused: &AtomicU64) {
    let mut random = SplitMix::new(seed);
    while !stop.load(Ordering::Acquire) {
        let feed = broker.catalog().by_name("orders").unwrap();
        let commits = streamstack::view::Published::commits(&*feed).0;
        let oldest = streamstack::view::Published::history(&*feed).commit.0;
        let commit = (oldest - 3 + random.below(8) as i64).clamp(0, commits - 1);
        let TopicName::View(name) = name::parse_topic(&format!("orders..commit-{commit}")).unwrap() else { continue };
        let outcome = broker.resolve_view(&name).map_err(|error| error.to_string()).and_then(|handle| {
            let read = |from| {
                let budget = Budget { max_bytes: 1 << 20, at_least_one: true };
                handle.view.read(PartitionId(0), from, budget, Isolation::ReadUncommitted)
            };
            let bounds = handle.view.bounds(PartitionId(0), Isolation::ReadUncommitted).map_err(in_words)?;
            let mut next = bounds.start;
            while next < bounds.end {
                let (_, reading) = read(next).map_err(in_words)?;
                next += check(&reading) as i64;
            }
            Ok((bounds, next))
        });
        match outcome {
            Ok((bounds, end)) => assert_eq!(end, bounds.end),
            Err(refusal) => {
                assert!(refusal.contains("delete"), "{refusal}");
                num_refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Only what says that something was deleted is an answer.
fn in_words(error: ViewReadError) -> String {
    match &error {
        ViewReadError::View(ViewError::CommitsDropped { .. } | ViewError::RecordsDeleted { .. }) => error.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn readers_get_right_bytes_or_hear_that_they_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let overrides = vec![
        format!("log.dirs={}", folder.path().display()),
        "log.segment.bytes=1048576".to_owned(),
        "streamstack.durability=os".to_owned(),
        "streamstack.seal.ms=9000000000000".to_owned(),
        "log.retention.check.interval.ms=86400000".to_owned(),
    ];
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let broker = runtime.block_on(async { Broker::open(Arc::new(OsDisk), Arc::new(OsClock::new()), config).unwrap() });
    let feed = runtime.block_on(async {
        let wanted = CreateFeed { name: "orders".to_owned(), partitions: 1, overrides: Default::default() };
        let created = broker.create_feed(wanted, false);
        broker.durable(created.durable_at).await.unwrap();
        broker.catalog().by_name("orders").unwrap()
    });
    let stop = AtomicBool::new(false);
    let (num_read, num_gone, num_refused) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let mut next = 0;
        runtime.block_on(append(&broker, &feed, &mut next, 5));
        runtime.block_on(seal(&broker, &feed));
        for (view, seed) in [("orders..feed", 1), ("orders..since-0", 2)] {
            let (broker, stop, num_read, num_gone) = (&broker, &stop, &num_read, &num_gone);
            scope.spawn(move || read(broker, view, seed, stop, num_read, num_gone));
        }
        scope.spawn(|| read_bounded(&broker, 3, &stop, &num_refused));
        let mut random = SplitMix::new(4);
        for round in 0..ROUNDS {
            runtime.block_on(append(&broker, &feed, &mut next, 5 + random.below(15) as i64));
            if random.chance(1, 2) {
                runtime.block_on(seal(&broker, &feed));
            }
            match round % 5 {
                1 => {
                    let below = Offset(next - 1 - random.below(100).min(next as u64 - 1) as i64);
                    runtime.block_on(broker.delete_records(&feed, PartitionId(0), Some(below))).unwrap();
                }
                3 => {
                    let commits = streamstack::view::Published::commits(&*feed);
                    let below = streamstack::model::CommitNumber((commits.0 - 4).max(0));
                    runtime.block_on(broker.delete_commits(&feed, Some(below))).unwrap();
                }
                4 => broker.enforce_retention().unwrap(),
                _ => {}
            }
        }
        stop.store(true, Ordering::Release);
    });
    let (num_read, num_gone) = (num_read.into_inner(), num_gone.into_inner());
    let num_refused = num_refused.into_inner();
    println!("{num_read} records read, {num_gone} reads below the start, {num_refused} names refused");
    assert!(num_read > 1_000 && num_gone > 10 && num_refused > 10);
    runtime.block_on(broker.shut_down()).unwrap();
}

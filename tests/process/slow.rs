//! A slow disk holds up only those who wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Bounds, Client};

use super::broker::{Broker, Start};
use super::ledger::{Ended, Ledger, TOPIC};
use super::tools::{self, Strace};

/// How long each faulty call takes.
const STALL: Duration = Duration::from_secs(3);

/// What everything that does not wait for such a call stays under, on a busy machine too.
const QUICK: Duration = Duration::from_secs(2);
const OLD: &str = "old";
const NUM_OLD: i32 = 16;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn record(value: &[u8]) -> BatchBuilder {
    BatchBuilder::new(0).record(NewRecord { timestamp: 5, value: Some(value), ..NewRecord::default() })
}

/// The slowest of these answers over new connections, for a while.
fn slowest_answer(broker: &Broker, time: Duration, ask: fn(&mut Client)) -> Duration {
    let (began, mut slowest) = (Instant::now(), Duration::ZERO);
    while began.elapsed() < time {
        let asked = Instant::now();
        ask(&mut Client::connect(&broker.address).unwrap());
        slowest = slowest.max(asked.elapsed());
    }
    slowest
}

/// Metadata and offsets.
fn ends(client: &mut Client) {
    assert_eq!(client.bounds(TOPIC).unwrap().len(), 1);
}

/// Metadata, offsets and old records.
fn old_records(client: &mut Client) {
    let bounds = client.bounds(TOPIC).unwrap()[0];
    assert!(bounds.end >= 20);
    client.read(TOPIC, Bounds { end: 5, ..bounds }).unwrap();
}

/// While a call takes long that acknowledgements wait for, they wait, and everything else is quick.
fn only_acknowledgements_wait(durability: &str, call: &str, ask: fn(&mut Client)) {
    if !tools::strace() {
        return;
    }
    let folder = folder();
    let broker = Start::at(folder.path()).with(&[&format!("streamstack.durability={durability}")]).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 20);
    let on = AtomicBool::new(true);
    let slowest = thread::scope(|scope| {
        let strace = Strace::attach(broker.pid(), &[&tools::delay(call, STALL)]);
        let writing = scope.spawn(|| ledger.write_while(&broker.address, &on));
        let slowest = slowest_answer(&broker, STALL * 2, ask);
        on.store(false, Ordering::Release);
        drop(strace);
        assert!(matches!(writing.join().unwrap(), Ended::Told));
        slowest
    });
    println!("slowest acknowledgement {:?}, slowest other answer {slowest:?}", ledger.slowest);
    assert!(ledger.slowest >= STALL, "{call} was not slow: {:?}", ledger.slowest);
    assert!(slowest < QUICK, "{slowest:?}");
    ledger.heals(&broker.address);
}

#[test]
fn while_syncs_take_seconds_others_are_answered_at_once() {
    only_acknowledgements_wait("fsync", "fdatasync", old_records);
}

#[test]
fn while_writes_stall_in_os_mode_others_are_answered_at_once() {
    only_acknowledgements_wait("os", "pwritev", ends);
}

#[test]
fn while_reads_take_seconds_others_are_answered_at_once() {
    if !tools::strace() {
        return;
    }
    let folder = folder();
    let broker = Start::at(folder.path()).serving();
    let mut client = broker.connect();
    client.create_topic(OLD, NUM_OLD, &[]).unwrap();
    (0..NUM_OLD).for_each(|partition| assert_eq!(client.produce(OLD, partition, record(b"cold")).unwrap(), 0));
    let mut ledger = Ledger::open(&mut client);
    ledger.write(&broker.address, 20);
    let mut broker = broker;
    tools::signal(broker.pid(), rustix::process::Signal::TERM);
    assert!(broker.wait().success());
    // The allocator gives memory back with the call that reads a mapped file in, and is not to be meant here.
    let broker = Start::at(folder.path()).env("MIMALLOC_PURGE_DELAY", "-1").serving();
    ledger.write(&broker.address, 30);
    // The first read since the start is a cold one of its own.
    slowest_answer(&broker, Duration::from_millis(1), ends);
    let on = AtomicBool::new(true);
    let address = &broker.address;
    let (slowest, slowest_read) = thread::scope(|scope| {
        let strace = Strace::attach(broker.pid(), &[&tools::delay("pread64", STALL), &tools::delay("madvise", STALL)]);
        // Many more than there are workers, each for a partition that nobody has read since the start.
        let reading: Vec<_> =
            (0..NUM_OLD).map(|partition| scope.spawn(move || cold_read(address, partition))).collect();
        let writing = scope.spawn(|| ledger.write_while(address, &on));
        let slowest = slowest_answer(&broker, STALL * 2, ends);
        on.store(false, Ordering::Release);
        drop(strace);
        assert!(matches!(writing.join().unwrap(), Ended::Told));
        (slowest, reading.into_iter().map(|reading| reading.join().unwrap()).max().unwrap())
    });
    println!("slowest cold read {slowest_read:?}, slowest other answer {slowest:?}");
    assert!(slowest_read >= STALL, "reads were not slow: {slowest_read:?}");
    assert!(slowest < QUICK, "{slowest:?}");
    ledger.heals(&broker.address);
}

fn cold_read(address: &str, partition: i32) -> Duration {
    let mut client = Client::connect(address).unwrap();
    let asked = Instant::now();
    let found = client.read(OLD, Bounds { partition, start: 0, end: 1 }).unwrap();
    assert_eq!(found[0].value.as_deref(), Some(&b"cold"[..]));
    asked.elapsed()
}

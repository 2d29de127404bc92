//! Load for a while, ten seconds or `SOAK_SECONDS`: memory, file handles and threads stay where they were.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Bounds, Client};

use super::broker::Start;

const TOPIC: &str = "soak";
const NUM_PARTITIONS: i32 = 4;
const NUM_READERS: i32 = 12;
const SECONDS: u64 = 10;
const RECORD_BYTES: usize = 2_000;
/// What may come on top of what there was after the first third: caches that fill.
const GROWTH_MAX_KIB: u64 = 48 << 10;

#[derive(Clone, Copy, Debug)]
struct Usage {
    anonymous_kib: u64,
    num_files: usize,
    num_threads: usize,
}

fn usage(pid: u32) -> Usage {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let number = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let num_files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    Usage { anonymous_kib: number("RssAnon:"), num_files, num_threads: number("Threads:") as usize }
}

/// Produces to a partition and, now and then, over a new connection.
fn produce(address: &str, partition: i32, on: &AtomicBool) -> u64 {
    let (value, mut sent) = ([b'x'; RECORD_BYTES], 0);
    while on.load(Ordering::Acquire) {
        let mut client = Client::connect(address).unwrap();
        let session = client.open_producer().unwrap();
        for n in 0..500 {
            let record = NewRecord { timestamp: 5, value: Some(&value), ..NewRecord::default() };
            client.produce(TOPIC, partition, BatchBuilder::new(0).producer(session.at(n)).record(record)).unwrap();
            sent += 1;
        }
    }
    sent
}

/// Follows the end of a partition while its segments roll and go, of the topic itself or of its feed.
fn follow(address: &str, number: i32, on: &AtomicBool) -> u64 {
    let mut client = Client::connect(address).unwrap();
    let topic = if number % 2 == 0 { TOPIC.to_owned() } else { format!("{TOPIC}..feed") };
    let partition = number % NUM_PARTITIONS;
    let (mut next, mut read) = (0, 0);
    while on.load(Ordering::Acquire) {
        let bounds = client.bounds(&topic).unwrap()[partition as usize];
        next = next.max(bounds.start);
        // What retention took meanwhile is an error, and the reader goes on behind it.
        if let Ok(found) = client.read(&topic, Bounds { start: next, ..bounds }) {
            read += found.len() as u64;
            next = bounds.end;
        }
    }
    read
}

#[test]
fn under_load_memory_handles_and_threads_stay_where_they_were() {
    let seconds = std::env::var("SOAK_SECONDS").map_or(SECONDS, |text| text.parse().expect("a number of seconds"));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker =
        Start::at(folder.path()).with(&["streamstack.durability=os", "log.retention.check.interval.ms=1000"]).serving();
    let configs = [("segment.bytes", "1048576"), ("retention.bytes", "8388608"), ("streamstack.seal.ms", "100")];
    broker.connect().create_topic(TOPIC, NUM_PARTITIONS, &configs).unwrap();
    let (on, address) = (AtomicBool::new(true), broker.address.as_str());
    let (samples, sent, read): (Vec<Usage>, u64, u64) = thread::scope(|scope| {
        let on = &on;
        let producing: Vec<_> = (0..NUM_PARTITIONS).map(|p| scope.spawn(move || produce(address, p, on))).collect();
        let following: Vec<_> = (0..NUM_READERS).map(|n| scope.spawn(move || follow(address, n, on))).collect();
        let samples = sampled(broker.pid(), Duration::from_secs(seconds));
        on.store(false, Ordering::Release);
        let total =
            |threads: Vec<thread::ScopedJoinHandle<'_, u64>>| threads.into_iter().map(|t| t.join().unwrap()).sum();
        (samples, total(producing), total(following))
    });
    let (early, late) = samples.split_at(samples.len() / 3);
    let (before, after) = (most(early), most(late));
    println!(
        "{seconds} s: {sent} records sent, {read} read; at most {before:?} in the first third, {after:?} after it"
    );
    assert!(sent > 1_000 && read > 1_000, "{sent} sent, {read} read");
    assert!(after.anonymous_kib <= before.anonymous_kib + GROWTH_MAX_KIB, "memory grows");
    // Retention and checkpoints open files of their own for a while.
    assert!(after.num_files <= before.num_files + 32, "file handles grow");
    assert!(after.num_threads <= before.num_threads + 8, "threads grow");
}

fn sampled(pid: u32, time: Duration) -> Vec<Usage> {
    let (began, mut samples) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        thread::sleep(Duration::from_millis(100));
        samples.push(usage(pid));
    }
    samples
}

/// The greatest of each.
fn most(samples: &[Usage]) -> Usage {
    let anonymous_kib = samples.iter().map(|usage| usage.anonymous_kib).max().unwrap();
    let num_files = samples.iter().map(|usage| usage.num_files).max().unwrap();
    let num_threads = samples.iter().map(|usage| usage.num_threads).max().unwrap();
    Usage { anonymous_kib, num_files, num_threads }
}

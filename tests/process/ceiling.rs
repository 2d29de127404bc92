//! Many partitions, many connections, and no more memory than there is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::Client;

use super::broker::{Broker, Start};
use super::tools;

/// ApiVersions version 0, without a client id.
const QUESTION: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 255, 255];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn status_kib(broker: &Broker, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", broker.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn num_files(broker: &Broker) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", broker.pid())).unwrap().count()
}

fn record(value: &[u8]) -> BatchBuilder {
    BatchBuilder::new(0).record(NewRecord { timestamp: 5, value: Some(value), ..NewRecord::default() })
}

/// A Fetch version 4 of 16 MiB from the start of partition 0 of `topic`.
fn fetch(topic: &str) -> Vec<u8> {
    let mut body: Vec<u8> = Vec::new();
    body.extend([0, 1, 0, 4, 0, 0, 0, 7, 255, 255]);
    body.extend([255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 1]);
    body.extend((16_i32 << 20).to_be_bytes());
    body.push(0);
    body.extend(1_i32.to_be_bytes());
    body.extend((topic.len() as i16).to_be_bytes());
    body.extend(topic.as_bytes());
    body.extend(1_i32.to_be_bytes());
    body.extend(0_i32.to_be_bytes());
    body.extend(0_i64.to_be_bytes());
    body.extend((16_i32 << 20).to_be_bytes());
    [&(body.len() as i32).to_be_bytes()[..], &body].concat()
}

#[test]
fn under_a_memory_ceiling_clients_are_held_back_and_nobody_is_killed() {
    const CEILING: u64 = 512 << 20;
    const IDLE: usize = 8_000;
    if !tools::prlimit() {
        return;
    }
    let folder = folder();
    // Private memory: a process that asks for more gets none, and ends.
    let limited = ["prlimit", &format!("--data={CEILING}"), "--nofile=20000"];
    let broker = Start::at(folder.path()).under(&limited).serving();
    let mut client = broker.connect();
    client.create_topic("wide", 1_000, &[]).unwrap();
    client.create_topic("deep", 1, &[]).unwrap();
    let large = vec![7; 900_000];
    (0..20).for_each(|n| assert_eq!(client.produce("deep", 0, record(&large)).unwrap(), n));
    let mut crowd: Vec<TcpStream> = (0..IDLE).map(|_| TcpStream::connect(&broker.address).unwrap()).collect();
    for stream in &mut crowd {
        stream.write_all(&QUESTION).unwrap();
        let mut answer = [0; 8];
        stream.read_exact(&mut answer).unwrap();
    }
    // Some of them ask for megabytes again and again, and never read.
    let flood = fetch("deep").repeat(20);
    crowd[..50].iter_mut().for_each(|stream| stream.write_all(&flood).unwrap());
    let (on, acks) = (AtomicBool::new(true), AtomicU64::new(0));
    let slowest = thread::scope(|scope| {
        // Thirty producers of megabytes at once: more than the disk takes.
        for n in 0..30 {
            let (on, acks, address, large) = (&on, &acks, &broker.address, &large);
            scope.spawn(move || {
                let mut client = Client::connect(address).unwrap();
                while on.load(Ordering::Acquire) {
                    client.produce("wide", n * 30, record(large)).unwrap();
                    acks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let slowest = slowest_answer(&broker, Duration::from_secs(6));
        on.store(false, Ordering::Release);
        slowest
    });
    let (peak, now) = (status_kib(&broker, "VmHWM:") >> 10, status_kib(&broker, "RssAnon:") >> 10);
    let acks = acks.into_inner();
    println!(
        "{IDLE} connections, {acks} acknowledged; slowest other answer {slowest:?}; {now} MiB private, {peak} MiB at most, \
         mapped files included"
    );
    assert!(acks > 30, "{acks}");
    // A debug build on a busy machine has other reasons to be slow.
    let max = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });
    assert!(slowest < max, "{slowest:?}");
    broker.kill();
}

/// Of a client that asks small things over connections that it has.
fn slowest_answer(broker: &Broker, time: Duration) -> Duration {
    let (began, mut slowest) = (Instant::now(), Duration::ZERO);
    let mut client = broker.connect();
    while began.elapsed() < time || slowest.is_zero() {
        let asked = Instant::now();
        assert_eq!(client.bounds("deep").unwrap()[0].end, 20);
        slowest = slowest.max(asked.elapsed());
        thread::sleep(Duration::from_millis(5));
    }
    slowest
}

#[test]
fn ten_thousand_partitions_take_few_file_handles_and_a_quick_start() {
    const PARTITIONS: i32 = 10_000;
    let folder = folder();
    let broker = Start::at(folder.path()).with(&["streamstack.durability=os"]).serving();
    let mut client = broker.connect();
    client.create_topic("wide", PARTITIONS, &[]).unwrap();
    (0..PARTITIONS).for_each(|partition| assert_eq!(client.produce("wide", partition, record(b"v")).unwrap(), 0));
    let files = num_files(&broker);
    assert!(files < 1_000, "{files} files are open while all partitions are written");
    broker.kill();
    let began = Instant::now();
    let broker = Start::at(folder.path()).with(&["streamstack.durability=os"]).serving();
    let took = began.elapsed();
    let max = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 10 });
    assert!(took < max, "the start after a kill took {took:?}");
    let mut client = broker.connect();
    for partition in (0..PARTITIONS).step_by(7) {
        let from = [streamstack::cli::client::Position { partition, offset: 0 }];
        let wait = Duration::from_millis(100);
        let isolation = streamstack::cli::client::Isolation::ReadCommitted;
        let fetched = client.fetch("wide", &from, isolation, wait).unwrap();
        assert_eq!(fetched[0].records.len(), 1, "{partition}");
    }
    let after = num_files(&broker);
    println!("{PARTITIONS} partitions: {files} files open, start after kill -9 in {took:?}, {after} files open then");
    assert!(after < 1_000, "{after} files are open after reading");
}

//! More clients than the process has memory or file handles for: it stays within its bounds, and the others are served.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

#[path = "common/serving.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod serving;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serving::{Serving, program};
use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::Client;
use streamstack::disk::limits::raise_open_files;

/// ApiVersions version 0, without a client id.
const QUESTION: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 255, 255];

fn status_kib(serving: &Serving, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.id())).unwrap();
    let line = status.lines().find(|found| found.starts_with(line)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn connect(serving: &Serving) -> TcpStream {
    let stream = serving.connect();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn answered(stream: &mut TcpStream) -> bool {
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).is_ok() && answer[4..] == [0, 0, 0, 7]
}

/// Sends as much of a frame of 90 MiB as is taken; true when all 8 MiB of it were.
fn send_half_frame(stream: &mut TcpStream) -> bool {
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(&(90_i32 << 20).to_be_bytes()).unwrap();
    stream.write_all(&vec![0; 8 << 20]).is_ok()
}

#[test]
fn unfinished_frames_together_take_no_more_than_a_bound() {
    const CONNECTIONS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(&folder.path().join("data"), &[]);
    let before = status_kib(&serving, "RssAnon:");
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| serving.connect()).collect();
    std::thread::scope(|scope| {
        let sending: Vec<_> = streams.iter_mut().map(|stream| scope.spawn(|| send_half_frame(stream))).collect();
        let num_read = sending.into_iter().map(|sent| sent.join().unwrap()).filter(|taken| *taken).count();
        // The first one has room to the end of its frame; the others wait for it, with what the kernel holds for them.
        assert!((1..CONNECTIONS).contains(&num_read), "{num_read} were read to their last byte");
    });
    let grown = (status_kib(&serving, "RssAnon:") - before) >> 10;
    assert!(grown < 110, "{grown} MiB for half frames: the bound is the largest frame, 100 MiB");
    let mut good = connect(&serving);
    good.write_all(&QUESTION).unwrap();
    assert!(answered(&mut good), "a good client is served beside them");
    // Who waits is let in when the room comes back: the first ones go, the last one's small request is still due.
    drop(streams);
    let mut large = connect(&serving);
    large.write_all(&(1_i32 << 20).to_be_bytes()).unwrap();
    large.write_all(&vec![0; 1 << 20]).unwrap();
    // No request: its connection is closed, which shows that the frame was read whole.
    assert_eq!(large.read(&mut [0; 1]).unwrap_or(0), 0);
}

#[test]
fn without_file_handles_accepting_waits_and_goes_on_and_the_journal_still_opens_files() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let serve = program(&["serve", "--listen", "0", "--data", data.to_str().unwrap()]);
    let mut limited = Command::new("sh");
    limited
        .env_clear()
        .args(["-c", "ulimit -n 300 && exec \"$0\" \"$@\""])
        .arg(serve.get_program())
        .args(serve.get_args());
    // Small journal files, so that new ones are opened all the time.
    limited.args(["--override", "streamstack.journal.file.bytes=1048576"]);
    let serving = Serving::of(limited);
    let mut good = Client::connect(&serving.address.to_string()).unwrap();
    let mut crowd: Vec<TcpStream> = (0..200).map(|_| serving.connect()).collect();
    let last = crowd.last_mut().unwrap();
    last.write_all(&QUESTION).unwrap();
    last.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let refused = last.read(&mut [0; 1]).unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "it waits to be accepted: {refused}"
    );

    good.create_topic("busy", 100, &[]).unwrap();
    for round in 0..4 {
        for partition in 0..100 {
            let mut batch = BatchBuilder::new(0);
            batch.push(NewRecord { timestamp: round, key: None, value: Some(&[7; 20_000]), headers: &[] });
            good.produce("busy", partition, batch).unwrap();
        }
    }
    drop(crowd.drain(..150));
    let last = crowd.last_mut().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(answered(last), "the one that waited is served");
    let files = std::fs::read_dir(format!("/proc/{}/fd", serving.id())).unwrap().count();
    assert!(files < 300, "{files}");
}

/// A frame that says it has 14 bytes more, for somebody to send in his own time.
const UNHURRIED: [u8; 18] = [0, 0, 0, 14, 0, 18, 0, 0, 0, 0, 0, 7, 0, 4, b's', b'l', b'o', b'w'];

#[test]
fn five_thousand_who_send_a_byte_a_second_keep_nobody_waiting() {
    const CONNECTIONS: usize = 5_000;
    if raise_open_files() < 2 * CONNECTIONS {
        println!("LEFT OUT: too few files may be open here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Whoever else uses the disk is not what is measured.
    let serving = Serving::start(&folder.path().join("data"), &["--override", "streamstack.durability=os"]);
    let mut good = Client::connect(&serving.address.to_string()).unwrap();
    good.create_topic("good", 1, &[]).unwrap();
    let before = status_kib(&serving, "RssAnon:");
    let mut slow: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&serving)).collect();
    let mut slowest = Duration::ZERO;
    for at in 0..UNHURRIED.len() - 1 {
        let round = Instant::now();
        for (index, stream) in slow.iter_mut().enumerate() {
            stream.write_all(&UNHURRIED[at..=at]).unwrap();
            if index % 1_000 == 0 {
                slowest = slowest.max(served(&serving, &mut good));
            }
        }
        std::thread::sleep(Duration::from_secs(1).saturating_sub(round.elapsed()));
    }
    let each = status_kib(&serving, "RssAnon:").saturating_sub(before) / CONNECTIONS as u64;
    println!("the slowest answer to others took {slowest:?}; {each} KiB a slow sender");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    assert!(each < 20, "{each} KiB a slow sender");
    // They too are served in the end.
    for stream in slow.iter_mut().step_by(500) {
        stream.write_all(&UNHURRIED[UNHURRIED.len() - 1..]).unwrap();
        assert!(answered(stream));
    }
}

/// How long a produce and a new connection's first question take.
fn served(serving: &Serving, good: &mut Client) -> Duration {
    let asked = Instant::now();
    let record = NewRecord { timestamp: 1, key: None, value: Some(b"good"), headers: &[] };
    good.produce("good", 0, BatchBuilder::new(0).record(record)).unwrap();
    let mut newcomer = connect(serving);
    newcomer.write_all(&QUESTION).unwrap();
    assert!(answered(&mut newcomer));
    asked.elapsed()
}

/// Fetch version 4 of all that one partition holds.
fn fetch(topic: &str) -> Vec<u8> {
    let (bytes_max, one) = ((4_i32 << 20).to_be_bytes(), 1_i32.to_be_bytes());
    let head = [&[0, 1, 0, 4, 0, 0, 0, 7, 255, 255][..], &(-1_i32).to_be_bytes(), &[0; 4], &one, &bytes_max, &[0]];
    let name = [&one[..], &(topic.len() as i16).to_be_bytes(), topic.as_bytes()];
    let partition = [&one[..], &[0; 4], &[0; 8], &bytes_max];
    let request = [head.concat(), name.concat(), partition.concat()].concat();
    [&(request.len() as i32).to_be_bytes()[..], &request].concat()
}

#[test]
fn clients_that_flood_with_fetches_and_never_read_cost_a_bounded_amount_and_are_closed() {
    const CONNECTIONS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(&folder.path().join("data"), &["--override", "connections.max.idle.ms=4000"]);
    let mut good = Client::connect(&serving.address.to_string()).unwrap();
    good.create_topic("good", 1, &[]).unwrap();
    for _ in 0..8 {
        let record = NewRecord { timestamp: 1, key: None, value: Some(&[7; 900_000]), headers: &[] };
        good.produce("good", 0, BatchBuilder::new(0).record(record)).unwrap();
    }
    let before = status_kib(&serving, "RssAnon:");
    let flood = fetch("good").repeat(1_000);
    let (mut highest, mut slowest) = (0, Duration::ZERO);
    std::thread::scope(|scope| {
        let deaf: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut stream = connect(&serving);
                stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
                // Requests are taken in until the answers stop; then the connection is closed from the other side.
                let flood = &flood;
                scope.spawn(move || {
                    loop {
                        if let Err(error) = stream.write_all(flood) {
                            return error.kind();
                        }
                    }
                })
            })
            .collect();
        let began = Instant::now();
        while deaf.iter().any(|deaf| !deaf.is_finished()) {
            slowest = slowest.max(served(&serving, &mut good));
            highest = highest.max(status_kib(&serving, "RssAnon:"));
            assert!(began.elapsed() < Duration::from_secs(50), "they are not closed");
            std::thread::sleep(Duration::from_millis(50));
        }
        for ended in deaf.into_iter().map(|deaf| deaf.join().unwrap()) {
            assert!(!matches!(ended, ErrorKind::WouldBlock | ErrorKind::TimedOut), "not closed: {ended}");
        }
    });
    let each = highest.saturating_sub(before) / CONNECTIONS as u64;
    println!("{each} KiB a client that never reads; the slowest answer to others took {slowest:?}");
    assert!(each < 1_024, "{each} KiB a client that never reads");
}

#[test]
fn an_idle_connection_costs_little_memory() {
    const CONNECTIONS: u64 = 2000;
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(&folder.path().join("data"), &[]);
    let ask = |stream: &mut TcpStream| {
        stream.write_all(&QUESTION).unwrap();
        assert!(answered(stream));
    };
    (0..100).for_each(|_| ask(&mut connect(&serving)));
    let before = status_kib(&serving, "RssAnon:");
    let mut crowd: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&serving)).collect();
    // All of them were accepted, and have asked once.
    crowd.iter_mut().for_each(ask);
    let each = (status_kib(&serving, "RssAnon:").saturating_sub(before)) / CONNECTIONS;
    assert!(each < 20, "{each} KiB a connection");
}

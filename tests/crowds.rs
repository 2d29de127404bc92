//! More clients than the process has memory or file handles for: it stays within its bounds, and the others are served.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

#[path = "common/serving.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod serving;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serving::{Serving, program};
use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::Client;

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

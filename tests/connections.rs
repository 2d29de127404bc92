//! Requests of one connection are all answered, in their order, whatever waits before them.
#![allow(clippy::disallowed_methods, reason = "the test has a folder of its own")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use streamstack::cli::client::Client;
use streamstack::cli::{runtime, start_broker};
use streamstack::config::{ServerConfig, Sources};
use streamstack::server::Server;

/// A broker in this process, on a free port.
struct Serving {
    runtime: tokio::runtime::Runtime,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Serving {
    fn start() -> Serving {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        let flags = vec![("--data", "log.dirs", data), ("--listen", "listeners", "PLAINTEXT://127.0.0.1:0".to_owned())];
        let config = ServerConfig::load(&Sources { flags, ..Sources::default() }).unwrap();
        let runtime = runtime().unwrap();
        let server = runtime.block_on(start_broker(config)).unwrap();
        Serving { runtime, server, _folder: folder }
    }

    fn address(&self) -> String {
        self.server.addresses()[0].to_string()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    fn stop(self) {
        self.runtime.block_on(self.server.shut_down()).unwrap();
    }
}

fn request(key: i16, version: i16, correlation: i32, body: &[u8]) -> Vec<u8> {
    let head = [&key.to_be_bytes()[..], &version.to_be_bytes(), &correlation.to_be_bytes(), &(-1_i16).to_be_bytes()];
    let request = [&head.concat(), body].concat();
    [&(request.len() as i32).to_be_bytes()[..], &request].concat()
}

/// Fetch version 4 of one partition from offset 0.
fn fetch(topic: &str, correlation: i32, wait_ms: i32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend((-1_i32).to_be_bytes());
    body.extend(wait_ms.to_be_bytes());
    body.extend(1_i32.to_be_bytes());
    body.extend((1_i32 << 20).to_be_bytes());
    body.push(0);
    body.extend(1_i32.to_be_bytes());
    body.extend((topic.len() as i16).to_be_bytes());
    body.extend(topic.as_bytes());
    body.extend(1_i32.to_be_bytes());
    body.extend(0_i32.to_be_bytes());
    body.extend(0_i64.to_be_bytes());
    body.extend((1_i32 << 20).to_be_bytes());
    request(1, 4, correlation, &body)
}

fn next_correlation(stream: &mut TcpStream) -> i32 {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    i32::from_be_bytes(*answer.first_chunk().unwrap())
}

#[test]
fn a_request_behind_a_long_poll_is_answered_when_the_poll_ends() {
    let serving = Serving::start();
    Client::connect(&serving.address()).unwrap().create_topic("empty", 1, &[]).unwrap();
    let mut stream = serving.connect();
    stream.write_all(&[fetch("empty", 1, 300), request(18, 0, 2, &[])].concat()).unwrap();
    assert_eq!(next_correlation(&mut stream), 1);
    assert_eq!(next_correlation(&mut stream), 2);
    serving.stop();
}

#[test]
fn ten_thousand_pipelined_requests_are_answered_in_order() {
    let serving = Serving::start();
    let mut stream = serving.connect();
    let mut writer = stream.try_clone().unwrap();
    let requests: Vec<u8> = (0..10_000).flat_map(|n| request(18, 0, n, &[])).collect();
    let writing = std::thread::spawn(move || writer.write_all(&requests).unwrap());
    for n in 0..10_000 {
        assert_eq!(next_correlation(&mut stream), n);
    }
    writing.join().unwrap();
    serving.stop();
}

#[test]
fn a_deleted_topic_ends_the_long_polls_on_it() {
    let serving = Serving::start();
    let created = Client::connect(&serving.address()).unwrap().create_topic("gone", 1, &[]);
    created.unwrap();
    let mut stream = serving.connect();
    stream.write_all(&fetch("gone", 1, 60_000)).unwrap();
    // DeleteTopics version 1.
    let body = [&1_i32.to_be_bytes()[..], &4_i16.to_be_bytes(), b"gone", &1_000_i32.to_be_bytes()].concat();
    let mut admin = serving.connect();
    admin.write_all(&request(20, 1, 2, &body)).unwrap();
    assert_eq!(next_correlation(&mut admin), 2);
    // Within the read's timeout, long before the poll's own end.
    assert_eq!(next_correlation(&mut stream), 1);
    serving.stop();
}

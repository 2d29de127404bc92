//! Frames of hostile lengths over real sockets: the process lives, its memory does not grow, and only the connection
//! that sent one is closed.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

#[path = "hostile_frames/sample.rs"]
#[allow(dead_code, reason = "the other half serves hostile_frames.rs")]
mod sample;

#[path = "common/serving.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod serving;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use sample::{Choices, Sample};
use serving::Serving;
use streamstack::api::{Api, TABLE};
use streamstack::wire::client_software::ClientSoftware;
use streamstack::wire::guard;
use streamstack::wire::produce_request::ProduceRequest;

const MEMORY_GROWTH_MAX_KIB: u64 = 1024;
const PATIENCE: Duration = Duration::from_secs(20);

fn connect(serving: &Serving) -> TcpStream {
    let stream = serving.connect();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn resident_kib(serving: &Serving) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn frame(api: &Api, version: i16, body: &[u8]) -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(api.key.to_be_bytes());
    request.extend(version.to_be_bytes());
    request.extend(7_i32.to_be_bytes());
    // No client id.
    request.extend((-1_i16).to_be_bytes());
    if api.schema.is_flexible(version) {
        request.push(0);
    }
    request.extend(body);
    [&(request.len() as i32).to_be_bytes()[..], &request].concat()
}

fn is_refused(api: &Api, version: i16, body: &[u8]) -> bool {
    let bytes = Bytes::copy_from_slice(body);
    match api.key {
        0 => ProduceRequest::decode(&bytes, version).is_err(),
        // Answered with an error instead of a closed connection, when only the software's name is wrong.
        18 => ClientSoftware::read(&bytes, version).is_err() && version < 3,
        _ => guard::check(api.schema, version, body).is_err(),
    }
}

/// One frame for each length of a request, made hostile, for every API and version.
fn hostile_frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for api in TABLE {
        for version in api.min..=api.max {
            let sample = Sample::of(api.schema, version, Choices::all(1));
            for length in &sample.lengths {
                for hostile in length.hostile().iter().take(2) {
                    let (before, after) = (&sample.body[..length.at], &sample.body[length.at + length.len..]);
                    let body = [before, hostile, after].concat();
                    if is_refused(api, version, &body) {
                        frames.push(frame(api, version, &body));
                    }
                }
            }
        }
    }
    // Lengths of the frame itself.
    for length in [i32::MIN, -1, 0, 7, 104_857_601, i32::MAX] {
        frames.push([&length.to_be_bytes()[..], &[0; 64]].concat());
    }
    frames
}

/// Sends a frame on a connection of its own, which must then be closed without an answer.
fn is_closed_by(serving: &Serving, frame: &[u8]) -> bool {
    let mut stream = connect(serving);
    // A reset while writing is a closed connection too.
    let _ = stream.write_all(frame);
    match stream.read(&mut [0; 16]) {
        Ok(answered) => answered == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn asks_and_is_answered(stream: &mut TcpStream) {
    let api_versions = TABLE.iter().find(|api| api.key == 18).unwrap();
    stream.write_all(&frame(api_versions, 0, &[])).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[..4], 7_i32.to_be_bytes());
}

#[test]
fn hostile_frames_close_their_own_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(&folder.path().join("data"), &["--log-level", "error"]);
    let mut bystander = connect(&serving);
    let frames = hostile_frames();
    assert!(frames.len() > 500, "{}", frames.len());
    let mut before = 0;
    // The first round fills the allocator's caches; growth is counted in the second.
    for round in 0..2 {
        if round == 1 {
            before = resident_kib(&serving);
        }
        for hostile in &frames {
            assert!(is_closed_by(&serving, hostile), "not closed: {hostile:02x?}");
        }
        asks_and_is_answered(&mut bystander);
    }
    let grown = resident_kib(&serving).saturating_sub(before);
    println!("{} hostile frames: resident memory grew by {grown} KiB", frames.len());
    assert!(grown < MEMORY_GROWTH_MAX_KIB, "grew by {grown} KiB");
}

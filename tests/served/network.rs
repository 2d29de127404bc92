//! Connections that end, stall or speak something else.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use kafka_protocol::messages::{ApiVersionsRequest, FetchRequest, ProduceRequest};

use super::broker::Served;
use super::peer::{Peer, encode};
use super::requests::*;

#[test]
fn a_half_closed_connection_still_gets_all_its_answers() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    served.syncs.close();
    for n in 0..5 {
        peer.send(PRODUCE, &produce("orders", vec![(0, batch(&[&n.to_string()]))]));
    }
    peer.send(FETCH, &fetch("orders", 0, 0, 100, 1 << 20));
    peer.stream.shutdown(Shutdown::Write).unwrap();
    served.syncs.open();
    for n in 0..5 {
        let answer = peer.answer::<ProduceRequest>(PRODUCE);
        assert_eq!(answer.responses[0].partition_responses[0].base_offset, n);
    }
    assert_eq!(only(peer.answer::<FetchRequest>(FETCH)).error_code, 0);
    assert!(peer.is_closed());
}

#[test]
fn connections_cut_inside_a_frame_leave_the_others_alone() {
    let served = Served::start();
    let mut bystander = served.connect();
    bystander.create_topic("orders", 1, &[]);
    let frame = encode(&produce("orders", vec![(0, batch(&["cut"]))]), PRODUCE, 1);
    for at in 0..frame.len() {
        let mut peer = served.connect();
        peer.send_bytes(&frame[..at]);
        if at % 2 == 0 {
            // Unread answers or a zero linger make this a reset.
            peer.send_bytes(&[]);
        }
        drop(peer);
    }
    assert_eq!(bystander.values("orders", 0), [""; 0]);
    bystander.produced("orders", 0, batch(&["whole"]));
}

#[test]
fn a_frame_that_comes_byte_by_byte_is_answered_as_a_whole_one() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let frame = encode(&produce("orders", vec![(0, batch(&["slow"]))]), PRODUCE, 9);
    for byte in frame {
        peer.send_bytes(&[byte]);
    }
    assert_eq!(peer.next_correlation_id(), 9);
    assert_eq!(peer.values("orders", 0), ["slow"]);
}

#[test]
fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let served = Served::with(&["connections.max.idle.ms=1500"]);
    let (mut idle, mut busy) = (served.connect(), served.connect());
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(idle.is_closed());
        });
        while began.elapsed() < Duration::from_millis(4_000) {
            assert_eq!(busy.ask(0, &ApiVersionsRequest::default()).error_code, 0);
            std::thread::sleep(Duration::from_millis(100));
        }
    });
}

#[test]
fn slow_senders_keep_nobody_waiting() {
    let served = Served::start();
    let frame = encode(&produce("orders", vec![(0, batch(&["slow"]))]), PRODUCE, 1);
    let mut slow: Vec<Peer> = (0..300).map(|_| served.connect()).collect();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for at in 0..20 {
        slow.iter_mut().for_each(|slow| slow.send_bytes(&frame[at..=at]));
        let began = Instant::now();
        peer.produced("orders", 0, batch(&["quick"]));
        served.connect().ask(0, &ApiVersionsRequest::default());
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[test]
fn a_client_that_never_reads_brings_no_more_requests_in_and_is_closed() {
    let served = Served::with(&["connections.max.idle.ms=3000"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let value = "x".repeat(900_000);
    (0..4).for_each(|_| {
        peer.produced("orders", 0, batch(&[&value]));
    });
    // Each fetch asks for megabytes that are never read.
    let flood = encode(&fetch("orders", 0, 0, 0, 4 << 20), FETCH, 1);
    let mut deaf = TcpStream::connect(served.address()).unwrap();
    deaf.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut sent = 0_u64;
    let ended = loop {
        match deaf.write(&flood) {
            Ok(written) => sent += written as u64,
            Err(error) => break error,
        }
        assert!(sent < 200 << 20, "{sent} bytes of requests were taken in");
    };
    // Closed by the broker, before this side lost its patience.
    assert!(!matches!(ended.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut), "{ended}");
    assert_eq!(served.connect().values("orders", 0).len(), 4);
}

#[test]
fn what_is_not_kafka_is_closed() {
    let served = Served::start();
    let strange: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a client hello of TLS",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\x00\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"*1\r\n$4\r\nPING\r\n",
        &[0xff; 64],
    ];
    for bytes in strange {
        let mut stream = TcpStream::connect(served.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(bytes).unwrap();
        // What such a client sends first fills no frame, or one that cannot be.
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        assert!(ended.is_err() || answer.is_empty(), "{answer:02x?}");
    }
    assert_eq!(served.connect().ask(0, &ApiVersionsRequest::default()).error_code, 0);
}

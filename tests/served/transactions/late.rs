//! Messages that come when their transaction is over.

use super::super::broker::Served;
use super::super::transactional::{self as requests, Protocol};
use super::writer::Writer;
use super::{FENCED, INVALID_EPOCH, INVALID_STATE};

#[test]
fn a_late_batch_of_the_second_protocol_has_the_epoch_of_the_transaction_before() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::Second);
    writer.append(&mut peer, "orders", 0, &["a"]);
    let mut late = writer.clone();
    writer.end(&mut peer, true);
    for _ in 0..2 {
        let mut peer = served.connect();
        assert_eq!(late.write(&mut peer, "orders", 0, &["late"]).0, INVALID_EPOCH);
        let (stable, end) = peer.ends("orders");
        assert_eq!(stable, end, "no transaction hangs");
        served.kill();
    }
    assert_eq!(served.connect().raw_values("orders", 0, 0), ["a"]);
}

#[test]
fn a_late_batch_of_the_first_protocol_is_to_a_partition_that_no_transaction_touches() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::First);
    writer.append(&mut peer, "orders", 0, &["a"]);
    writer.end(&mut peer, true);
    assert_eq!(writer.write_in(&mut peer, 10, "orders", 0, &["late"]).0, INVALID_STATE);
    assert_ne!(writer.write_in(&mut peer, 11, "orders", 0, &["late"]).0, 0);
    let (stable, end) = peer.ends("orders");
    assert_eq!((stable, end), (2, 2), "no transaction hangs");
    assert_eq!(peer.raw_values("orders", 0, 0), ["a"]);
}

#[test]
fn a_late_end_does_not_end_the_transaction_after_its_own() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::Second);
    writer.append(&mut peer, "orders", 0, &["a"]);
    let late = writer.clone();
    writer.end(&mut peer, true);
    // With nothing open it is an answer that was lost, and asked for again.
    assert_eq!(late.ask_to_end(&mut peer, true).error_code, 0);
    writer.append(&mut peer, "orders", 0, &["b"]);
    for commit in [true, false] {
        assert_eq!(late.ask_to_end(&mut peer, commit).error_code, FENCED);
    }
    assert_eq!(peer.num_commits("orders"), 1, "the second one is still open");
    assert_eq!(peer.ends("orders"), (2, 3));
    writer.end(&mut peer, true);
    assert_eq!(peer.raw_values("orders..feed", 0, 1), ["a", "b"]);
}

#[test]
fn a_plain_batch_of_a_producer_with_a_transaction_open_is_refused() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::Second);
    writer.append(&mut peer, "orders", 0, &["a"]);
    let plain = super::super::requests::batch_of(writer.who.producer, writer.who.epoch, 1, &["plain"]);
    assert_eq!(peer.produce("orders", 0, plain).error_code, INVALID_STATE);
    // Nor is a transactional batch taken whose request names no transactional id.
    let batch = requests::batch(&writer.who, 1, &["nameless"]);
    let mut answer = peer.ask(12, &requests::produce(None, "orders", 0, batch));
    assert_ne!(answer.responses.remove(0).partition_responses.remove(0).error_code, 0);
    writer.end(&mut peer, true);
    assert_eq!(peer.raw_values("orders", 0, 0), ["a"]);
}

#[test]
fn a_producer_that_the_partition_does_not_know_starts_anywhere_in_the_first_protocol_alone() {
    const OUT_OF_ORDER: i16 = 45;
    for (protocol, expected) in [(Protocol::First, 0), (Protocol::Second, OUT_OF_ORDER)] {
        let served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let writer = Writer::begin(&mut peer, "w", protocol);
        if protocol == Protocol::First {
            assert_eq!(writer.add(&mut peer, "orders", 0), 0);
        }
        let batch = requests::batch(&writer.who, 7, &["a"]);
        let request = requests::produce(Some("w"), "orders", 0, batch);
        let mut answer = peer.ask(protocol.produce(), &request);
        assert_eq!(answer.responses.remove(0).partition_responses.remove(0).error_code, expected, "{protocol:?}");
    }
}

//! What readers at feed and stream scope are shown of transactions: all commits at once, and nothing of open and aborted ones.

use serde_json::Value as Json;
use streamstack::batch::{BatchBuilder, NewRecord, Producer};

use super::super::broker::Served;
use super::super::peer::Peer;
use super::super::requests::records_of;
use super::super::transactional::{self as requests, Protocol};
use super::writer::{BOTH, Writer};

const INVALID_TOPIC: i16 = 17;

fn manifest(peer: &mut Peer, topic: &str, commit: i64) -> Json {
    let answer = peer.fetch_at(&format!("{topic}..commits"), 0, commit, 1);
    let records = records_of(&answer);
    let (_, text) = records.iter().find(|(offset, _)| *offset == commit).expect("a manifest");
    serde_json::from_str(text).unwrap()
}

/// A record to `..seal` in the writer's transaction.
fn say_to_seal(peer: &mut Peer, writer: &Writer, topic: &str, label: &str, metadata: &str) -> i16 {
    let seal = format!("{topic}..seal");
    if writer.protocol == Protocol::First {
        assert_eq!(writer.add(peer, &seal, 0), 0);
    }
    let producer = Producer { id: writer.who.producer, epoch: writer.who.epoch, base_sequence: 0 };
    let record = NewRecord {
        timestamp: 1_767_225_600_000,
        key: Some(label.as_bytes()),
        value: Some(metadata.as_bytes()),
        headers: &[],
    };
    let batch = BatchBuilder::new(0).producer(producer).transactional().record(record).build();
    let mut answer = peer.ask(writer.protocol.produce(), &requests::produce(Some(&writer.who.id), &seal, 0, batch));
    answer.responses.remove(0).partition_responses.remove(0).error_code
}

#[test]
fn readers_of_the_feed_and_of_its_commits_wait_for_no_open_transaction() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut slow = Writer::begin(&mut peer, "slow", Protocol::First);
    slow.append(&mut peer, "orders", 0, &["slow"]);
    let mut expected = Vec::new();
    for number in 0..10 {
        let mut quick = Writer::begin(&mut peer, "quick", BOTH[number % 2]);
        expected.push(number.to_string());
        quick.append(&mut peer, "orders", 0, &[&number.to_string()]);
        quick.end(&mut peer, true);
        // There as soon as the commit is answered.
        assert_eq!(peer.raw_values("orders..feed", 0, 1), expected);
        assert_eq!(peer.num_commits("orders"), number as i64 + 1);
        assert_eq!(peer.raw_values(&format!("orders..commit-{number}"), 0, 1), [number.to_string()]);
        if number == 5 {
            served.kill();
            peer = served.connect();
        }
    }
    assert_eq!(peer.ends("orders").0, 0, "readers of the plain topic wait, as in Kafka");
    slow.end(&mut peer, true);
    expected.push("slow".to_owned());
    assert_eq!(peer.raw_values("orders..feed", 0, 1), expected);
}

#[test]
fn a_transaction_that_only_names_its_stream_seals_an_empty_commit() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        assert_eq!(say_to_seal(&mut peer, &writer, "orders", "the 14:00 poll", r#"{"pages":0}"#), 0);
        assert_eq!(peer.num_commits("orders"), 0, "not yet");
        served.kill();
        let mut peer = served.connect();
        writer.end(&mut peer, true);
        assert_eq!(peer.num_commits("orders"), 1, "{protocol:?}");
        let manifest = manifest(&mut peer, "orders", 0);
        assert_eq!(manifest["label"], "the 14:00 poll");
        assert_eq!(manifest["metadata"]["pages"], 0);
        assert_eq!((&manifest["records"], &manifest["kind"]), (&0.into(), &"transaction".into()));
        assert_eq!(manifest["transaction"]["transactional_id"], "w");
        assert_eq!(peer.raw_values("orders..commit-0", 0, 1), [""; 0]);
        assert_eq!(peer.ends("orders"), (0, 0), "{protocol:?}: the record itself is nowhere");
    }
}

#[test]
fn a_label_and_metadata_go_with_the_records_of_the_transaction() {
    for protocol in BOTH {
        let served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a", "b"]);
        assert_eq!(say_to_seal(&mut peer, &writer, "orders", "poll", r#"{"pages":1}"#), 0);
        writer.end(&mut peer, true);
        let manifest = manifest(&mut peer, "orders", 0);
        assert_eq!((&manifest["label"], &manifest["records"]), (&"poll".into(), &2.into()), "{protocol:?}");
        assert_eq!(peer.raw_values("orders..named-poll", 0, 1), ["a", "b"]);
    }
}

#[test]
fn an_aborted_transaction_leaves_nothing_at_feed_scope() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["page 1", "page 2"]);
        assert_eq!(say_to_seal(&mut peer, &writer, "orders", "poll", "{}"), 0);
        writer.end(&mut peer, false);
        for _ in 0..2 {
            let mut peer = served.connect();
            assert_eq!(peer.num_commits("orders"), 0, "{protocol:?}");
            assert_eq!(peer.ends("orders..feed"), (0, 0));
            assert_eq!(peer.fetch_at("orders..stream-0", 0, 0, 0).error_code, INVALID_TOPIC);
            served.kill();
        }
        let mut peer = served.connect();
        let mut next = Writer::begin(&mut peer, "w", protocol);
        next.append(&mut peer, "orders", 0, &["page 1"]);
        next.end(&mut peer, true);
        assert_eq!(peer.raw_values("orders..feed", 0, 1), ["page 1"]);
        assert_eq!(manifest(&mut peer, "orders", 0)["commit"], 0);
    }
}

#[test]
fn an_open_stream_is_shown_to_readers_of_uncommitted_records_alone() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::Second);
    writer.append(&mut peer, "orders", 0, &["a"]);
    let mut other = Writer::begin(&mut peer, "v", Protocol::First);
    other.append(&mut peer, "orders", 0, &["x"]);
    writer.append(&mut peer, "orders", 0, &["b"]);
    for _ in 0..2 {
        let mut peer = served.connect();
        assert_eq!(peer.raw_values("orders..stream-0", 0, 0), ["a", "b"]);
        assert_eq!(peer.raw_values("orders..stream-1", 0, 0), ["x"]);
        assert_eq!(peer.raw_values("orders..stream-0", 0, 1), [""; 0]);
        served.kill();
    }
    let mut peer = served.connect();
    writer.end(&mut peer, true);
    for isolation in [0, 1] {
        assert_eq!(peer.raw_values("orders..stream-0", 0, isolation), ["a", "b"]);
    }
    assert_eq!(peer.raw_values("orders..stream-1", 0, 1), [""; 0], "still open");
}

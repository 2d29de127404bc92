//! Fetch and ListOffsets over the wire: limits, ends, long polls, deletions, epochs.

use std::time::Duration;

use kafka_protocol::messages::fetch_request::{ForgottenTopic, ReplicaState};
use kafka_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use kafka_protocol::messages::{
    BrokerId, FetchRequest, ListOffsetsRequest, MetadataRequest, OffsetForLeaderEpochRequest,
};
use uuid::Uuid;

use super::broker::{START_MS, Served};
use super::peer::Peer;
use super::requests::*;

const OFFSET_OUT_OF_RANGE: i16 = 1;
const UNKNOWN_TOPIC: i16 = 3;
const NOT_LEADER: i16 = 6;
const CLUSTER_AUTHORIZATION_FAILED: i16 = 31;
const FETCH_SESSION_ID_NOT_FOUND: i16 = 70;
const UNKNOWN_LEADER_EPOCH: i16 = 75;
const UNKNOWN_TOPIC_ID: i16 = 100;

/// A topic of one partition with these values, a batch each.
fn filled(served: &Served, topic: &str, values: &[&str]) -> Peer {
    let mut peer = served.connect();
    peer.create_topic(topic, 1, &[]);
    values.iter().for_each(|value| {
        peer.produced(topic, 0, batch(&[value]));
    });
    peer
}

#[test]
fn an_offset_out_of_range_is_told_with_start_and_end_and_one_at_the_end_waits() {
    let served = Served::start();
    let mut peer = filled(&served, "orders", &["a", "b"]);
    for offset in [-1, 3, i64::MAX, i64::MIN] {
        let answer = peer.fetch("orders", 0, offset);
        let told = (answer.error_code, answer.log_start_offset, answer.high_watermark);
        assert_eq!(told, (OFFSET_OUT_OF_RANGE, 0, 2), "at {offset}");
    }
    // At the end: parked, and woken by what comes.
    peer.send(FETCH, &fetch("orders", 0, 2, 60_000, 1 << 20));
    served.connect().produced("orders", 0, batch(&["c"]));
    let answer = only(peer.answer::<FetchRequest>(FETCH));
    assert_eq!(records_of(&answer), [(2, "c".to_owned())]);
}

#[test]
fn no_limit_at_or_around_the_size_of_a_batch_holds_a_reader_up() {
    let served = Served::start();
    let values: Vec<String> = (0..4).map(|n| format!("{n}{}", "x".repeat(30 * n))).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let mut peer = filled(&served, "orders", &values);
    let largest = peer.fetch("orders", 0, 3).records.unwrap().len() as i32;
    for max_bytes in (0..=3).chain(60..=2 * largest) {
        let (mut next, mut read) = (0, Vec::new());
        while next < 4 {
            let answer = only(peer.ask(FETCH, &fetch("orders", 0, next, 0, max_bytes)));
            let records = records_of(&answer);
            let whole: usize = answer.records.map_or(0, |records| records.len());
            assert!(!records.is_empty(), "nothing at {next} within {max_bytes} bytes");
            assert!(records.len() == 1 || whole <= max_bytes as usize, "{whole} bytes, {max_bytes} were allowed");
            next = records.last().unwrap().0 + 1;
            read.extend(records.into_iter().map(|(_, value)| value));
        }
        assert_eq!(read, values, "{max_bytes} bytes at a time");
    }
}

#[test]
fn fetch_sessions_are_declined_and_every_answer_is_a_full_one() {
    let served = Served::start();
    let mut peer = filled(&served, "orders", &["a"]);
    // A client that asks for a session gets none: id 0, and everything it asked for.
    for _ in 0..3 {
        let wanted = fetch("orders", 0, 1, 0, 1 << 20).with_session_epoch(0).with_session_id(0);
        let answer = peer.ask(FETCH, &wanted);
        assert_eq!((answer.session_id, answer.error_code), (0, 0));
        // Nothing changed, and it is told all the same: nothing that changes can be left out.
        assert_eq!(answer.responses[0].partitions[0].high_watermark, 1);
    }
    let incremental = FetchRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_session_id(77)
        .with_session_epoch(1)
        .with_forgotten_topics_data(vec![ForgottenTopic::default().with_topic(topic_name("orders"))]);
    let answer = peer.ask(FETCH, &incremental);
    assert_eq!((answer.session_id, answer.error_code), (0, FETCH_SESSION_ID_NOT_FOUND));
}

#[test]
fn a_long_poll_ends_at_its_deadline_and_waits_for_min_bytes() {
    let served = Served::start();
    let mut peer = filled(&served, "orders", &["a"]);
    let answer = only(peer.ask(FETCH, &fetch("orders", 0, 1, 50, 1 << 20)));
    assert_eq!((answer.error_code, answer.high_watermark), (0, 1));
    assert!(records_of(&answer).is_empty());
    // One small record is not enough; the large one after it is.
    peer.send(FETCH, &fetch("orders", 0, 1, 60_000, 1 << 20).with_min_bytes(5_000));
    let mut writer = served.connect();
    writer.produced("orders", 0, batch(&["b"]));
    writer.produced("orders", 0, batch(&[&"c".repeat(6_000)]));
    let answer = only(peer.answer::<FetchRequest>(FETCH));
    assert_eq!(records_of(&answer).len(), 2);
}

#[test]
fn list_offsets_is_exact_by_place_and_by_time() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let told = |peer: &mut Peer, timestamp| {
        let answer = peer.list_offsets("orders", 0, timestamp);
        assert_eq!(answer.error_code, 0);
        (answer.offset, answer.timestamp)
    };
    for special in [-1, -2, -4] {
        assert_eq!(told(&mut peer, special), (0, -1), "{special} of an empty partition");
    }
    assert_eq!(told(&mut peer, -3), (-1, -1));
    // Three records a batch, a millisecond apart, from START_MS on.
    peer.produced("orders", 0, batch(&["a", "b", "c"]));
    peer.produced("orders", 0, batch(&["d"]));
    for restarted in [false, true] {
        if restarted {
            served.restart();
            peer = served.connect();
        }
        assert_eq!((told(&mut peer, -1), told(&mut peer, -2)), ((4, -1), (0, -1)));
        // The greatest time, and the first record that has it.
        assert_eq!(told(&mut peer, -3), (2, START_MS + 2));
        assert_eq!(told(&mut peer, START_MS + 1), (1, START_MS + 1));
        assert_eq!(told(&mut peer, 0), (0, START_MS));
        assert_eq!(told(&mut peer, START_MS + 3), (-1, -1));
        let next = peer.produced("orders", 0, batch(&["e"]));
        assert_eq!(told(&mut peer, -1), (next + 1, -1), "the latest is what was acknowledged");
        peer.delete_topic("orders");
        peer.create_topic("orders", 1, &[]);
        peer.produced("orders", 0, batch(&["a", "b", "c"]));
        peer.produced("orders", 0, batch(&["d"]));
    }
}

#[test]
fn a_deletion_under_readers_is_an_error_or_the_right_bytes() {
    let served = Served::start();
    let mut admin = served.connect();
    for round in 0..30 {
        admin.create_topic("orders", 1, &[("segment.bytes", "1048576")]);
        for n in 0..8 {
            admin.produced("orders", 0, batch(&[&format!("{round} {n} {}", "x".repeat(200_000))]));
        }
        std::thread::scope(|scope| {
            for reader in 0..2 {
                let mut peer = served.connect();
                scope.spawn(move || {
                    let mut next = reader;
                    loop {
                        let answer = peer.fetch("orders", 0, next);
                        if answer.error_code != 0 {
                            assert!(matches!(answer.error_code, UNKNOWN_TOPIC | NOT_LEADER), "{}", answer.error_code);
                            return;
                        }
                        for (offset, value) in records_of(&answer) {
                            assert!(value.starts_with(&format!("{round} {offset} ")), "{offset}: {}", &value[..9]);
                        }
                        next = (next + 1) % 8;
                    }
                });
            }
            admin.delete_topic("orders");
        });
    }
}

#[test]
fn a_leader_epoch_of_the_future_is_refused_and_epochs_are_the_same_after_a_restart() {
    let mut served = Served::start();
    let mut peer = filled(&served, "orders", &["a"]);
    for _ in 0..2 {
        let mut request = fetch("orders", 0, 0, 0, 1 << 20);
        request.topics[0].partitions[0].current_leader_epoch = 5;
        assert_eq!(only(peer.ask(FETCH, &request)).error_code, UNKNOWN_LEADER_EPOCH);
        let mut request: ListOffsetsRequest = list_offsets("orders", 0, -1);
        request.topics[0].partitions[0].current_leader_epoch = 5;
        let answer = peer.ask(LIST_OFFSETS, &request);
        assert_eq!(answer.topics[0].partitions[0].error_code, UNKNOWN_LEADER_EPOCH);
        let end_of = |peer: &mut Peer, leader_epoch| {
            let partition =
                OffsetForLeaderPartition::default().with_current_leader_epoch(-1).with_leader_epoch(leader_epoch);
            let topic = OffsetForLeaderTopic::default().with_topic(topic_name("orders"));
            let request = OffsetForLeaderEpochRequest::default()
                .with_replica_id(BrokerId(-2))
                .with_topics(vec![topic.with_partitions(vec![partition])]);
            let answer = peer.ask(4, &request).topics.remove(0).partitions.remove(0);
            (answer.error_code, answer.leader_epoch, answer.end_offset)
        };
        assert_eq!(end_of(&mut peer, 0), (0, 0, 1));
        assert_eq!(end_of(&mut peer, 3), (0, -1, -1));
        served.kill();
        peer = served.connect();
    }
}

#[test]
fn a_partition_asked_for_twice_and_in_any_order_is_answered_each_time() {
    let served = Served::start();
    let mut peer = served.connect();
    for topic in ["a", "b", "c"] {
        peer.create_topic(topic, 3, &[]);
        peer.produced(topic, 1, batch(&["one"]));
    }
    let mut request = fetch_of("b", vec![(2, 0), (1, 0), (1, 0), (0, 0), (9, 0), (-1, 0)], 50, 1 << 20);
    request.topics.extend(fetch_of("a", vec![(1, 0), (0, 0)], 0, 1 << 20).topics);
    request.topics.extend(fetch_of("b", vec![(1, 1)], 0, 1 << 20).topics);
    let answer = peer.ask(FETCH, &request);
    let told = |topic: usize| -> Vec<(i32, i16, usize)> {
        let partitions = &answer.responses[topic].partitions;
        partitions.iter().map(|p| (p.partition_index, p.error_code, records_of(p).len())).collect()
    };
    assert_eq!(told(0), [(2, 0, 0), (1, 0, 1), (1, 0, 1), (0, 0, 0), (9, UNKNOWN_TOPIC, 0), (-1, UNKNOWN_TOPIC, 0)]);
    assert_eq!((told(1), told(2)), (vec![(1, 0, 1), (0, 0, 0)], vec![(1, 0, 0)]));
}

#[test]
fn ten_thousand_partitions_in_one_fetch_are_answered_within_its_bytes() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("wide", 10_000, &[]);
    for partition in [0, 5_000, 9_999] {
        peer.produced("wide", partition, batch(&[&"x".repeat(3_000)]));
    }
    let partitions = (0..10_000).map(|partition| (partition, 0)).collect();
    let answer = peer.ask(FETCH, &fetch_of("wide", partitions, 0, 4_000));
    let partitions = &answer.responses[0].partitions;
    assert_eq!(partitions.len(), 10_000);
    let with_records: Vec<i32> =
        partitions.iter().filter(|p| !records_of(p).is_empty()).map(|p| p.partition_index).collect();
    assert_eq!(with_records, [0], "the first one fits, and then the limit is reached");
}

#[test]
fn a_client_in_a_followers_clothes_is_refused() {
    let served = Served::start();
    let mut peer = filled(&served, "orders", &["a"]);
    let request = fetch("orders", 0, 0, 0, 1 << 20).with_replica_id(BrokerId(2));
    assert_eq!(peer.ask(FETCH, &request).error_code, CLUSTER_AUTHORIZATION_FAILED);
    let state = ReplicaState::default().with_replica_id(BrokerId(2)).with_replica_epoch(1);
    let mut request = fetch("orders", 0, 0, 0, 1 << 20).with_replica_state(state);
    request.topics[0].topic_id = topic_id(&mut peer, "orders");
    request.topics[0].topic = topic_name("");
    assert_eq!(peer.ask(16, &request).error_code, CLUSTER_AUTHORIZATION_FAILED);
}

fn topic_id(peer: &mut Peer, topic: &str) -> Uuid {
    let asked = kafka_protocol::messages::metadata_request::MetadataRequestTopic::default();
    let asked = asked.with_name(Some(topic_name(topic)));
    peer.ask(12, &MetadataRequest::default().with_topics(Some(vec![asked]))).topics[0].topic_id
}

#[test]
fn a_topic_fetched_by_id_reads_as_by_name_and_its_id_dies_with_it() {
    let served = Served::start();
    let mut peer = filled(&served, "orders", &["a", "b"]);
    let by_id = |peer: &mut Peer, id| {
        let mut request = fetch("", 0, 0, 0, 1 << 20);
        request.topics[0].topic_id = id;
        let mut answers: Vec<_> = [13, 15, 17, 18].map(|version| only(peer.ask(version, &request))).into();
        answers.dedup_by(|a, b| a.records == b.records && a.error_code == b.error_code);
        assert_eq!(answers.len(), 1, "versions answer differently");
        answers.remove(0)
    };
    let old = topic_id(&mut peer, "orders");
    let answer = by_id(&mut peer, old);
    assert_eq!(answer.records, peer.fetch("orders", 0, 0).records);
    assert_eq!(records_of(&answer).len(), 2);
    assert_eq!(by_id(&mut peer, Uuid::from_u128(7)).error_code, UNKNOWN_TOPIC_ID);
    peer.delete_topic("orders");
    peer.create_topic("orders", 1, &[]);
    assert_eq!(by_id(&mut peer, old).error_code, UNKNOWN_TOPIC_ID);
    let new = topic_id(&mut peer, "orders");
    assert!(new != old && by_id(&mut peer, new).error_code == 0);
}

#[test]
fn long_polls_end_with_their_connection() {
    let served = Served::start();
    filled(&served, "orders", &[]);
    let waiting = || streamstack::metrics::all().fetches_waiting.get();
    let (mut peers, before) = (Vec::new(), waiting());
    for _ in 0..100 {
        let mut peer = served.connect();
        peer.send(FETCH, &fetch("orders", 0, 0, 300_000, 1 << 20));
        peers.push(peer);
    }
    // Other tests of this process wait for a moment too, but not a hundred of them.
    let becomes = |wanted: &dyn Fn(i64) -> bool| {
        let found = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            wanted(waiting())
        });
        assert!(found, "{} fetches wait", waiting());
    };
    becomes(&|now| now >= before + 50);
    drop(peers);
    becomes(&|now| now < before + 50);
}

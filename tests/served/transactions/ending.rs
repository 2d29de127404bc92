//! Ends of transactions: asked for twice, empty, of positions alone, over a deleted topic, in every version.

use kafka_protocol::messages::ApiVersionsRequest;
use kafka_protocol::protocol::StrBytes;

use super::super::broker::Served;
use super::super::transactional::{self as requests, Protocol};
use super::INVALID_STATE;
use super::writer::{BOTH, Writer};

#[test]
fn a_commit_whose_answer_is_lost_is_answered_again_and_commits_once() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a"]);
        let first = writer.ask_to_end(&mut peer, true);
        assert_eq!(first.error_code, 0);
        assert_eq!(writer.ask_to_end(&mut peer, true), first, "{protocol:?}: at once");
        for _ in 0..2 {
            served.kill();
            let mut peer = served.connect();
            assert_eq!(writer.ask_to_end(&mut peer, true), first, "{protocol:?}: after a kill");
            assert_eq!(peer.num_commits("orders"), 1);
        }
        let mut peer = served.connect();
        assert_eq!(writer.ask_to_end(&mut peer, false).error_code, INVALID_STATE, "it was committed");
        writer.go_on(&first);
        writer.append(&mut peer, "orders", 0, &["b"]);
        writer.end(&mut peer, true);
        assert_eq!(peer.num_commits("orders"), 2);
        assert_eq!(peer.raw_values("orders..feed", 0, 1), ["a", "b"]);
    }
}

#[test]
fn an_abort_said_again_is_an_abort_and_not_a_commit() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a"]);
        let first = writer.ask_to_end(&mut peer, false);
        assert_eq!(first.error_code, 0);
        served.kill();
        let mut peer = served.connect();
        assert_eq!(writer.ask_to_end(&mut peer, false), first);
        assert_eq!(writer.ask_to_end(&mut peer, true).error_code, INVALID_STATE);
        assert_eq!(peer.num_commits("orders"), 0);
    }
}

#[test]
fn transactions_that_hold_nothing_end_and_leave_nothing_stuck() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::First);
    // A partition that is named and not written to.
    for commit in [true, false] {
        assert_eq!(writer.add(&mut peer, "orders", 0), 0);
        writer.end(&mut peer, commit);
    }
    let (stable, end) = peer.ends("orders");
    assert_eq!(stable, end);
    assert_eq!(peer.num_commits("orders"), 0, "nothing was written");
    // A group that is named, and nothing of it moved.
    let answer = peer.ask(requests::ADD_OFFSETS, &requests::add_offsets(&writer.who, "readers"));
    assert_eq!(answer.error_code, 0);
    writer.end(&mut peer, true);
    assert_eq!(peer.position("readers", "orders", true), (0, -1));
    // Nothing at all: of the second protocol an abort of it has an epoch of its own.
    let mut writer = Writer::begin(&mut peer, "v", Protocol::Second);
    let epoch = writer.who.epoch;
    writer.end(&mut peer, false);
    assert_eq!(writer.who.epoch, epoch + 1);
    writer.append(&mut peer, "orders", 0, &["a"]);
    writer.end(&mut peer, true);
    assert_eq!(peer.num_commits("orders"), 1);
}

#[test]
fn a_transaction_of_positions_alone_moves_them() {
    for protocol in BOTH {
        let served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.stage(&mut peer, "readers", "orders", 5);
        writer.end(&mut peer, true);
        assert_eq!(peer.position("readers", "orders", true), (0, 5), "{protocol:?}");
        assert_eq!(peer.num_commits("orders"), 0);
    }
}

#[test]
fn a_topic_that_is_deleted_under_a_transaction_does_not_hold_it_up() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        peer.create_topic("doomed", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a"]);
        writer.append(&mut peer, "doomed", 0, &["b"]);
        writer.stage(&mut peer, "readers", "doomed", 1);
        peer.delete_topic("doomed");
        peer.create_topic("doomed", 1, &[]);
        served.kill();
        let mut peer = served.connect();
        writer.end(&mut peer, true);
        assert_eq!(peer.raw_values("orders..feed", 0, 1), ["a"], "{protocol:?}");
        assert_eq!(peer.ends("doomed"), (0, 0), "nothing of it is in the topic made anew");
        assert_eq!(peer.position("readers", "doomed", true), (0, -1));
    }
}

#[test]
fn every_version_of_producing_and_ending_commits() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let name = StrBytes::from_static_str("peer");
    let asked =
        ApiVersionsRequest::default().with_client_software_name(name.clone()).with_client_software_version(name);
    let features = peer.ask(3, &asked).finalized_features;
    let levels: Vec<(String, i16)> =
        features.iter().map(|feature| (feature.name.to_string(), feature.max_version_level)).collect();
    assert!(levels.contains(&("transaction.version".to_owned(), 2)), "{levels:?}");
    let mut expected = Vec::new();
    let mut writer = Writer::begin(&mut peer, "first", Protocol::First);
    for (produce, end) in (3..=11).zip((0..=4).cycle()) {
        assert_eq!(writer.add(&mut peer, "orders", 0), 0);
        expected.push(format!("{produce} {end}"));
        let (code, _) = writer.write_in(&mut peer, produce, "orders", 0, &[expected.last().unwrap()]);
        assert_eq!(code, 0, "Produce v{produce}");
        let answer = peer.ask(end, &requests::end(&writer.who, true));
        assert_eq!(answer.error_code, 0, "EndTxn v{end}");
    }
    // One client of each protocol at a time, and in turns.
    let mut second = Writer::begin(&mut peer, "second", Protocol::Second);
    for round in 0..3 {
        for writer in [&mut writer, &mut second] {
            expected.push(format!("{:?} {round}", writer.protocol));
            writer.append(&mut peer, "orders", 0, &[expected.last().unwrap()]);
            writer.end(&mut peer, true);
        }
    }
    assert_eq!(peer.raw_values("orders..feed", 0, 1), expected);
    assert_eq!(peer.num_commits("orders"), expected.len() as i64);
}

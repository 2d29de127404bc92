//! Transactions that are open for longer than their producer said.

use std::thread;
use std::time::Duration;

use kafka_protocol::messages::ListTransactionsRequest;

use super::super::broker::Served;
use super::super::peer::Peer;
use super::super::transactional::Protocol;
use super::writer::{BOTH, TIMEOUT_MS, Writer, init};
use super::{FENCED, INVALID_EPOCH, INVALID_TIMEOUT};

/// What a broker takes for granted at most, in ms: `transaction.max.timeout.ms` of a day.
const DAY_MS: i32 = 86_400_000;

/// Until readers of committed records are held back no more.
fn wait_until_stable(peer: &mut Peer, topic: &str) {
    for _ in 0..2_000 {
        let (stable, end) = peer.ends(topic);
        if stable == end {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{topic} stays held back: {:?}", peer.ends(topic));
}

#[test]
fn a_transaction_that_is_open_for_too_long_is_aborted_and_its_producer_fenced() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a"]);
        writer.stage(&mut peer, "readers", "orders", 7);
        served.clock.advance_ms(TIMEOUT_MS as u32 / 2);
        // The time before the restart counts too.
        served.restart();
        let mut peer = served.connect();
        assert_eq!(peer.ends("orders"), (0, 1), "{protocol:?}");
        served.clock.advance_ms(TIMEOUT_MS as u32 / 2 + 1);
        wait_until_stable(&mut peer, "orders");
        assert_eq!(writer.write(&mut peer, "orders", 0, &["b"]).0, INVALID_EPOCH, "{protocol:?}");
        assert_eq!(writer.ask_to_end(&mut peer, true).error_code, FENCED, "{protocol:?}");
        assert_eq!(peer.position("readers", "orders", true), (0, -1));
        assert_eq!(peer.num_commits("orders"), 0);
        let mut next = Writer::begin(&mut peer, "w", protocol);
        assert!(next.who.epoch > writer.who.epoch + 1, "the epoch of the abort is nobody's: {:?}", next.who);
        next.append(&mut peer, "orders", 0, &["c"]);
        next.end(&mut peer, true);
        assert_eq!(peer.raw_values("orders..feed", 0, 1), ["c"]);
    }
}

#[test]
fn a_timeout_above_the_brokers_is_refused() {
    let served = Served::start();
    let mut peer = served.connect();
    for protocol in BOTH {
        for wrong in [0, -1, DAY_MS + 1] {
            assert_eq!(init(&mut peer, "w", protocol, wrong, None).0, INVALID_TIMEOUT, "{wrong}");
        }
        assert_eq!(init(&mut peer, "w", protocol, DAY_MS, None).0, 0);
    }
    let served = Served::with(&["transaction.max.timeout.ms=1000"]);
    let mut peer = served.connect();
    assert_eq!(init(&mut peer, "w", Protocol::Second, 1_001, None).0, INVALID_TIMEOUT);
    assert_eq!(init(&mut peer, "w", Protocol::Second, 1_000, None).0, 0);
}

#[test]
fn producers_that_die_hold_readers_back_no_longer_than_their_timeout_and_are_listed_so_long() {
    const NUM: usize = 200;
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for number in 0..NUM {
        let protocol = BOTH[number % 2];
        let mut peer = served.connect();
        Writer::begin(&mut peer, &format!("w{number}"), protocol).append(&mut peer, "orders", 0, &["x"]);
    }
    served.kill();
    let mut peer = served.connect();
    let open = |peer: &mut Peer| {
        let listed = peer.ask(1, &ListTransactionsRequest::default());
        assert_eq!(listed.error_code, 0);
        listed.transaction_states.iter().filter(|listed| listed.transaction_state.as_str() == "Ongoing").count()
    };
    assert_eq!(open(&mut peer), NUM, "what holds readers back can be seen");
    assert_eq!(peer.ends("orders"), (0, NUM as i64));
    served.clock.advance_ms(TIMEOUT_MS as u32 + 1);
    wait_until_stable(&mut peer, "orders");
    assert_eq!(open(&mut peer), 0);
    assert_eq!(peer.num_commits("orders"), 0);
}

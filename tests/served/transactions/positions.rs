//! Positions that move with a transaction: at its commit, and not before; never at its abort.

use super::super::broker::Served;
use super::super::requests::batch;
use super::UNSTABLE_OFFSET;
use super::writer::{BOTH, Writer};

#[test]
fn staged_positions_move_with_the_commit_and_whoever_wants_stable_ones_waits_meanwhile() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.stage(&mut peer, "readers", "orders", 5);
        writer.end(&mut peer, true);
        writer.stage(&mut peer, "readers", "orders", 9);
        for _ in 0..2 {
            let mut peer = served.connect();
            assert_eq!(peer.position("readers", "orders", false), (0, 5), "{protocol:?}: the one before");
            assert_eq!(peer.position("readers", "orders", true), (UNSTABLE_OFFSET, -1), "{protocol:?}");
            served.kill();
        }
        let mut peer = served.connect();
        writer.end(&mut peer, true);
        assert_eq!(peer.position("readers", "orders", true), (0, 9));
        served.kill();
        assert_eq!(served.connect().position("readers", "orders", true), (0, 9));
    }
}

#[test]
fn positions_of_an_aborted_transaction_leave_the_old_ones() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.stage(&mut peer, "readers", "orders", 5);
        writer.end(&mut peer, true);
        writer.stage(&mut peer, "readers", "orders", 9);
        writer.end(&mut peer, false);
        assert_eq!(peer.position("readers", "orders", true), (0, 5), "{protocol:?}: aborted by its producer");
        writer.stage(&mut peer, "readers", "orders", 9);
        served.kill();
        let mut peer = served.connect();
        Writer::begin(&mut peer, "w", protocol);
        assert_eq!(peer.position("readers", "orders", true), (0, 5), "{protocol:?}: aborted by the next one");
    }
}

#[test]
fn of_two_transactions_that_move_a_group_the_later_seal_counts() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let [mut first, mut second] = BOTH.map(|protocol| Writer::begin(&mut peer, &format!("{protocol:?}"), protocol));
    first.stage(&mut peer, "readers", "orders", 7);
    second.stage(&mut peer, "readers", "orders", 3);
    second.end(&mut peer, true);
    assert_eq!(peer.position("readers", "orders", false), (0, 3));
    first.end(&mut peer, true);
    assert_eq!(peer.position("readers", "orders", true), (0, 7));
}

#[test]
fn a_position_that_is_staged_and_then_moved_plainly_ends_the_same_live_and_after_a_kill() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.stage(&mut peer, "readers", "orders", 9);
        peer.move_position("readers", "orders", 7);
        assert_eq!(peer.position("readers", "orders", false), (0, 7));
        writer.end(&mut peer, true);
        // The commit comes last, whatever was staged when.
        assert_eq!(peer.position("readers", "orders", true), (0, 9), "{protocol:?}");
        served.kill();
        assert_eq!(served.connect().position("readers", "orders", true), (0, 9), "{protocol:?}");
    }
}

#[test]
fn a_state_that_is_written_anew_keeps_the_positions_that_transactions_moved_and_those_that_they_stage() {
    let mut served = Served::with(&["streamstack.checkpoint.bytes=1048576"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let [mut first, mut second] = BOTH.map(|protocol| Writer::begin(&mut peer, &format!("{protocol:?}"), protocol));
    first.stage(&mut peer, "readers", "orders", 5);
    first.end(&mut peer, true);
    second.stage(&mut peer, "readers", "orders", 9);
    let filler = "x".repeat(100_000);
    for _ in 0..2 {
        // More than one state's worth of journal, and an orderly stop, which writes the state too.
        let mut peer = served.connect();
        for _ in 0..30 {
            peer.produced("orders", 0, batch(&[&filler]));
        }
        served.restart();
        let mut peer = served.connect();
        assert_eq!(peer.position("readers", "orders", false), (0, 5));
        assert_eq!(peer.position("readers", "orders", true), (UNSTABLE_OFFSET, -1));
    }
    let mut peer = served.connect();
    second.end(&mut peer, true);
    served.restart();
    assert_eq!(served.connect().position("readers", "orders", true), (0, 9));
}

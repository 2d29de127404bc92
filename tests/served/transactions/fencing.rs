//! Zombies, producers that begin anew, and those that go on after a kill.

use super::super::broker::Served;
use super::super::transactional::Protocol;
use super::writer::{BOTH, TIMEOUT_MS, Writer, init};
use super::{FENCED, INVALID_EPOCH};

#[test]
fn a_zombie_writes_nothing_and_ends_nothing() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut zombie = Writer::begin(&mut peer, "w", protocol);
        zombie.append(&mut peer, "orders", 0, &["zombie"]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        for _ in 0..2 {
            let mut peer = served.connect();
            assert_eq!(zombie.write(&mut peer, "orders", 0, &["more"]).0, INVALID_EPOCH, "{protocol:?}");
            assert_eq!(zombie.ask_to_end(&mut peer, true).error_code, FENCED, "{protocol:?}");
            assert_eq!(zombie.add(&mut peer, "orders", 0), FENCED);
            assert_ne!(zombie.ask_to_stage(&mut peer, "readers", "orders", 7), 0);
            served.kill();
        }
        let mut peer = served.connect();
        writer.append(&mut peer, "orders", 0, &["living"]);
        writer.end(&mut peer, true);
        assert_eq!(peer.raw_values("orders..feed", 0, 1), ["living"]);
        assert_eq!(peer.raw_values("orders", 0, 0), ["zombie", "living"]);
        assert_eq!(peer.position("readers", "orders", true), (0, -1));
    }
}

#[test]
fn a_producer_that_begins_anew_has_the_next_epoch_and_what_was_open_is_aborted() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut writer = Writer::begin(&mut peer, "w", Protocol::Second);
    assert_eq!(writer.who.epoch, 0);
    writer.append(&mut peer, "orders", 0, &["lost"]);
    assert_ne!(peer.ends("orders").0, peer.ends("orders").1, "it is open");
    served.kill();
    let mut peer = served.connect();
    let (code, next) = init(&mut peer, "w", Protocol::Second, TIMEOUT_MS, None);
    assert_eq!((code, next.producer, next.epoch), (0, writer.who.producer, 1));
    let (stable, end) = peer.ends("orders");
    assert_eq!(stable, end, "nothing is open any more");
    assert_eq!(peer.num_commits("orders"), 0);
}

#[test]
fn a_producer_that_goes_on_from_what_it_was_gets_the_same_answer_again() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        let before = Writer::begin(&mut peer, "w", protocol).who;
        let (code, next) = init(&mut peer, "w", protocol, TIMEOUT_MS, Some(&before));
        assert_eq!((code, next.producer, next.epoch), (0, before.producer, before.epoch + 1));
        // The answer was lost, and it asks again; also after a kill.
        assert_eq!(init(&mut peer, "w", protocol, TIMEOUT_MS, Some(&before)), (0, next.clone()));
        served.kill();
        let mut peer = served.connect();
        assert_eq!(init(&mut peer, "w", protocol, TIMEOUT_MS, Some(&before)), (0, next.clone()));
        // Once another one has it, it is too late.
        let other = Writer::begin(&mut peer, "w", protocol).who;
        assert_eq!(other.epoch, next.epoch + 1);
        assert_eq!(init(&mut peer, "w", protocol, TIMEOUT_MS, Some(&before)).0, FENCED);
        assert_eq!(init(&mut peer, "w", protocol, TIMEOUT_MS, Some(&next)).0, FENCED);
    }
}

#[test]
fn an_open_transaction_survives_kills_and_its_producer_goes_on() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["a"]);
        served.kill();
        let mut peer = served.connect();
        assert_eq!(peer.ends("orders"), (0, 1), "{protocol:?}: it still holds readers back");
        writer.append(&mut peer, "orders", 0, &["b"]);
        served.restart();
        let mut peer = served.connect();
        assert_eq!(peer.ends("orders"), (0, 2));
        writer.append(&mut peer, "orders", 0, &["c"]);
        writer.end(&mut peer, true);
        assert_eq!(peer.raw_values("orders..commit-0", 0, 1), ["a", "b", "c"]);
        let (stable, end) = peer.ends("orders");
        assert_eq!(stable, end);
    }
}

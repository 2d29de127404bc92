//! What readers of the plain topic are shown of transactions that are open, committed and aborted.

use super::super::broker::Served;
use super::super::requests::{batch, records_of};
use super::super::transactional::Protocol;
use super::LATEST;
use super::writer::{BOTH, Writer};

#[test]
fn an_open_transaction_holds_back_readers_of_committed_records_alone_and_those_behind_it_only() {
    for protocol in BOTH {
        let mut served = Served::start();
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        peer.produced("orders", 0, batch(&["before"]));
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        assert_eq!(writer.append(&mut peer, "orders", 0, &["open"]), 1);
        assert_eq!(peer.produced("orders", 0, batch(&["after"])), 2);
        for _ in 0..2 {
            let mut peer = served.connect();
            let committed = peer.fetch_at("orders", 0, 0, 1);
            assert_eq!((committed.last_stable_offset, committed.high_watermark), (1, 3), "{protocol:?}");
            assert_eq!(records_of(&committed), [(0, "before".to_owned())]);
            assert_eq!(committed.aborted_transactions, Some(Vec::new()));
            let all = peer.fetch_at("orders", 0, 0, 0);
            assert_eq!(records_of(&all).len(), 3);
            assert_eq!(all.aborted_transactions, None, "nobody asked for it");
            assert_eq!((peer.list_offsets_at("orders", 1, LATEST).offset, peer.ends("orders").1), (1, 3));
            served.kill();
        }
        let mut peer = served.connect();
        writer.end(&mut peer, true);
        // The marker stands at 3.
        assert_eq!(peer.ends("orders"), (4, 4), "{protocol:?}");
        assert_eq!(peer.fetch_at("orders", 0, 0, 1).last_stable_offset, 4);
    }
}

#[test]
fn the_stable_end_goes_to_the_next_open_transaction_and_never_back() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let [mut first, mut second] = BOTH.map(|protocol| Writer::begin(&mut peer, &format!("{protocol:?}"), protocol));
    first.append(&mut peer, "orders", 0, &["a"]);
    second.append(&mut peer, "orders", 0, &["b"]);
    first.append(&mut peer, "orders", 0, &["c"]);
    assert_eq!(peer.ends("orders"), (0, 3));
    first.end(&mut peer, true);
    assert_eq!(peer.ends("orders"), (1, 4));
    first.append(&mut peer, "orders", 0, &["d"]);
    assert_eq!(peer.ends("orders"), (1, 5));
    second.end(&mut peer, false);
    assert_eq!(peer.ends("orders"), (4, 6));
    first.end(&mut peer, true);
    assert_eq!(peer.ends("orders"), (7, 7));
}

#[test]
fn aborted_transactions_are_listed_for_what_is_fetched_sorted_and_also_after_a_kill() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let [mut first, mut second] = BOTH.map(|protocol| Writer::begin(&mut peer, &format!("{protocol:?}"), protocol));
    let ids = (first.who.producer, second.who.producer);
    first.append(&mut peer, "orders", 0, &["a"]);
    second.append(&mut peer, "orders", 0, &["b"]);
    second.end(&mut peer, false);
    first.end(&mut peer, false);
    peer.produced("orders", 0, batch(&["c"]));
    for _ in 0..2 {
        let mut peer = served.connect();
        let told = |peer: &mut super::super::peer::Peer, offset| {
            let answer = peer.fetch_at("orders", 0, offset, 1);
            let aborted = answer.aborted_transactions.unwrap();
            aborted.iter().map(|one| (one.first_offset, one.producer_id.0)).collect::<Vec<_>>()
        };
        assert_eq!(told(&mut peer, 0), [(0, ids.0), (1, ids.1)]);
        // From the marker of the second on only the first is of interest.
        assert_eq!(told(&mut peer, 3), [(0, ids.0)]);
        assert_eq!(told(&mut peer, 4), []);
        served.kill();
    }
    assert_eq!(Protocol::First, first.protocol);
}

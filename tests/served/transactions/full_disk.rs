//! A disk that is full.

use super::super::broker::Served;
use super::super::disk::until;
use super::super::requests::batch;
use super::COORDINATOR_NOT_AVAILABLE;
use super::writer::{BOTH, TIMEOUT_MS, Writer, init};

/// Producers ask again and again until there is room.
const NUM_ASKED: usize = 100;
/// Longer than from one look at the disk to the next.
const REFUSED_FULL: usize = 75;

#[test]
fn a_full_disk_burns_no_epochs() {
    for protocol in BOTH {
        let served = Served::with(&["streamstack.disk.free.min.bytes=1000000"]);
        let mut peer = served.connect();
        peer.create_topic("orders", 1, &[]);
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["held"]);
        served.disk.set_capacity(Some(30_000_000));
        let value = "x".repeat(100_000);
        let mut refused = 0;
        until(|| {
            let code = peer.produce("orders", 0, batch(&[&value])).error_code;
            refused = if code == 0 { 0 } else { refused + 1 };
            (refused == REFUSED_FULL).then_some(())
        });
        for _ in 0..NUM_ASKED {
            assert_eq!(init(&mut peer, "w", protocol, TIMEOUT_MS, None).0, COORDINATOR_NOT_AVAILABLE);
        }
        // What gives room back is not refused.
        writer.end(&mut peer, false);
        served.disk.set_capacity(Some(60_000_000));
        let before = writer.who.epoch;
        let who = until(|| {
            let (code, who) = init(&mut peer, "w", protocol, TIMEOUT_MS, None);
            (code == 0).then_some(who)
        });
        assert_eq!(who.epoch, before + 1, "{protocol:?}");
        let mut writer = Writer::begin(&mut peer, "w", protocol);
        writer.append(&mut peer, "orders", 0, &["works"]);
        writer.end(&mut peer, true);
    }
}

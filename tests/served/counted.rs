//! Faults show in the metrics; that they show in the log, the tests of the real process look at.

use std::path::Path;
use std::time::Duration;

use streamstack::disk::{Disk, Failure, Op};
use streamstack::metrics;

use super::broker::Served;
use super::requests::*;

const KAFKA_STORAGE_ERROR: i16 = 56;

#[test]
fn each_fault_is_counted() {
    let counts = || {
        let all = metrics::all();
        let counters = [&all.read_errors, &all.produce_refused_space, &all.connections_broken, &all.journal_failures];
        counters.map(|counter| counter.get())
    };
    let mut served = Served::with(&["streamstack.disk.free.min.bytes=1000000"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.produced("orders", 0, batch(&["a"]));
    served.restart();
    let (mut peer, before) = (served.connect(), counts());
    served.disk.fail(Failure { op: Op::Read, nth: 1, errno: libc::EIO, for_ever: true });
    assert_eq!(peer.fetch("orders", 0, 0).error_code, KAFKA_STORAGE_ERROR);
    served.disk.heal();
    // Less is free than the floor, and enough for what is written until that is seen.
    served.disk.set_capacity(Some(1 << 40));
    let used = (1 << 40) - served.disk.free_bytes(Path::new("/data")).unwrap();
    served.disk.set_capacity(Some(used + 900_000));
    while peer.produce("orders", 0, batch(&["b"])).error_code == 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    served.disk.set_capacity(None);
    let mut strange = served.connect();
    strange.send_bytes(&[0xff; 64]);
    assert!(strange.is_closed());
    served.disk.fail(Failure { op: Op::Sync, nth: 1, errno: libc::EIO, for_ever: true });
    while peer.try_ask(PRODUCE, &produce("orders", vec![(0, batch(&["c"]))])).is_some_and(|answer| {
        // Refused for want of room until the disk is looked at again.
        std::thread::sleep(Duration::from_millis(50));
        answer.responses[0].partition_responses[0].error_code != 0 && counts()[3] == before[3]
    }) {}
    let after = counts();
    for (name, (after, before)) in ["read", "space", "connection", "journal"].iter().zip(after.iter().zip(before)) {
        assert!(*after > before, "{name}: nothing was counted");
    }
}

#[test]
fn in_os_mode_a_full_disk_is_seen_in_time_and_not_before_it_is_full() {
    const FLOOR: u64 = 4_000_000;
    let served = Served::with(&["streamstack.durability=os", &format!("streamstack.disk.free.min.bytes={FLOOR}")]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    served.disk.set_capacity(Some(40_000_000));
    let (value, mut num_taken, mut num_refused) = ("x".repeat(100_000), 0, 0);
    let free = || served.disk.free_bytes(Path::new("/data")).unwrap();
    // What is written between two looks at the disk is counted as more than it is: a look then tells better.
    while num_refused < 60 {
        let answer = peer.produce("orders", 0, batch(&[&value]));
        match answer.error_code {
            0 => (num_taken, num_refused) = (num_taken + 1, 0),
            code => {
                assert_eq!(code, KAFKA_STORAGE_ERROR);
                num_refused += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        assert!(free() + 1_500_000 >= FLOOR, "{} bytes are left: it was seen too late", free());
    }
    assert!(free() < FLOOR, "refused with {} bytes left", free());
    // A batch of this size is written once in this mode, so that most of the room holds records.
    assert!(num_taken > 250, "{num_taken}");
    assert_eq!(peer.values("orders", 0).len(), num_taken);
}

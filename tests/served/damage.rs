//! Bits that turned on the disk while the broker was away, and disks that take long to read.

use std::path::Path;
use std::time::{Duration, Instant};

use kafka_protocol::messages::{FetchRequest, MetadataRequest};
use streamstack::disk::{Disk, OpenMode};
use streamstack::metrics;

use super::broker::Served;
use super::peer::Peer;
use super::requests::*;

const CORRUPT_MESSAGE: i16 = 2;
const QUICK: Duration = Duration::from_secs(10);

/// Turns a bit of a stored text.
fn damage(served: &Served, path: &str, text: &str) {
    let file = served.disk.open(Path::new(path), OpenMode::Write).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    file.write_all_at(&[bytes[at] ^ 4], at as u64).unwrap();
}

#[test]
fn a_flipped_bit_in_a_segment_is_a_corrupt_message_for_its_batch_alone() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 2, &[]);
    for value in ["first", "second", "third"] {
        peer.produced("orders", 0, batch(&[value]));
    }
    peer.produced("orders", 1, batch(&["other"]));
    peer.produced("orders..seal", 0, batch(&["{}"]));
    served.restart();
    damage(&served, "/data/feeds/0/0/00000000000000000000.log", "second");
    let (mut peer, before) = (served.connect(), metrics::all().read_errors.get());
    for topic in ["orders", "orders..feed", "orders..commit-0"] {
        for _ in 0..2 {
            assert_eq!(records_of(&peer.fetch(topic, 0, 0)), [(0, "first".to_owned())], "{topic}");
            let answer = peer.fetch(topic, 0, 1);
            assert_eq!((answer.error_code, records_of(&answer).len()), (CORRUPT_MESSAGE, 0), "{topic}: {answer:?}");
            assert_eq!(records_of(&peer.fetch(topic, 0, 2)), [(2, "third".to_owned())], "{topic}");
            assert_eq!(records_of(&peer.fetch(topic, 1, 0)), [(0, "other".to_owned())], "{topic}");
        }
    }
    assert!(metrics::all().read_errors.get() >= before + 6);
    // Writes go on, and what is written is read.
    assert_eq!(peer.produced("orders", 0, batch(&["fourth"])), 3);
    assert_eq!(records_of(&peer.fetch("orders", 0, 2)).len(), 2);
}

#[test]
fn a_damaged_manifest_is_not_told_anew_with_a_checksum_that_holds() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.produced("orders", 0, batch(&["a"]));
    peer.produced("orders..seal", 0, batch(&["{}"]));
    served.restart();
    damage(&served, "/data/feeds/0/commits.log", "\"label\"");
    let mut peer = served.connect();
    let answer = peer.fetch("orders..named-k", 0, 0);
    assert_ne!(answer.error_code, 0, "{answer:?}");
    assert_eq!(peer.values("orders", 0), ["a"]);
}

#[test]
fn reads_that_wait_for_the_disk_hold_up_no_other_connection() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("old", 40, &[]);
    (0..40).for_each(|partition| assert_eq!(peer.produced("old", partition, batch(&["cold"])), 0));
    served.restart();
    let mut peer = served.connect();
    peer.create_topic("new", 1, &[]);
    peer.produced("new", 0, batch(&["a"]));
    peer.fetch("new", 0, 0);
    served.reads.close();
    // Many more than there are workers.
    let mut readers: Vec<Peer> = (0..40).map(|_| served.connect()).collect();
    for (reader, partition) in readers.iter_mut().zip(0..) {
        match partition % 2 {
            0 => reader.send(FETCH, &fetch("old", partition, 0, 0, 1 << 20)),
            _ => reader.send(LIST_OFFSETS, &list_offsets("old", partition, 5)),
        }
    }
    for n in 1..20 {
        let began = Instant::now();
        let mut peer = served.connect();
        assert_eq!(peer.ask(12, &MetadataRequest::default().with_topics(None)).topics.len(), 2);
        assert_eq!(peer.produced("new", 0, batch(&["a"])), n);
        assert_eq!(records_of(&peer.fetch("new", 0, n)), [(n, "a".to_owned())]);
        assert_eq!(peer.list_offsets("old", 0, -1).offset, 1);
        assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    }
    served.reads.open();
    for (reader, partition) in readers.iter_mut().zip(0..) {
        if partition % 2 == 0 {
            assert_eq!(records_of(&only(reader.answer::<FetchRequest>(FETCH))), [(0, "cold".to_owned())]);
        } else {
            let answer = reader.answer::<kafka_protocol::messages::ListOffsetsRequest>(LIST_OFFSETS);
            assert_eq!(answer.topics[0].partitions[0].offset, 0);
        }
    }
}

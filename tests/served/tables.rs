//! Tables of a feed that are gone or damaged are made anew; without the manifests, what rests on them is refused by name and
//! everything else goes on.

use std::path::Path;

use streamstack::disk::{Disk, OpenMode};

use super::broker::Served;
use super::requests::*;

const CORRUPT_MESSAGE: i16 = 2;
const KAFKA_STORAGE_ERROR: i16 = 56;

/// Two commits of two records, and then the broker starts anew.
fn served() -> Served {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.create_topic("others", 1, &[]);
    for value in ["a", "b"] {
        peer.produced("orders", 0, batch(&[value]));
        peer.produced("orders..seal", 0, batch(&["{}"]));
    }
    served.restart();
    served
}

/// Removes a file, or cuts it to so many bytes.
fn harm(served: &Served, path: &str, cut_to: Option<u64>) {
    match cut_to {
        None => served.disk.remove_file(Path::new(path)).unwrap(),
        Some(size) => served.disk.open(Path::new(path), OpenMode::Write).unwrap().set_size(size).unwrap(),
    }
}

fn check_made_anew(path: &str) {
    for (cut_to, seals_first) in [(None, false), (Some(32), false), (None, true), (Some(0), true)] {
        let mut served = served();
        harm(&served, path, cut_to);
        let mut peer = served.connect();
        if seals_first {
            peer.produced("orders", 0, batch(&["c"]));
            peer.produced("orders..seal", 0, batch(&["{}"]));
        }
        assert_eq!(records_of(&peer.fetch("orders..commit-1", 0, 1)), [(1, "b".to_owned())], "{path}");
        assert_eq!(peer.values("orders..stream-0", 0), ["a"], "{path}");
        let expected: &[&str] = if seals_first { &["a", "b", "c"] } else { &["a", "b"] };
        assert_eq!(peer.values("orders..feed", 0), expected, "{path}");
        assert_eq!(peer.values("orders..commits", 0).len(), expected.len(), "{path}");
        served.restart();
        assert_eq!(served.connect().values("orders..feed", 0), expected, "{path}");
    }
}

#[test]
fn without_the_index_of_commits_it_is_made_anew_from_the_manifests() {
    check_made_anew("/data/feeds/0/commits.index");
}

#[test]
fn without_the_runs_they_are_made_anew_from_the_manifests() {
    check_made_anew("/data/feeds/0/0/feed.runs");
}

#[test]
fn without_the_manifests_the_history_is_refused_and_records_are_read() {
    for cut_to in [None, Some(100)] {
        let mut served = served();
        harm(&served, "/data/feeds/0/commits.log", cut_to);
        let mut peer = served.connect();
        assert_eq!(peer.fetch("orders..commits", 0, 0).error_code, KAFKA_STORAGE_ERROR);
        check_goes_on(&mut served);
    }
}

#[test]
fn a_damaged_table_without_its_manifests_is_refused_and_records_are_read() {
    let mut served = served();
    for path in ["/data/feeds/0/commits.index", "/data/feeds/0/commits.log"] {
        let file = served.disk.open(Path::new(path), OpenMode::Write).unwrap();
        file.write_all_at(&[0x55; 40], 24).unwrap();
    }
    let mut peer = served.connect();
    for topic in ["orders..commits", "orders..stream-0"] {
        for _ in 0..2 {
            assert_eq!(peer.fetch(topic, 0, 0).error_code, CORRUPT_MESSAGE, "{topic}");
        }
    }
    // The runs are there.
    assert_eq!(records_of(&peer.fetch("orders..commit-1", 0, 1)), [(1, "b".to_owned())]);
    check_goes_on(&mut served);
}

/// The records themselves, other feeds, and writes that need no seal go on.
fn check_goes_on(served: &mut Served) {
    let mut peer = served.connect();
    assert_eq!(peer.values("orders", 0), ["a", "b"]);
    peer.produced("others", 0, batch(&["c"]));
    peer.produced("orders", 0, batch(&["d"]));
    served.restart();
    assert_eq!(served.connect().values("orders", 0), ["a", "b", "d"]);
    assert_eq!(served.connect().values("others", 0), ["c"]);
}

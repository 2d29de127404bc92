//! Tables of a feed that are gone: what rests on them is refused by name, everything else goes on.

use std::path::Path;

use streamstack::disk::{Disk, OpenMode};

use super::broker::Served;
use super::requests::*;

const KAFKA_STORAGE_ERROR: i16 = 56;

/// Two commits of two records; the history of the feed then loses a table.
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

fn check(path: &str, cut_to: Option<u64>, reads: &[&str]) {
    let mut served = served();
    match cut_to {
        None => served.disk.remove_file(Path::new(path)).unwrap(),
        Some(size) => served.disk.open(Path::new(path), OpenMode::Write).unwrap().set_size(size).unwrap(),
    }
    let mut peer = served.connect();
    for topic in reads {
        let answer = peer.fetch(topic, 0, 0);
        assert_eq!(answer.error_code, KAFKA_STORAGE_ERROR, "{topic} without {path}: {answer:?}");
    }
    // The records themselves, other feeds, and writes that need no seal go on.
    assert_eq!(peer.values("orders", 0), ["a", "b"], "{path}");
    peer.produced("others", 0, batch(&["c"]));
    peer.produced("orders", 0, batch(&["d"]));
    served.restart();
    assert_eq!(served.connect().values("orders", 0), ["a", "b", "d"], "{path}");
    assert_eq!(served.connect().values("others", 0), ["c"], "{path}");
}

#[test]
fn without_the_index_of_commits_the_history_is_refused_and_records_are_read() {
    for cut_to in [None, Some(32)] {
        check("/data/feeds/0/commits.index", cut_to, &["orders..commits", "orders..stream-1"]);
    }
}

#[test]
fn without_the_runs_feed_space_is_refused_and_records_are_read() {
    for cut_to in [None, Some(32)] {
        check("/data/feeds/0/0/feed.runs", cut_to, &["orders..feed", "orders..commit-1"]);
    }
}

#[test]
fn without_the_manifests_the_history_is_refused_and_records_are_read() {
    for cut_to in [None, Some(100)] {
        check("/data/feeds/0/commits.log", cut_to, &["orders..commits"]);
    }
}

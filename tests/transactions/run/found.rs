//! Everything there is at the end of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use streamstack::cli::client::{Bounds, Client, Isolation as Asked, OffsetOf, Record};
use streamstack::disk::SplitMix;

use super::super::checker::{Commit, Found, Isolation, Place, Range, Row, Value};
use super::super::reading;
use super::member::{GROUP, Member};
use super::reader::asked;
use super::writer::Writer;
use super::{FEEDS, NUM_PARTITIONS, TOPICS};

/// Until then all is sealed.
const SEALED_MAX: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);
/// Views that are read, of each feed.
const NUM_RANGES: u64 = 40;
/// Commits of one view.
const RANGE_MAX: u64 = 100;

#[derive(Deserialize)]
struct Manifest {
    commit: i64,
    partitions: Vec<Part>,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Part {
    partition: i32,
    feed_base: i64,
    count: i64,
}

#[derive(Deserialize)]
struct Sibling {
    feed: String,
    commit: i64,
}

/// Nobody writes any more, and no transaction is open.
pub fn all(client: &mut Client, num_writers: u32, random: &mut SplitMix) -> Found {
    let mut found = Found::default();
    for (topic, feed) in TOPICS.into_iter().zip(FEEDS) {
        let mut rows = BTreeMap::new();
        for partition in 0..NUM_PARTITIONS {
            nothing_is_held_back(client, topic, partition);
            let place = Place { topic, partition };
            found.log.insert(place, partition_of(client, place, Isolation::Uncommitted));
            let committed = partition_of(client, place, Isolation::Committed);
            wait_until_sealed(client, feed, partition, committed.len() as i64);
            found.committed.insert(place, committed);
            let place = Place { topic: feed, partition };
            rows.insert(place, partition_of(client, place, Isolation::Committed));
        }
        let commits = commits_of(client, topic, &rows);
        found.feed.extend(rows);
        found.ranges.extend(ranges_of(client, topic, commits.len() as u64, random));
        found.commits.insert(topic, commits);
    }
    let groups = (0..num_writers).map(|number| (number, Writer::group(number)));
    for (number, group) in groups.chain([(GROUP, Member::group_name())]) {
        for position in client.group_positions(&group).unwrap() {
            let topic = TOPICS.into_iter().find(|topic| *topic == position.topic).expect("a topic of the run");
            found.positions.insert((number, Place { topic, partition: position.partition }), position.offset);
        }
    }
    found
}

/// The last stable offset is the end: nothing hangs.
fn nothing_is_held_back(client: &mut Client, topic: &str, partition: i32) {
    let mut end = |isolation| client.offset(topic, partition, OffsetOf::End, isolation).unwrap();
    let (stable, high) = (end(Asked::ReadCommitted), end(Asked::ReadUncommitted));
    assert_eq!(stable, high, "{topic}-{partition} is held back, and no transaction is open");
}

fn partition_of(client: &mut Client, place: Place, isolation: Isolation) -> Vec<Row> {
    reading::partition(client, place.topic, place.partition, asked(isolation)).iter().map(row).collect()
}

fn row(record: &Record) -> Row {
    (record.offset, Value::read(record.value.as_deref().unwrap_or_default()))
}

fn wait_until_sealed(client: &mut Client, feed: &str, partition: i32, num: i64) {
    let began = Instant::now();
    while client.bounds_of(feed, partition, Asked::ReadCommitted).unwrap().end < num {
        assert!(began.elapsed() < SEALED_MAX, "{feed}-{partition} does not come to its {num} records");
        thread::sleep(PAUSE);
    }
}

fn commits_of(client: &mut Client, topic: &str, feed: &BTreeMap<Place, Vec<Row>>) -> Vec<Commit> {
    let history = format!("{topic}..commits");
    let bounds: Bounds = client.bounds(&history).unwrap()[0];
    let manifests = client.read(&history, bounds).unwrap();
    assert_eq!(manifests.len() as i64, bounds.end - bounds.start, "{history} has gaps");
    manifests.iter().map(|record| commit_of(record, feed)).collect()
}

/// A commit with the records of feed space that its manifest claims.
fn commit_of(record: &Record, feed: &BTreeMap<Place, Vec<Row>>) -> Commit {
    let manifest: Manifest = serde_json::from_slice(record.value.as_deref().unwrap_or_default()).unwrap();
    assert_eq!(manifest.commit, record.offset, "the manifest at this offset is of another commit");
    let siblings: BTreeSet<(String, i64)> =
        manifest.siblings.into_iter().map(|sibling| (sibling.feed, sibling.commit)).collect();
    let claimed = |part: &Part| {
        let place = feed.keys().find(|place| place.partition == part.partition).expect("a partition of the feed");
        let claims = part.feed_base..part.feed_base + part.count;
        let rows: Vec<Row> = feed[place].iter().filter(|(offset, _)| claims.contains(offset)).copied().collect();
        (part.partition, rows)
    };
    Commit { number: manifest.commit, rows: manifest.partitions.iter().map(claimed).collect(), siblings }
}

fn by_partition(client: &mut Client, view: &str) -> BTreeMap<i32, Vec<Row>> {
    let mut rows: BTreeMap<i32, Vec<Row>> = BTreeMap::new();
    for record in client.read_to_end(view).unwrap() {
        rows.entry(record.partition).or_default().push(row(&record));
    }
    rows
}

/// Some commits, and some ranges of commits, each read through its view.
fn ranges_of(client: &mut Client, topic: &'static str, num: u64, random: &mut SplitMix) -> Vec<Range> {
    let num_ranges = if num == 0 { 0 } else { NUM_RANGES };
    let mut ranges = Vec::new();
    for number in 0..num_ranges {
        let first = random.below(num) as i64;
        let (last, view) = match number % 2 {
            0 => (first, format!("{topic}..commit-{first}")),
            _ => {
                let last = first + random.below((num - first as u64).min(RANGE_MAX)) as i64;
                (last, format!("{topic}..commits-{first}-{last}"))
            }
        };
        ranges.push(Range { topic, first, last, rows: by_partition(client, &view) });
    }
    ranges
}

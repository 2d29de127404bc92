//! Looking up runs, commits and stream events.

use super::*;
use crate::model::{CommitNumber, CommitRow, FeedOffset, RunRow, StreamId, Told};

fn run(commit: i64, feed_base: i64, log_base: i64, count: i64) -> RunRow {
    RunRow { commit: CommitNumber(commit), feed_base: FeedOffset(feed_base), log_base: Offset(log_base), count }
}

#[test]
fn runs_are_found_by_feed_offset_and_by_commit() {
    let fixture = Fixture::new();
    let runs = vec![run(1, 0, 0, 10), run(1, 10, 20, 5), run(4, 15, 10, 10), run(5, 25, 25, 1)];
    let write = TailWrite::Runs { feed: FEED, partition: PartitionId(0), row: 0, runs: runs.clone() };
    fixture.directory.write(Lsn(1), &[write]).unwrap();
    let partition = fixture.partition();
    let covering = |from, end, num_max| partition.runs_covering(0, FeedOffset(from), FeedOffset(end), num_max).unwrap();
    assert_eq!(covering(0, 26, 9), runs);
    assert_eq!(covering(9, 11, 9), runs[..2]);
    assert_eq!(covering(10, 15, 9), runs[1..2]);
    assert_eq!(covering(24, 26, 1), runs[2..3]);
    assert_eq!(covering(26, 26, 9), []);
    let base_of = |commit, end| partition.runs().base_of(0, CommitNumber(commit), FeedOffset(end)).unwrap().0;
    assert_eq!([0, 1, 2, 4, 5, 6].map(|commit| base_of(commit, 26)), [0, 0, 15, 15, 25, 26]);
    // What is written and not published yet is not there.
    assert_eq!(base_of(5, 25), 25);
}

/// Commits of 100 streams in another order, some with labels; returns their manifests.
fn commits(fixture: &Fixture) -> Vec<Bytes> {
    let mut position = 0;
    let mut manifests = Vec::new();
    for number in 0..100_i64 {
        let batch = batch(number, &[number / 3 * 10]);
        let row = CommitRow {
            commit: CommitNumber(number),
            position,
            stream: StreamId(99 - number),
            sealed: Timestamp(number / 3 * 10),
            label_hash: (number % 7 == 0) as u64 * 5,
        };
        fixture
            .directory
            .write(Lsn(1), &[TailWrite::Commit { feed: FEED, position, row, batch: batch.clone() }])
            .unwrap();
        position += batch.len() as u64;
        manifests.push(batch);
    }
    manifests
}

#[test]
fn commits_are_read_by_number_in_whole_manifests() {
    let fixture = Fixture::new();
    let manifests = commits(&fixture);
    let feed = fixture.directory.feed(FEED).unwrap();
    let size = manifests[0].len();
    for (from, end) in [(0, 100), (3, 50), (99, 100), (50, 51)] {
        for num in [0, 1, 2, 7, 200] {
            let bytes = feed.commits().read(CommitNumber(from), CommitNumber(end), num * size + 10).unwrap();
            let last = (from as usize + num.max(1)).min(end as usize);
            assert_eq!(bytes, manifests[from as usize..last].concat(), "{from}..{end}, {num}");
        }
    }
    assert!(feed.commits().read(CommitNumber(5), CommitNumber(5), 9_999).unwrap().is_empty());
}

#[test]
fn commits_are_found_by_time_label_and_stream() {
    let fixture = Fixture::new();
    commits(&fixture);
    let feed = fixture.directory.feed(FEED).unwrap();
    let end = CommitNumber(98);
    let from = |time| feed.commits().first_sealed_from(Timestamp(time), CommitNumber(0), end).unwrap().0;
    assert_eq!([i64::MIN, 0, 1, 10, 11, 320, 1000].map(from), [0, 0, 3, 3, 6, 96, 98]);
    let named = |hash, end| {
        feed.commits().newest_with_label(hash, CommitNumber(0), CommitNumber(end)).unwrap().map(|row| row.commit.0)
    };
    assert_eq!([named(5, 98), named(5, 91), named(5, 0), named(6, 98)], [Some(91), Some(84), None, None]);
    let of_stream =
        |stream| feed.commits().of_stream(StreamId(stream), CommitNumber(0), end).unwrap().map(|row| row.commit.0);
    assert_eq!([of_stream(99), of_stream(50), of_stream(0), of_stream(500)], [Some(0), Some(49), None, None]);
}

#[test]
fn stream_events_are_read_by_number_and_time() {
    let fixture = Fixture::new();
    let mut position = 0;
    let mut events = Vec::new();
    for event in 0..300_i64 {
        let (at, batch) = (Timestamp(event * 2), batch(event, &[event * 2]));
        let (stream, told) = (StreamId(0), Told::Sealed);
        let write = TailWrite::StreamEvent { feed: FEED, event, position, at, stream, told, batch: batch.clone() };
        fixture.directory.write(Lsn(1), &[write]).unwrap();
        position += batch.len() as u64;
        events.push(batch);
    }
    let feed = fixture.directory.feed(FEED).unwrap();
    assert_eq!(feed.streams().read(0, 300, 1 << 20).unwrap(), events.concat());
    assert_eq!(feed.streams().read(120, 300, 1).unwrap(), events[120]);
    assert_eq!(feed.streams().read(120, 122, 1 << 20).unwrap(), events[120..122].concat());
    let from = |time| feed.streams().first_from(Timestamp(time), 0, 300).unwrap();
    assert_eq!([0, 1, 2, 400, 5_000].map(from), [0, 1, 1, 200, 300]);
}

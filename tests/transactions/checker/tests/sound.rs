//! Two transactional producers, one of which aborts and is once not told how its commit ended, a plain producer, readers.

use std::collections::{BTreeMap, BTreeSet};

use super::super::history::{Commit, Event, Found, History, Isolation, Place, Process, Range, Row, Txn, Value};

pub const ALPHA_0: Place = Place { topic: "alpha", partition: 0 };
pub const ALPHA_1: Place = Place { topic: "alpha", partition: 1 };
pub const BETA_0: Place = Place { topic: "beta", partition: 0 };
pub const ALPHA_FEED_0: Place = Place { topic: "alpha..feed", partition: 0 };
pub const ALPHA_FEED_1: Place = Place { topic: "alpha..feed", partition: 1 };
pub const BETA_FEED_0: Place = Place { topic: "beta..feed", partition: 0 };

pub const FIRST: Txn = Txn { producer: 0, number: 0 };
pub const ABORTED: Txn = Txn { producer: 1, number: 0 };
/// Nobody was told that it was committed.
pub const UNTOLD: Txn = Txn { producer: 1, number: 1 };

pub const READER: u32 = 9;
const PLAIN: u32 = 2;

pub fn value(producer: u32, n: u32) -> Value {
    Value { producer, epoch: 0, n }
}

pub fn polled(reader: u32, place: Place, row: Row, isolation: Isolation, txn: Option<Txn>) -> Event {
    Event::Polled { reader, assignment: 0, place, row, isolation, txn }
}

fn sent(txn: Option<Txn>, place: Place, (offset, value): Row) -> [Event; 2] {
    [Event::Sent { value, place, txn }, Event::Acked { value, offset: Some(offset) }]
}

/// Moves its producer's group on and asks for the commit.
fn committing(txn: Txn, offset: i64) -> [Event; 2] {
    [Event::Staged { txn, group: txn.producer, place: ALPHA_0, offset }, Event::Committing { txn }]
}

pub fn events() -> Vec<Event> {
    use Isolation::{Committed, Uncommitted};
    let mut events = Vec::new();
    events.extend(sent(Some(FIRST), ALPHA_0, (0, value(0, 0))));
    events.extend(sent(Some(FIRST), BETA_0, (0, value(0, 1))));
    events.extend(committing(FIRST, 1));
    events.push(Event::Ended { txn: FIRST, committed: true });
    events.push(Event::Position { group: 0, place: ALPHA_0, offset: Some(1) });
    events.push(Event::Owned { group: 7, place: ALPHA_0, member: 1, owned: true });
    events.push(polled(1, ALPHA_0, (0, value(0, 0)), Committed, Some(ABORTED)));
    events.extend(sent(Some(ABORTED), ALPHA_0, (2, value(1, 0))));
    events.extend(sent(Some(ABORTED), ALPHA_1, (0, value(1, 1))));
    events.push(Event::Staged { txn: ABORTED, group: 1, place: ALPHA_0, offset: 77 });
    events.push(polled(READER, ALPHA_0, (0, value(0, 0)), Uncommitted, None));
    events.push(polled(READER, ALPHA_0, (2, value(1, 0)), Uncommitted, None));
    events.push(Event::Ended { txn: ABORTED, committed: false });
    events.push(Event::Position { group: 1, place: ALPHA_0, offset: None });
    events.extend(sent(None, ALPHA_1, (2, value(PLAIN, 0))));
    events.push(polled(2, ALPHA_0, (0, value(0, 0)), Committed, Some(UNTOLD)));
    events.extend(sent(Some(UNTOLD), ALPHA_0, (4, value(1, 2))));
    events.extend(sent(Some(UNTOLD), BETA_0, (2, value(1, 3))));
    events.extend(committing(UNTOLD, 1));
    events.push(Event::Owned { group: 7, place: ALPHA_0, member: 1, owned: false });
    events.push(Event::Owned { group: 7, place: ALPHA_0, member: 2, owned: true });
    events.push(polled(READER + 1, ALPHA_0, (0, value(0, 0)), Committed, None));
    events.push(polled(READER + 1, ALPHA_0, (4, value(1, 2)), Committed, None));
    events.push(polled(READER + 1, ALPHA_FEED_0, (0, value(0, 0)), Uncommitted, None));
    events.push(polled(READER + 1, ALPHA_FEED_0, (1, value(1, 2)), Uncommitted, None));
    events
}

fn commit(number: i64, rows: &[(i32, Row)], siblings: &[(&str, i64)]) -> Commit {
    let siblings: BTreeSet<(String, i64)> = siblings.iter().map(|(topic, n)| ((*topic).to_owned(), *n)).collect();
    Commit { number, rows: by_partition(rows), siblings }
}

fn by_partition(rows: &[(i32, Row)]) -> BTreeMap<i32, Vec<Row>> {
    let mut found: BTreeMap<i32, Vec<Row>> = BTreeMap::new();
    rows.iter().for_each(|(partition, row)| found.entry(*partition).or_default().push(*row));
    found
}

fn found() -> Found {
    let (first, untold, plain) = (value(0, 0), value(1, 2), value(PLAIN, 0));
    let alpha = vec![
        commit(0, &[(0, (0, first))], &[("beta", 0)]),
        commit(1, &[(1, (0, plain))], &[]),
        commit(2, &[(0, (1, untold))], &[("beta", 1)]),
    ];
    let beta = vec![
        commit(0, &[(0, (0, value(0, 1)))], &[("alpha", 0)]),
        commit(1, &[(0, (1, value(1, 3)))], &[("alpha", 2)]),
    ];
    let beta_log = vec![(0, value(0, 1)), (2, value(1, 3))];
    Found {
        log: BTreeMap::from([
            (ALPHA_0, vec![(0, first), (2, value(1, 0)), (4, untold)]),
            (ALPHA_1, vec![(0, value(1, 1)), (2, plain)]),
            (BETA_0, beta_log.clone()),
        ]),
        committed: BTreeMap::from([
            (ALPHA_0, vec![(0, first), (4, untold)]),
            (ALPHA_1, vec![(2, plain)]),
            (BETA_0, beta_log),
        ]),
        feed: BTreeMap::from([
            (ALPHA_FEED_0, vec![(0, first), (1, untold)]),
            (ALPHA_FEED_1, vec![(0, plain)]),
            (BETA_FEED_0, vec![(0, value(0, 1)), (1, value(1, 3))]),
        ]),
        commits: BTreeMap::from([("alpha", alpha), ("beta", beta)]),
        ranges: vec![Range {
            topic: "alpha",
            first: 0,
            last: 1,
            rows: by_partition(&[(0, (0, first)), (1, (0, plain))]),
        }],
        positions: BTreeMap::from([((0, ALPHA_0), 1), ((1, ALPHA_0), 1)]),
    }
}

pub fn history() -> History {
    let process = Process {
        log: vec!["2026-01-01T00:00:00Z  INFO streamstack: ready".to_owned()],
        rss_peak_mb: 100,
        rss_max_mb: 512,
        progress: BTreeMap::from([("producer 0".to_owned(), true), ("producer 1".to_owned(), true)]),
    };
    History { events: events(), found: found(), process }
}

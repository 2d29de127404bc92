//! Views equal a model that is fed with what was committed: `..feed`, each commit, ranges of commits, siblings.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Commit, History, Place, Range, Row, Txn, Value};
use super::index::Index;
use super::{Fault, Kind};

pub fn check(history: &History, index: &Index) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut tell = |what: String| faults.push(Fault::new(Kind::View, what));
    for (place, rows) in &history.found.feed {
        same_records(*place, rows, history.found.committed.get(&place.plain())).into_iter().for_each(&mut tell);
        commits_make_the_feed(*place, rows, &history.found.commits[place.plain().topic])
            .into_iter()
            .for_each(&mut tell);
    }
    for (topic, commits) in &history.found.commits {
        numbers(topic, commits).into_iter().for_each(&mut tell);
    }
    one_commit_each(history, index).into_iter().for_each(&mut tell);
    for range in &history.found.ranges {
        is_its_commits(range, &history.found.commits[range.topic]).into_iter().for_each(&mut tell);
    }
    faults
}

fn numbers(topic: &str, commits: &[Commit]) -> Option<String> {
    let numbers: Vec<i64> = commits.iter().map(|commit| commit.number).collect();
    let dense = numbers.iter().zip(0..).all(|(number, expected)| *number == expected);
    (!dense).then(|| format!("the commits of {topic} are not numbered without a gap: {numbers:?}"))
}

/// Feed space holds the committed records, in whatever order.
fn same_records(place: Place, feed: &[Row], committed: Option<&Vec<Row>>) -> Option<String> {
    let set = |rows: &[Row]| rows.iter().map(|(_, value)| *value).collect::<BTreeSet<Value>>();
    let (feed, plain) = (set(feed), set(committed.map_or(&[], |rows| rows)));
    let (more, less): (Vec<_>, Vec<_>) = (feed.difference(&plain).collect(), plain.difference(&feed).collect());
    (feed != plain).then(|| format!("{place:?} has {more:?} more than the plain topic, and lacks {less:?}"))
}

fn commits_make_the_feed(place: Place, feed: &[Row], commits: &[Commit]) -> Option<String> {
    let made = joined(commits, place.partition);
    let dense = feed.iter().zip(0..).all(|((offset, _), expected)| *offset == expected);
    (!dense || made != feed).then(|| format!("{place:?} is not its commits one after another: {feed:?}, {made:?}"))
}

fn joined(commits: &[Commit], partition: i32) -> Vec<Row> {
    commits.iter().flat_map(|commit| commit.rows.get(&partition).into_iter().flatten().copied()).collect()
}

fn is_its_commits(range: &Range, commits: &[Commit]) -> Option<String> {
    let inside: Vec<Commit> =
        commits.iter().filter(|commit| (range.first..=range.last).contains(&commit.number)).cloned().collect();
    let partitions: BTreeSet<i32> =
        range.rows.keys().chain(inside.iter().flat_map(|commit| commit.rows.keys())).copied().collect();
    let differs =
        |partition: &i32| range.rows.get(partition).cloned().unwrap_or_default() != joined(&inside, *partition);
    let Range { topic, first, last, .. } = range;
    partitions.iter().any(differs).then(|| format!("{topic}..commits-{first}-{last} is not its commits"))
}

/// A transaction is one commit on each feed, with nothing of others in it, and these name each other.
fn one_commit_each(history: &History, index: &Index) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut of_txn: BTreeMap<Txn, BTreeMap<&str, &Commit>> = BTreeMap::new();
    for (topic, commit) in
        history.found.commits.iter().flat_map(|(topic, all)| all.iter().map(move |one| (*topic, one)))
    {
        let values = commit.rows.values().flatten().map(|(_, value)| *value);
        let txns: BTreeSet<Option<Txn>> = values.map(|value| index.txn_of(value)).collect();
        if txns.len() > 1 {
            wrong.push(format!("commit {} of {topic} is of several transactions: {txns:?}", commit.number));
        }
        for txn in txns.into_iter().flatten() {
            if let Some(other) = of_txn.entry(txn).or_default().insert(topic, commit) {
                wrong.push(format!("{txn:?} is commits {} and {} of {topic}", other.number, commit.number));
            }
        }
    }
    for (txn, commits) in &of_txn {
        wrong.extend(commits.keys().filter_map(|topic| siblings(*txn, topic, commits)));
    }
    wrong
}

fn siblings(txn: Txn, topic: &str, commits: &BTreeMap<&str, &Commit>) -> Option<String> {
    let others = commits.iter().filter(|(other, _)| **other != topic);
    let expected: BTreeSet<(String, i64)> =
        others.map(|(other, commit)| ((*other).to_owned(), commit.number)).collect();
    let commit = commits[topic];
    let told = &commit.siblings;
    (*told != expected)
        .then(|| format!("commit {} of {topic}, {txn:?}: siblings {told:?}, not {expected:?}", commit.number))
}

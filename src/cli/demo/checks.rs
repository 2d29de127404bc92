//! The feed read back through several names, each compared record by record with what the polls held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::FEED;
use super::feeder::partition_of;
use super::polls::{NUM_CHANGES, NUM_DISTINCT, NUM_KEYS, NUM_RECORDS, Poll, RECORDS_BY_POLL, Row};
use super::reader::Commit;
use crate::cli::client::{Client, ClientError, Record};
use crate::cli::paint::{Paint, grouped};

/// What came out of every check.
pub struct Checks(Vec<Check>);

struct Check {
    /// The topic or view that was read.
    name: String,
    is_right: bool,
    finding: String,
}

/// Reads the feed back.
pub fn read_back(client: &mut Client, polls: &[Poll], commits: &[Commit]) -> Result<Checks, ClientError> {
    Ok(Checks(vec![
        history(polls, commits),
        each_commit(client, polls)?,
        view(client, "..commit-9", &polls[9..=9], "the poll of 09:59 and nothing else")?,
        view(client, "..commits-6-9", &polls[6..=9], "four polls, both ends included")?,
        whole_feed(client, polls)?,
        view(client, "", polls, "the plain topic has them all too")?,
        selected(client, "dedup", first_of_each_row(polls), NUM_DISTINCT, "each status of a flight once")?,
        selected(client, "latest", last_of_each_key(polls), NUM_KEYS, "each flight with its last status")?,
        selected(client, "changed", each_change(polls), NUM_CHANGES, "each status that differs from the one before")?,
        broken_off(client, polls)?,
    ]))
}

impl Checks {
    pub fn are_all_right(&self) -> bool {
        self.0.iter().all(|check| check.is_right)
    }

    pub fn table(&self, paint: Paint) -> String {
        let width = self.0.iter().map(|check| check.name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for Check { name, is_right, finding } in &self.0 {
            let mark = if *is_right { paint.good("✓") } else { paint.bad("✗") };
            let _ = writeln!(text, "  {mark} {name:width$}  {finding}");
        }
        text.push('\n');
        text
    }
}

/// The manifests: as many as polls, numbered without a gap, each with its poll's label and count, opened before sealed.
fn history(polls: &[Poll], commits: &[Commit]) -> Check {
    let as_polled = polls.iter().zip(RECORDS_BY_POLL).zip(commits).zip(0..).all(|(((poll, count), commit), number)| {
        commit.commit == number
            && commit.label.as_ref() == Some(&poll.label)
            && commit.records == count as u64
            && commit.opened <= commit.sealed
    });
    let is_right = as_polled && commits.len() == polls.len() && commits.is_sorted_by_key(|commit| commit.sealed);
    let finding = if is_right {
        format!("{} commits, one for each poll, 4 of them empty", commits.len())
    } else {
        format!("{} commits that are not the {} polls", commits.len(), polls.len())
    };
    Check { name: format!("{FEED}..commits"), is_right, finding }
}

/// Every commit read alone.
fn each_commit(client: &mut Client, polls: &[Poll]) -> Result<Check, ClientError> {
    let mut wrong = Vec::new();
    for (number, poll) in polls.iter().enumerate() {
        let found = client.read_to_end(&format!("{FEED}..commit-{number}"))?;
        if rows(&found) != expected(std::slice::from_ref(poll)) {
            wrong.push(number);
        }
    }
    let is_right = wrong.is_empty();
    let finding =
        if is_right { "each alone is its poll, in order".to_owned() } else { format!("not their polls: {wrong:?}") };
    Ok(Check { name: format!("{FEED}..commit-0 ... 23"), is_right, finding })
}

/// One name, which shall give exactly these polls.
fn view(client: &mut Client, selector: &str, polls: &[Poll], meaning: &str) -> Result<Check, ClientError> {
    let name = format!("{FEED}{selector}");
    let found = client.read_to_end(&name)?;
    let expected = expected(polls);
    let is_right = rows(&found) == expected;
    let finding = if is_right {
        format!("{} records: {meaning}", grouped(found.len() as u64))
    } else {
        format!("{} records, but {} were polled", grouped(found.len() as u64), grouped(expected.len() as u64))
    };
    Ok(Check { name, is_right, finding })
}

/// `..feed`, with the counts that are known by other means.
fn whole_feed(client: &mut Client, polls: &[Poll]) -> Result<Check, ClientError> {
    let name = format!("{FEED}..feed");
    let found = rows(&client.read_to_end(&name)?);
    let num_distinct = found.iter().map(|(_, row)| row).collect::<BTreeSet<_>>().len();
    let num_keys = found.iter().map(|(_, row)| &row.key).collect::<BTreeSet<_>>().len();
    let counts = [found.len(), num_distinct, num_keys];
    let is_right = counts == [NUM_RECORDS, NUM_DISTINCT, NUM_KEYS] && found == expected(polls);
    let [records, distinct, flights] = counts.map(|count| grouped(count as u64));
    let finding = format!("{records} records, {distinct} of them distinct, of {flights} flights");
    Ok(Check { name, is_right, finding })
}

/// The records of the whole day in a mode.
fn selected(
    client: &mut Client,
    mode: &str,
    mut expected: Vec<(i32, Row)>,
    count: usize,
    meaning: &str,
) -> Result<Check, ClientError> {
    let name = format!("{FEED}..commits-0-{}..{mode}", RECORDS_BY_POLL.len() - 1);
    let found = rows(&client.read_to_end(&name)?);
    expected.sort_by_key(|(partition, _)| *partition);
    let is_right = found == expected && found.len() == count;
    let number = grouped(found.len() as u64);
    let finding = if is_right {
        format!("{number} records: {meaning}")
    } else {
        format!("{number} records, and not the {} that were expected", grouped(count as u64))
    };
    Ok(Check { name, is_right, finding })
}

fn first_of_each_row(polls: &[Poll]) -> Vec<(i32, Row)> {
    let mut seen = BTreeSet::new();
    in_feed_order(polls).into_iter().filter(|(_, row)| seen.insert(row.clone())).collect()
}

fn last_of_each_key(polls: &[Poll]) -> Vec<(i32, Row)> {
    let (mut seen, mut last) = (BTreeSet::new(), in_feed_order(polls));
    last.reverse();
    last.retain(|(_, row)| seen.insert(row.key.clone()));
    last.reverse();
    last
}

fn each_change(polls: &[Poll]) -> Vec<(i32, Row)> {
    let mut last = BTreeMap::new();
    let changes = |(_, row): &(i32, Row)| last.insert(row.key.clone(), row.value.clone()).as_ref() != Some(&row.value);
    in_feed_order(polls).into_iter().filter(changes).collect()
}

/// Commit by commit, and in each partition by partition.
fn in_feed_order(polls: &[Poll]) -> Vec<(i32, Row)> {
    polls.iter().flat_map(|poll| expected(std::slice::from_ref(poll))).collect()
}

/// `..streams`: the poll that broke off is known as a stream that was aborted, and is in no commit.
fn broken_off(client: &mut Client, polls: &[Poll]) -> Result<Check, ClientError> {
    let name = format!("{FEED}..streams");
    let found = client.read_to_end(&name)?;
    let ends = |event: &str| {
        let told = format!("\"event\":\"{event}\"");
        found.iter().filter(|record| text(&record.value).contains(&told)).count()
    };
    let is_right = (ends("sealed"), ends("aborted")) == (polls.len(), 1);
    let finding = if is_right {
        format!("{} sealed, and 1 aborted: the poll of 09:59 broke off at first, and left nothing", polls.len())
    } else {
        format!("{} sealed and {} aborted, not {} and 1", ends("sealed"), ends("aborted"), polls.len())
    };
    Ok(Check { name, is_right, finding })
}

/// The rows of these polls as they stand in the partitions: partition by partition, in the order of the polls.
fn expected(polls: &[Poll]) -> Vec<(i32, Row)> {
    let rows = polls.iter().flat_map(|poll| &poll.rows);
    let mut placed: Vec<(i32, Row)> = rows.map(|row| (partition_of(&row.key) as i32, row.clone())).collect();
    // A stable sort: within a partition the order stays.
    placed.sort_by_key(|(partition, _)| *partition);
    placed
}

fn rows(records: &[Record]) -> Vec<(i32, Row)> {
    records
        .iter()
        .map(|record| (record.partition, Row { key: text(&record.key), value: text(&record.value) }))
        .collect()
}

fn text(bytes: &Option<bytes::Bytes>) -> String {
    String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
}

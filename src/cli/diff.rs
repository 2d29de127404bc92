//! `streamstack diff`: what changed between two commits, key by key.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::broker_args::BrokerArgs;
use super::client::{Client, Record};
use super::failure::Failure;
use super::output::{Format, FormatArgs, note, write_out};
use super::paint::{Paint, counted, grouped};
use super::table::{Align, Table};
use super::text::{printable, put_bytes};

const EXAMPLES: &str = "\
Examples:
  streamstack diff orders 16 17            new, changed and vanished keys of commit 17 against commit 16
  streamstack diff orders 16 17 -o json | jq 'select(.change == \"gone\")'

Each commit is taken as a table: the last record of each key, tombstones left out. That is what two polls of
the same source show of it. Both tables are held in memory. Records without a key have no place in a table:
they are counted and left out.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The feed
    feed: String,
    /// The commit before
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    before: i64,
    /// The commit after
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    after: i64,
    #[command(flatten)]
    output: FormatArgs,
    #[command(flatten)]
    broker: BrokerArgs,
}

type Rows = BTreeMap<Bytes, Bytes>;

/// What became of a key, and its values before and after.
#[derive(Debug, PartialEq, Eq)]
enum Change<'a> {
    New(&'a Bytes),
    Changed(&'a Bytes, &'a Bytes),
    Gone(&'a Bytes),
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    if args.feed.contains("..") {
        return Err(Failure::Usage(format!("{} is a view: name the feed alone", args.feed)));
    }
    let mut client = args.broker.connect()?;
    let before = rows(&mut client, &args.feed, args.before)?;
    let after = rows(&mut client, &args.feed, args.after)?;
    let changes = changes(&before, &after);
    write_out(match args.output.format {
        Format::Table => format!("{}{}", table(&changes), summary(&changes, after.len())),
        Format::Json => changes.iter().map(|(key, change)| format!("{}\n", object(key, change))).collect(),
    })?;
    Ok(())
}

/// How many of each kind, and how many rows stayed as they were of the `num_after` that there are.
fn summary(changes: &[(&Bytes, Change<'_>)], num_after: usize) -> String {
    let count = |word: &str| changes.iter().filter(|(_, change)| change.word() == word).count();
    let same = num_after - count("new") - count("changed");
    format!(
        "{} new, {} changed, {} gone, {} the same\n",
        counted(count("new") as u64, "key"),
        grouped(count("changed") as u64),
        grouped(count("gone") as u64),
        grouped(same as u64)
    )
}

/// A commit as a table.
fn rows(client: &mut Client, feed: &str, commit: i64) -> Result<Rows, Failure> {
    let records = client.read_to_end(&format!("{feed}..commit-{commit}..live"))?;
    let (keyed, without_key): (Vec<Record>, Vec<Record>) = records.into_iter().partition(|record| record.key.is_some());
    if !without_key.is_empty() {
        let number = counted(without_key.len() as u64, "record");
        note(format_args!("commit {commit}: {number} without a key left out"));
    }
    let row = |record: Record| Some((record.key?, record.value.unwrap_or_default()));
    Ok(keyed.into_iter().filter_map(row).collect())
}

fn changes<'a>(before: &'a Rows, after: &'a Rows) -> Vec<(&'a Bytes, Change<'a>)> {
    let now = after.iter().filter_map(|(key, value)| match before.get(key) {
        None => Some((key, Change::New(value))),
        Some(old) if old != value => Some((key, Change::Changed(old, value))),
        Some(_) => None,
    });
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key)).map(|(key, old)| (key, Change::Gone(old)));
    let mut changes: Vec<_> = now.chain(gone).collect();
    changes.sort_by_key(|(key, _)| *key);
    changes
}

impl Change<'_> {
    fn word(&self) -> &'static str {
        match self {
            Change::New(_) => "new",
            Change::Changed(..) => "changed",
            Change::Gone(_) => "gone",
        }
    }

    fn values(&self) -> (Option<&Bytes>, Option<&Bytes>) {
        match self {
            Change::New(after) => (None, Some(after)),
            Change::Changed(before, after) => (Some(before), Some(after)),
            Change::Gone(before) => (Some(before), None),
        }
    }
}

fn table(changes: &[(&Bytes, Change<'_>)]) -> String {
    let columns = ["CHANGE", "KEY", "BEFORE", "AFTER"].map(|head| (head, Align::Left));
    let cell = |bytes: Option<&Bytes>| bytes.map_or_else(|| "-".to_owned(), |bytes| printable(bytes));
    let row = |(key, change): &(&Bytes, Change<'_>)| {
        let (before, after) = change.values();
        vec![change.word().to_owned(), printable(key), cell(before), cell(after)]
    };
    Table::new(&columns, Paint::of_stdout()).rows(&changes.iter().map(row).collect::<Vec<_>>())
}

fn object(key: &Bytes, change: &Change<'_>) -> Value {
    let (before, after) = change.values();
    let mut object = Map::from_iter([("change".to_owned(), json!(change.word()))]);
    put_bytes(&mut object, "key", Some(key));
    put_bytes(&mut object, "before", before.map(|bytes| &**bytes));
    put_bytes(&mut object, "after", after.map(|bytes| &**bytes));
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_new_changed_or_gone() {
        let rows = |rows: &[(&'static str, &'static str)]| -> Rows {
            rows.iter().map(|(key, value)| (Bytes::from(*key), Bytes::from(*value))).collect()
        };
        let (before, after) =
            (rows(&[("a", "1"), ("b", "1"), ("d", "1")]), rows(&[("b", "1"), ("c", "2"), ("d", "2")]));
        let found: Vec<String> =
            changes(&before, &after).iter().map(|(key, change)| object(key, change).to_string()).collect();
        assert_eq!(
            found,
            [
                r#"{"change":"gone","key":"a","before":"1","after":null}"#,
                r#"{"change":"new","key":"c","before":null,"after":"2"}"#,
                r#"{"change":"changed","key":"d","before":"1","after":"2"}"#,
            ]
            .map(|line| serde_json::from_str::<Value>(line).unwrap().to_string())
        );
    }
}

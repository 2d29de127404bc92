//! The history of a feed: manifests of commits with their index, and stream events.

use std::path::PathBuf;

use super::super::commits;
use super::super::error::FileError;
use super::super::feed::FeedEnds;
use super::super::indexed::Derive;
use super::super::records::Kind as Records;
use super::super::rows::{ROW_BYTES, Row};
use super::super::single;
use super::super::span::{Source, Span, Walk};
use super::super::streams;
use super::pieces::Pieces;
use super::{Feed, Item, Kind, Sink};
use crate::model::CommitNumber;

/// Shows and verifies the commits: one manifest a number, where its row says, and JSON.
pub fn commits(feed: &Feed<'_>, ends: &FeedEnds, sink: Sink<'_>) {
    let path = feed.folder.join("commits.log");
    let num_kept = ends.num_commits - ends.start.manifest.0 as u64;
    let item = Item::new(Kind::Commits, &path, 0).fact("feed", feed.id.0).fact("commits", num_kept);
    sink(item.fact("bytes", ends.commits_bytes).with(check_commits(feed, ends)));
}

/// Shows and verifies the stream events.
pub fn streams(feed: &Feed<'_>, ends: &FeedEnds, sink: Sink<'_>) {
    let path = feed.folder.join("streams.log");
    let item = Item::new(Kind::Streams, &path, 0).fact("feed", feed.id.0).fact("bytes", ends.streams_bytes);
    let num_kept = ends.num_events - ends.start.event as u64;
    sink(item.fact("events", num_kept).with(check_streams(feed, ends)));
}

fn check_commits(feed: &Feed<'_>, ends: &FeedEnds) -> Result<(), FileError> {
    let first = ends.start.manifest.0 as u64;
    let found = (first, ends.num_commits, ends.commits_bytes);
    let Some(table) = Table::open(feed, "commits", &commits::KIND, found)? else { return Ok(()) };
    let mut sealed_before = i64::MIN;
    table.check(commits::KIND.derive, &mut |number, row| {
        let commit = commits::decode(CommitNumber(number as i64), row);
        if commit.sealed.0 < sealed_before {
            return Err(format!("commit {number} is sealed before the one before it"));
        }
        sealed_before = commit.sealed.0;
        Ok(())
    })
}

fn check_streams(feed: &Feed<'_>, ends: &FeedEnds) -> Result<(), FileError> {
    let found = (ends.start.event as u64, ends.num_events, ends.streams_bytes);
    let Some(table) = Table::open(feed, "streams", &streams::KIND, found)? else { return Ok(()) };
    table.check(streams::KIND.derive, &mut |_, _| Ok(()))
}

/// A log of single records with its index, from the first record that is kept.
struct Table {
    log: Pieces,
    index_path: PathBuf,
    rows: Vec<Row>,
    first: u64,
    end: u64,
}

impl Table {
    /// None when no record is kept.
    fn open(
        feed: &Feed<'_>,
        name: &str,
        records: &Records,
        (first, end, log_bytes): (u64, u64, u64),
    ) -> Result<Option<Table>, FileError> {
        if first == end {
            return Ok(None);
        }
        let index_path = feed.folder.join(format!("{name}.index"));
        let index = Pieces::open(feed.disk, &index_path, first * ROW_BYTES, end * ROW_BYTES)?;
        let bytes = index.slice(first * ROW_BYTES, end * ROW_BYTES)?;
        let damaged = |number: u64, what| FileError::damaged(&index_path, number * ROW_BYTES, what);
        let decode = |(bytes, number): (&[u8], u64)| {
            let row = records.layout.decode_any(number, bytes);
            row.map_err(|flaw| damaged(number, format!("row {number}: {flaw}; it is made anew when it is next used")))
        };
        let rows: Result<Vec<Row>, FileError> =
            bytes.chunks_exact(ROW_BYTES as usize).zip(first..).map(decode).collect();
        let rows = rows?;
        let [start, ..] = rows[0];
        if start > log_bytes {
            return Err(damaged(first, format!("row {first} says that its record is at byte {start} of {log_bytes}")));
        }
        let log = Pieces::open(feed.disk, &feed.folder.join(format!("{name}.log")), start, log_bytes)?;
        Ok(Some(Table { log, index_path, rows, first, end }))
    }

    /// Each batch holds one record with a JSON value, their numbers are dense, and each gives the row that is there.
    fn check(&self, derive: Derive, each: Each<'_>) -> Result<(), FileError> {
        let [start, ..] = self.rows[0];
        let mut walk = Walk::new(&self.log, start, self.log.end);
        let mut next = self.first;
        // The first event kept knows of times before it.
        let mut before = Some(self.rows[0]);
        while let Some(span) = walk.next()? {
            let damaged = |what: String| FileError::damaged(self.log.path(), span.position, what);
            if next == self.end {
                return Err(damaged(format!("it holds more than the {next} records that there are")));
            }
            let stored = self.rows[(next - self.first) as usize];
            let row = self.derived(derive, span, next, before).map_err(damaged)?;
            let in_index = |what| FileError::damaged(&self.index_path, next * ROW_BYTES, what);
            if stored != row {
                let at = span.position;
                return Err(in_index(format!("row {next} does not agree with the record at byte {at} of the log")));
            }
            each(next, &stored).map_err(in_index)?;
            before = Some(stored);
            next += 1;
        }
        match next == self.end {
            true => Ok(()),
            false => {
                let what = format!("it holds {next} records of {}", self.end);
                Err(FileError::damaged(self.log.path(), self.log.end, what))
            }
        }
    }

    fn derived(&self, derive: Derive, span: Span, number: u64, before: Option<Row>) -> Result<Row, String> {
        let batch = self.log.slice(span.position, span.end()).map_err(|error| error.to_string())?;
        single::check(&batch, number).map_err(|what| format!("record {number}: {what}"))?;
        single::key_and_value(&batch, |_, value| {
            serde_json::from_slice::<serde::de::IgnoredAny>(value)
                .map(drop)
                .map_err(|error| format!("record {number} is not JSON: {error}"))
        })?;
        derive(span, &batch, before)
    }
}

/// Takes a record's number and its row, and says what is wrong with it.
type Each<'a> = &'a mut dyn FnMut(u64, &Row) -> Result<(), String>;

//! The history of a feed: manifests of commits with their index, and stream events.

use std::path::PathBuf;

use bytes::Bytes;

use crate::batch::{BatchHeader, checksum, records};

use super::super::commits;
use super::super::error::FileError;
use super::super::feed::FeedEnds;
use super::super::rows::{ROW_BYTES, Rows};
use super::super::span::{Source, Span, Walk};
use super::pieces::Pieces;
use super::{Feed, Item, Kind, Sink};

/// No manifest or event comes near it.
const DECODED_BYTES_MAX: usize = 256 << 20;

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
    let Some(table) = Table::open(feed, "commits", first, ends.num_commits, ends.commits_bytes)? else { return Ok(()) };
    let rows: Vec<_> = commits::decode_all(ends.start.manifest, table.rows.clone()).collect();
    let mut sealed_before = i64::MIN;
    table.check(&mut |number, span, key| {
        let row = rows[(number - first) as usize];
        let damaged = |what: String| Err(FileError::damaged(&table.index_path, number * ROW_BYTES, what));
        if row.position != span.position || row.sealed != span.max_timestamp || row.stream.to_string().as_bytes() != key
        {
            return damaged(format!(
                "row {number} does not agree with the manifest at byte {} of the log",
                span.position
            ));
        }
        if row.sealed.0 < sealed_before {
            return damaged(format!("commit {number} is sealed before the one before it"));
        }
        sealed_before = row.sealed.0;
        Ok(())
    })
}

fn check_streams(feed: &Feed<'_>, ends: &FeedEnds) -> Result<(), FileError> {
    let first = ends.start.event as u64;
    let Some(table) = Table::open(feed, "streams", first, ends.num_events, ends.streams_bytes)? else { return Ok(()) };
    let rows = Rows::new(table.rows.clone());
    let mut greatest = i64::MIN;
    table.check(&mut |number, span, _| {
        let [position, time, ..] = rows.at((number - first) as usize);
        // The first one kept knows of times before it.
        greatest = greatest.max(span.max_timestamp.0).max(if number == first { time as i64 } else { i64::MIN });
        if position != span.position || time as i64 != greatest {
            let what = format!("row {number} does not agree with the event at byte {} of the log", span.position);
            return Err(FileError::damaged(&table.index_path, number * ROW_BYTES, what));
        }
        Ok(())
    })
}

/// A log of single records with its index, from the first record that is kept.
struct Table {
    log: Pieces,
    index_path: PathBuf,
    rows: Bytes,
    first: u64,
    end: u64,
}

impl Table {
    /// None when no record is kept.
    fn open(feed: &Feed<'_>, name: &str, first: u64, end: u64, log_bytes: u64) -> Result<Option<Table>, FileError> {
        if first == end {
            return Ok(None);
        }
        let index_path = feed.folder.join(format!("{name}.index"));
        let index = Pieces::open(feed.disk, &index_path, first * ROW_BYTES, end * ROW_BYTES)?;
        let rows = index.slice(first * ROW_BYTES, end * ROW_BYTES)?;
        let [start, ..] = Rows::new(rows.clone()).at(0);
        if start > log_bytes {
            let what = format!("row {first} says that its record is at byte {start} of {log_bytes}");
            return Err(FileError::damaged(&index_path, first * ROW_BYTES, what));
        }
        let log = Pieces::open(feed.disk, &feed.folder.join(format!("{name}.log")), start, log_bytes)?;
        Ok(Some(Table { log, index_path, rows, first, end }))
    }

    /// Each batch holds one record with a JSON value, and their offsets are dense. Hands on each one's key.
    fn check(&self, each: Each<'_>) -> Result<(), FileError> {
        let [start, ..] = Rows::new(self.rows.clone()).at(0);
        let mut walk = Walk::new(&self.log, start, self.log.end);
        let mut next = self.first;
        while let Some(span) = walk.next()? {
            let damaged = |what: String| FileError::damaged(self.log.path(), span.position, what);
            if next == self.end {
                return Err(damaged(format!("it holds more than the {next} records that there are")));
            }
            let batch = self.log.slice(span.position, span.end())?;
            let header = BatchHeader::parse(&batch).map_err(|error| damaged(error.to_string()))?;
            if checksum(&batch) != header.crc {
                return Err(damaged(format!("the checksum of record {next} does not hold")));
            }
            if span.base_offset.0 != next as i64 || span.end_offset.0 != next as i64 + 1 {
                return Err(damaged(format!("record {} where {next} is due", span.base_offset)));
            }
            let records = records(&batch, DECODED_BYTES_MAX).map_err(|error| damaged(error.to_string()))?;
            let record = match records.iter().next() {
                Some(Ok(record)) => record,
                Some(Err(error)) => return Err(damaged(error.to_string())),
                None => return Err(damaged("an empty batch".to_owned())),
            };
            serde_json::from_slice::<serde::de::IgnoredAny>(record.value.unwrap_or_default())
                .map_err(|error| damaged(format!("record {next} is not JSON: {error}")))?;
            each(next, span, record.key.unwrap_or_default())?;
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
}

/// Takes a record's number, its place and its key.
type Each<'a> = &'a mut dyn FnMut(u64, Span, &[u8]) -> Result<(), FileError>;

//! The history of a feed: manifests of commits with their index, and stream events.

use crate::batch::{BatchHeader, checksum, records};

use super::super::commits;
use super::super::error::FileError;
use super::super::feed::FeedEnds;
use super::super::rows::ROW_BYTES;
use super::super::span::{Source, Span, Walk};
use super::{Feed, Item, Kind, Plain, Sink};

/// No manifest or event comes near it.
const DECODED_BYTES_MAX: usize = 256 << 20;

/// Shows and verifies the commits: one manifest a number, where its row says, and JSON.
pub fn commits(feed: &Feed<'_>, ends: &FeedEnds, sink: Sink<'_>) {
    let path = feed.folder.join("commits.log");
    let item = Item::new(Kind::Commits, &path, 0).fact("feed", feed.id.0).fact("commits", ends.num_commits);
    sink(item.fact("bytes", ends.commits_bytes).with(check_commits(feed, ends)));
}

/// Shows and verifies the stream events.
pub fn streams(feed: &Feed<'_>, ends: &FeedEnds, sink: Sink<'_>) {
    let path = feed.folder.join("streams.log");
    let item = Item::new(Kind::Streams, &path, 0).fact("feed", feed.id.0).fact("bytes", ends.streams_bytes);
    let mut num_events = 0;
    let outcome = Plain::known(feed.disk, path, ends.streams_bytes).and_then(|plain| match plain {
        Some(plain) => check_batches(&plain, ends.streams_bytes, &mut |_, _| {
            num_events += 1;
            Ok(())
        }),
        None => Ok(()),
    });
    sink(item.fact("events", num_events).with(outcome));
}

fn check_commits(feed: &Feed<'_>, ends: &FeedEnds) -> Result<(), FileError> {
    let index_bytes = ends.num_commits * ROW_BYTES;
    let log = Plain::known(feed.disk, feed.folder.join("commits.log"), ends.commits_bytes)?;
    let index = Plain::known(feed.disk, feed.folder.join("commits.index"), index_bytes)?;
    let (Some(log), Some(index)) = (log, index) else { return Ok(()) };
    let rows: Vec<_> = commits::decode_all(index.slice(0, index_bytes)?).collect();
    let mut number = 0;
    let mut sealed_before = i64::MIN;
    check_batches(&log, ends.commits_bytes, &mut |span, key| {
        let damaged = |what: String| Err(FileError::damaged(&index.path, number as u64 * ROW_BYTES, what));
        let Some(row) = rows.get(number) else { return damaged("it has fewer rows than there are commits".to_owned()) };
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
        number += 1;
        Ok(())
    })?;
    match number as u64 == ends.num_commits {
        true => Ok(()),
        false => Err(FileError::damaged(
            &log.path,
            ends.commits_bytes,
            format!("it holds {number} commits of {}", ends.num_commits),
        )),
    }
}

/// Takes a record's place and its key.
type Each<'a> = &'a mut dyn FnMut(Span, &[u8]) -> Result<(), FileError>;

/// Each batch holds one record with a JSON value, and their offsets are dense from 0. Hands on each one's key.
fn check_batches(plain: &Plain, end: u64, each: Each<'_>) -> Result<(), FileError> {
    let mut walk = Walk::new(plain, 0, end);
    let mut next = 0;
    while let Some(span) = walk.next()? {
        let damaged = |what: String| FileError::damaged(&plain.path, span.position, what);
        let batch = plain.slice(span.position, span.end())?;
        let header = BatchHeader::parse(&batch).map_err(|error| damaged(error.to_string()))?;
        if checksum(&batch) != header.crc {
            return Err(damaged(format!("the checksum of record {next} does not hold")));
        }
        if span.base_offset.0 != next || span.end_offset.0 != next + 1 {
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
        each(span, record.key.unwrap_or_default())?;
        next += 1;
    }
    Ok(())
}

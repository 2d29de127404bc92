//! A partition: the batches of its segments, the indexes beside them, and the runs of its feed space.

use std::path::PathBuf;

use crate::batch::{BatchHeader, checksum};
use crate::model::Offset;

use super::super::error::FileError;
use super::super::feed::PartitionEnds;
use super::super::index::{Index, IndexRow};
use super::super::log::{base_of, log_name};
use super::super::markers::Transactions;
use super::super::row::RUNS;
use super::super::rows::ROW_BYTES;
use super::super::runs;
use super::super::span::{Source, Span, Walk};
use super::pieces::Pieces;
use super::{Feed, Item, Kind, Plain, Selection, Sink, aborted};

/// The batches seen in a partition: where each starts, and what they say of transactions.
struct Seen {
    next: Option<Offset>,
    bases: Vec<i64>,
    transactions: Transactions,
    /// Of some, nothing is known.
    is_flawed: bool,
}

/// Shows and verifies a partition.
pub fn inspect(feed: &Feed<'_>, partition: u32, ends: &PartitionEnds, selection: &Selection, sink: Sink<'_>) {
    let folder = feed.folder.join(partition.to_string());
    let mut seen = Seen { next: None, bases: Vec::new(), transactions: Transactions::default(), is_flawed: false };
    let names = feed.disk.list(&folder).unwrap_or_default();
    let logs = names.iter().filter(|name| name.ends_with(".log"));
    let mut bases: Vec<Offset> = logs.filter_map(|name| base_of(name)).collect();
    bases.retain(|base| *base < ends.log.segment);
    match ends.log.position {
        // Nothing is left; what is still there waits to be removed.
        0 => bases.clear(),
        _ => bases.push(ends.log.segment),
    }
    let num_below = bases.iter().skip(1).take_while(|next| **next <= ends.start).count();
    bases.drain(..num_below);
    for base in bases {
        let known = if base == ends.log.segment { ends.log.position } else { 1 };
        let path = folder.join(log_name(base));
        let item = Item::new(Kind::Segment, &path, 0)
            .fact("feed", feed.id.0)
            .fact("partition", partition)
            .fact("base", base.0);
        match Plain::known(feed.disk, path, known) {
            Ok(Some(plain)) => {
                let end = if base == ends.log.segment { known } else { plain.size };
                segment(feed, &plain, base, end, item, &mut seen, selection, sink);
            }
            Ok(None) => (),
            Err(error) => {
                seen.is_flawed = true;
                sink(item.with(Err(error)));
            }
        }
    }
    let item = Item::new(Kind::Runs, &folder.join("feed.runs"), 0).fact("feed", feed.id.0).fact("partition", partition);
    sink(check_runs(feed, folder.join("feed.runs"), ends, &seen, item));
    if ends.num_aborted > 0 {
        let path = folder.join("aborted.index");
        let item = Item::new(Kind::Aborted, &path, 0).fact("feed", feed.id.0).fact("partition", partition);
        let expected = Some(&seen.transactions.aborted).filter(|_| !seen.is_flawed);
        sink(aborted::check(feed, &path, ends, expected, item));
    }
}

#[expect(clippy::too_many_arguments, reason = "one call; each is a different thing")]
fn segment(
    feed: &Feed<'_>,
    plain: &Plain,
    base: Offset,
    end: u64,
    item: Item,
    seen: &mut Seen,
    selection: &Selection,
    sink: Sink<'_>,
) {
    let mut rebuilt = Index::new(base);
    let mut starts = Vec::new();
    let first = seen.bases.len();
    let expected = seen.next.replace(base);
    let outcome = match expected.filter(|expected| *expected != base) {
        Some(expected) => {
            Err(FileError::damaged(&plain.path, 0, format!("it starts at offset {base}, {expected} is due")))
        }
        None => walk(plain, end, seen, &mut |span| {
            rebuilt.add(span.base_offset, span.end_offset, span.max_timestamp, span.num_bytes);
            starts.push(span.position);
            if selection.batches {
                sink(batch_item(plain, span));
            }
        }),
    };
    seen.is_flawed |= outcome.is_err();
    sink(
        item.fact("bytes", end)
            .fact("rewritten_bytes", plain.size.saturating_sub(end))
            .fact("batches", seen.bases.len() - first)
            .fact("next_offset", rebuilt.next_offset.0)
            .with(outcome),
    );
    index(feed, plain, base, &rebuilt, &starts, sink);
}

fn walk(plain: &Plain, end: u64, seen: &mut Seen, each: &mut dyn FnMut(Span)) -> Result<(), FileError> {
    let mut walk = Walk::new(plain, 0, end);
    while let Some(span) = walk.next()? {
        let damaged = |what: String| Err(FileError::damaged(&plain.path, span.position, what));
        let batch = plain.slice(span.position, span.end())?;
        let Ok(header) = BatchHeader::parse(&batch) else { return damaged("no batch header".to_owned()) };
        if let Some(next) = seen.next.filter(|next| *next != span.base_offset) {
            return damaged(format!("a batch at offset {} where {next} is due", span.base_offset));
        }
        if checksum(&batch) != header.crc {
            return damaged(format!("the checksum of the batch at offset {} does not hold", span.base_offset));
        }
        if let Err(error) = seen.transactions.see(&batch, span.end_offset) {
            return damaged(error.to_string());
        }
        seen.next = Some(span.end_offset);
        seen.bases.push(span.base_offset.0);
        each(span);
    }
    Ok(())
}

fn batch_item(plain: &Plain, span: Span) -> Item {
    Item::new(Kind::Batch, &plain.path, span.position)
        .fact("base", span.base_offset.0)
        .fact("next_offset", span.end_offset.0)
        .fact("bytes", span.num_bytes)
        .fact("max_timestamp", span.max_timestamp.0)
}

/// Holds the stored index against the batches.
fn index(feed: &Feed<'_>, plain: &Plain, base: Offset, rebuilt: &Index, starts: &[u64], sink: Sink<'_>) {
    let path = plain.path.with_extension("index");
    let Ok(file) = Plain::open(feed.disk, path.clone()) else { return };
    let item = Item::new(Kind::Index, &path, 0).fact("bytes", file.size);
    let stored = file.slice(0, file.size).map(|bytes| Index::decode(&bytes, base));
    let stored = match stored {
        Ok(Ok(stored)) => stored,
        Ok(Err(what)) => return sink(item.damaged(0, format!("{what}; it is rebuilt when it is next used"))),
        Err(error) => return sink(item.with(Err(error))),
    };
    let fits = |row: &IndexRow| row.position >= rebuilt.covered || starts.binary_search(&row.position).is_ok();
    let agrees = |row: &IndexRow| row.position >= rebuilt.covered || rebuilt.max_before_is(row);
    let item = item.fact("rows", stored.num_rows()).fact("covered", stored.covered);
    match stored.rows().position(|row| !fits(&row) || !agrees(&row)) {
        Some(number) => {
            let at = Index::byte_of_row(number);
            sink(
                item.damaged(
                    at,
                    format!("row {number} does not agree with the segment; remove the file, it is rebuilt"),
                ),
            );
        }
        None => sink(item),
    }
}

/// The feed space must be dense, its commits in order, and its runs must lie on whole batches of the log.
fn check_runs(feed: &Feed<'_>, path: PathBuf, ends: &PartitionEnds, seen: &Seen, item: Item) -> Item {
    let PartitionEnds { first_run, num_runs: num_rows, .. } = *ends;
    let item = item.fact("rows", num_rows - first_run);
    if first_run == num_rows {
        return item;
    }
    let (from, end) = (first_run * ROW_BYTES, num_rows * ROW_BYTES);
    let bytes = match Pieces::open(feed.disk, &path, from, end).and_then(|pieces| pieces.slice(from, end)) {
        Ok(bytes) => bytes,
        Err(error) => return item.with(Err(error)),
    };
    let (mut due, mut commit) = ((first_run == 0).then_some(0), 0);
    // Of what was deleted, batches may be missing.
    let starts = |offset: i64| {
        offset <= ends.start.0 || seen.bases.binary_search(&offset).is_ok() || seen.next == Some(Offset(offset))
    };
    for (bytes, number) in bytes.chunks_exact(ROW_BYTES as usize).zip(first_run..) {
        let at = number * ROW_BYTES;
        let row = match RUNS.decode_any(number, bytes) {
            Ok(row) => runs::decode(&row),
            Err(flaw) => {
                return item.damaged(at, format!("row {number}: {flaw}; it is made anew when it is next used"));
            }
        };
        let wrong = if let Some(end) = due.filter(|due| *due != row.feed_base.0) {
            Some(format!("a run at feed offset {} where {end} is due", row.feed_base))
        } else if row.commit.0 < commit || row.count <= 0 {
            Some(format!("a run of {} records of commit {} after one of commit {commit}", row.count, row.commit))
        } else if !starts(row.log_base.0) || !starts(row.log_base.0 + row.count) {
            Some(format!("the run at offset {} of the log is not made of whole batches", row.log_base))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            return item.damaged(at, wrong);
        }
        (due, commit) = (Some(row.end().0), row.commit.0);
    }
    item.fact("feed_end", due.unwrap_or(0)).fact("last_commit", commit)
}

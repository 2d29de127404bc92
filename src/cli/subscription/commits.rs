//! Between offsets and commits: which commit a record belongs to, and where a commit begins in a partition.

use crate::cli::client::{Client, Isolation, OffsetOf};
use crate::cli::failure::Failure;
use crate::cli::history::{self, History};
use crate::cli::manifest::{Manifest, ManifestPart};
use crate::view::name::{TopicName, parse_topic};
use crate::view::{Selector, ViewName};

const SHOWN: Isolation = Isolation::ReadUncommitted;

/// In what a position on a topic counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Space {
    /// Offsets of the feed's log.
    Log { feed: String },
    /// Offsets of the feed, up to a commit that is not shown any more, if the view has an end.
    Feed { feed: String, end: Option<i64> },
    /// Numbers of commits.
    Commits,
    /// Something that has nothing to do with commits, or a view whose commits its name does not tell.
    Other,
}

impl Space {
    pub fn of(topic: &str) -> Space {
        let view = match parse_topic(topic) {
            Ok(TopicName::View(view)) => view,
            Ok(TopicName::Plain(feed)) => return Space::Log { feed: feed.to_owned() },
            Err(_) => return Space::Other,
        };
        let ViewName { feed, selector, .. } = view;
        match selector {
            Selector::Feed | Selector::Since(_) => Space::Feed { feed, end: None },
            Selector::Commit(last) | Selector::Commits { last, .. } | Selector::Upto(last) => {
                Space::Feed { feed, end: Some(last.0 + 1) }
            }
            Selector::CommitLog => Space::Commits,
            Selector::Sealed { .. } | Selector::Stream(_) | Selector::Named(_) => Space::Other,
            Selector::StreamLog | Selector::Seal => Space::Other,
        }
    }
}

/// What is counted when a position on a topic moves by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Records,
    Commits,
    /// Of streams: opened, sealed.
    Events,
}

impl Unit {
    pub fn of(topic: &str) -> Unit {
        match parse_topic(topic) {
            Ok(TopicName::View(ViewName { selector: Selector::CommitLog, .. })) => Unit::Commits,
            Ok(TopicName::View(ViewName { selector: Selector::StreamLog, .. })) => Unit::Events,
            _ => Unit::Records,
        }
    }
}

/// Commits from the one that holds the record at `offset`, or the next after it, to the end. None: it is not known.
pub fn unread(client: &mut Client, space: &Space, partition: i32, offset: i64) -> Result<Option<u64>, Failure> {
    let (feed, last) = match space {
        Space::Log { feed } => (feed, None),
        Space::Feed { feed, end } => (feed, *end),
        Space::Commits | Space::Other => return Ok(None),
    };
    let commits = history::bounds(client, feed, "commits")?;
    let end = last.unwrap_or(commits.end).min(commits.end);
    let first = match space {
        Space::Log { .. } => first_in_log(client, feed, partition, offset, (commits.start, end))?,
        _ => first_in_feed(client, feed, partition, offset, end)?,
    };
    Ok(Some(u64::try_from(end - first).unwrap_or(0)))
}

/// Where a commit begins, or the next that has records in the partition, be it one that is not sealed yet. None: it is not
/// known.
pub fn start(client: &mut Client, space: &Space, partition: i32, commit: i64) -> Result<Option<i64>, Failure> {
    match space {
        Space::Log { feed } => {
            let commits = history::bounds(client, feed, "commits")?;
            match part_from(client, feed, partition, commit, commits.end)? {
                Some((_, part)) => Ok(part.runs.iter().map(|run| run.log_base).min()),
                None => sealed_end(client, feed, partition, (commits.start, commits.end)),
            }
        }
        Space::Feed { feed, .. } => Ok(Some(base(client, feed, partition, commit)?)),
        Space::Commits => Ok(Some(commit)),
        Space::Other => Ok(None),
    }
}

/// Where the records of the newest commit in a partition of the log end; none when no commit has any there.
fn sealed_end(
    client: &mut Client,
    feed: &str,
    partition: i32,
    (start, mut end): (i64, i64),
) -> Result<Option<i64>, Failure> {
    const AT_ONCE: i64 = 256;
    while start < end {
        let (mut next, mut found) = ((end - AT_ONCE).max(start), None);
        let before = next;
        while let Some((commit, part)) = part_from(client, feed, partition, next, end)? {
            (next, found) = (commit + 1, part.runs.iter().map(|run| run.log_base + run.count).max());
        }
        if found.is_some() {
            return Ok(found);
        }
        end = before;
    }
    Ok(None)
}

/// The newest commit that begins at or before `offset`; views from a commit on tell where it begins.
fn first_in_feed(client: &mut Client, feed: &str, partition: i32, offset: i64, end: i64) -> Result<i64, Failure> {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if base(client, feed, partition, middle)? <= offset { low = middle + 1 } else { high = middle }
    }
    Ok((low - 1).max(0))
}

fn base(client: &mut Client, feed: &str, partition: i32, commit: i64) -> Result<i64, Failure> {
    let view = format!("{feed}..since-{commit}");
    Ok(client.offset(&view, partition, OffsetOf::Start, SHOWN)?.unwrap_or(0))
}

/// The oldest commit with a record at or behind `offset` of the log.
fn first_in_log(
    client: &mut Client,
    feed: &str,
    partition: i32,
    offset: i64,
    (mut low, end): (i64, i64),
) -> Result<i64, Failure> {
    let mut high = end;
    while low < high {
        let middle = low + (high - low) / 2;
        match part_from(client, feed, partition, middle, high)? {
            Some((commit, part)) if part.runs.iter().all(|run| run.log_base + run.count <= offset) => low = commit + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first commit of `from..end` with records in the partition, and what it holds there.
fn part_from(
    client: &mut Client,
    feed: &str,
    partition: i32,
    from: i64,
    end: i64,
) -> Result<Option<(i64, ManifestPart)>, Failure> {
    let mut history = History::from(format!("{feed}..commits"), from);
    while history.next() < end {
        let before = history.next();
        for record in history.more(client)?.iter().filter(|record| record.offset < end) {
            let Manifest { commit, partitions, .. } = Manifest::of(record)?;
            if let Some(part) = partitions.into_iter().find(|part| part.partition == partition) {
                return Ok(Some((commit, part)));
            }
        }
        if history.next() == before {
            return Err(client.stalled(&format!("{feed}..commits"), 0, before, end).into());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_in_what_its_positions_count() {
        let feed = |end| Space::Feed { feed: "orders".to_owned(), end };
        assert_eq!(Space::of("orders"), Space::Log { feed: "orders".to_owned() });
        assert_eq!(Space::of("orders..feed"), feed(None));
        assert_eq!(Space::of("orders..since-4"), feed(None));
        assert_eq!(Space::of("orders..commits-2-4"), feed(Some(5)));
        assert_eq!(Space::of("orders..commits"), Space::Commits);
        assert_eq!(Space::of("orders..streams"), Space::Other);
        assert_eq!(Space::of("orders..nothing"), Space::Other);
    }
}

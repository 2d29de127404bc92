//! What consumer groups hold of a feed's history: the commits that they have yet to read (`streamstack.retain`).
//!
//! A group holds from its first committed position on, on the feed's topic, on `..feed` in any mode, on `..commits`, or on a
//! plain name of a view that follows; where it has none, or none any more, it holds nothing, so that a name that no reader goes
//! by does not keep a disk filling.

use super::Broker;
use super::handles::FeedHandle;
use crate::config::TopicSettings;
use crate::model::{CommitNumber, FeedOffset, HistoryStart, Offset, PartitionId, State, Timestamp};
use crate::store::{FileError, PartitionFiles};
use crate::view::{PartitionEnds, Published, Selector};

/// What a position counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Log,
    Feed,
    Commits,
}

/// Where a group reads on in one of the spaces: offsets by partition.
struct Reader {
    space: Space,
    offsets: Vec<(PartitionId, i64)>,
}

impl Broker {
    /// The oldest commit that a group has yet to read; none when nothing is held.
    pub(super) fn first_held(
        &self,
        feed: &FeedHandle,
        settings: &TopicSettings,
        start: HistoryStart,
    ) -> Result<Option<CommitNumber>, FileError> {
        if settings.retain.is_empty() {
            return Ok(None);
        }
        let names = [names(&feed.name), self.plain_names(&feed.name)].concat();
        let readers = self.core.look(|state| readers(state, &names, &settings.retain)).value;
        let mut held: Option<CommitNumber> = None;
        for reader in readers {
            if let Some(unread) = first_unread(feed, &reader)? {
                held = Some(held.map_or(unread, |held| held.min(unread)));
            }
        }
        let Some(held) = held.filter(|_| settings.retain_max_ms >= 0) else { return Ok(held) };
        let oldest = Timestamp(self.now().0.saturating_sub(settings.retain_max_ms));
        let young = feed.files.commits().first_sealed_from(oldest, start.commit, Published::commits(feed))?;
        Ok(Some(held.max(young)))
    }

    /// The topics that are plain names of views that follow the feed.
    fn plain_names(&self, feed: &str) -> Vec<(Space, String)> {
        let topics = self.catalog().all();
        let named = topics.iter().filter_map(|topic| {
            let view = topic.alias().filter(|view| view.feed == feed)?;
            let space = match view.selector {
                Selector::Feed | Selector::Since(_) => Space::Feed,
                Selector::CommitLog => Space::Commits,
                _ => return None,
            };
            Some((space, topic.name.clone()))
        });
        named.collect()
    }
}

/// What a reader of the whole feed may go by.
fn names(feed: &str) -> Vec<(Space, String)> {
    vec![
        (Space::Log, feed.to_owned()),
        (Space::Feed, format!("{feed}..feed")),
        // They share the offsets of `..feed`.
        (Space::Feed, format!("{feed}..dedup")),
        (Space::Feed, format!("{feed}..latest")),
        (Space::Feed, format!("{feed}..changed")),
        (Space::Commits, format!("{feed}..commits")),
    ]
}

fn readers(state: &State, names: &[(Space, String)], groups: &[String]) -> Vec<Reader> {
    let mut found = Vec::new();
    for subscription in groups.iter().filter_map(|group| state.subscription(group)) {
        for (space, topic) in names {
            let offsets: Vec<_> =
                subscription.positions_in(topic).map(|(partition, position)| (partition, position.offset)).collect();
            if !offsets.is_empty() {
                found.push(Reader { space: *space, offsets });
            }
        }
    }
    found
}

/// The oldest commit with a record that the reader has yet to read. A partition where it has no position it has not read at
/// all.
fn first_unread(feed: &FeedHandle, reader: &Reader) -> Result<Option<CommitNumber>, FileError> {
    if reader.space == Space::Commits {
        return Ok(reader.offsets.first().map(|(_, offset)| CommitNumber(*offset)));
    }
    let mut first: Option<CommitNumber> = None;
    for partition in (0..feed.partitions()).map(PartitionId) {
        let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
            continue;
        };
        let position = reader.offsets.iter().find(|(known, _)| *known == partition).map_or(0, |(_, offset)| *offset);
        if let Some(unread) = commit_from(&files, handle.published(), reader.space, position)? {
            first = Some(first.map_or(unread, |first| first.min(unread)));
        }
    }
    Ok(first)
}

fn commit_from(
    files: &PartitionFiles,
    ends: PartitionEnds,
    space: Space,
    position: i64,
) -> Result<Option<CommitNumber>, FileError> {
    match space {
        Space::Log => files.runs().commit_after(ends.first_run, Offset(position)),
        _ => files.runs().commit_after_feed(ends.first_run, FeedOffset(position)),
    }
}

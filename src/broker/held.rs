//! What consumer groups hold of a feed's history: the commits that they have yet to read (`streamstack.retain`).
//!
//! A group holds from its first committed position on, on the feed's topic, on `..feed` or `..since-N` in any mode, on
//! `..commits`, or on a plain name of one of these; where it has none, or none any more, it holds nothing, so that a name that
//! no reader goes by does not keep a disk filling.

use super::Broker;
use super::handles::FeedHandle;
use crate::config::TopicSettings;
use crate::model::{CommitNumber, FeedOffset, HistoryStart, Offset, PartitionId, State, Subscription, Timestamp};
use crate::store::{FileError, PartitionFiles};
use crate::view::name::{TopicName, parse_topic};
use crate::view::{PartitionEnds, Published, Selector};

/// What a position counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Log,
    Feed,
    Commits,
}

/// Which part of a feed a name goes through: from commit `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Course {
    space: Space,
    first: CommitNumber,
}

/// Where a group reads on by one name: offsets by partition.
struct Reader {
    course: Course,
    offsets: Vec<(PartitionId, i64)>,
}

impl Course {
    fn whole(space: Space) -> Course {
        Course { space, first: CommitNumber(0) }
    }

    /// Of names that end, and of single streams, none.
    fn of(selector: &Selector) -> Option<Course> {
        match selector {
            Selector::Feed => Some(Course::whole(Space::Feed)),
            Selector::Since(first) => Some(Course { space: Space::Feed, first: *first }),
            Selector::CommitLog => Some(Course::whole(Space::Commits)),
            _ => None,
        }
    }
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
        let readers = self.core.look(|state| readers(state, &feed.name, &names, &settings.retain)).value;
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
    fn plain_names(&self, feed: &str) -> Vec<(Course, String)> {
        let topics = self.catalog().all();
        let named = topics.iter().filter_map(|topic| {
            let view = topic.alias().filter(|view| view.feed == feed)?;
            Some((Course::of(&view.selector)?, topic.name.clone()))
        });
        named.collect()
    }
}

/// What a reader of the whole feed may go by.
fn names(feed: &str) -> Vec<(Course, String)> {
    let (log, offsets, commits) =
        (Course::whole(Space::Log), Course::whole(Space::Feed), Course::whole(Space::Commits));
    vec![
        (log, feed.to_owned()),
        (offsets, format!("{feed}..feed")),
        // They share the offsets of `..feed`.
        (offsets, format!("{feed}..dedup")),
        (offsets, format!("{feed}..latest")),
        (offsets, format!("{feed}..changed")),
        (commits, format!("{feed}..commits")),
    ]
}

/// The names from a commit on by which the subscription reads.
fn names_since(feed: &str, subscription: &Subscription) -> Vec<(Course, String)> {
    let beginning = format!("{feed}..since-");
    let named = subscription.topics_beginning(&beginning).filter_map(|topic| match parse_topic(topic) {
        Ok(TopicName::View(view)) => Some((Course::of(&view.selector)?, topic.to_owned())),
        _ => None,
    });
    named.collect()
}

fn readers(state: &State, feed: &str, names: &[(Course, String)], groups: &[String]) -> Vec<Reader> {
    let mut found = Vec::new();
    for subscription in groups.iter().filter_map(|group| state.subscription(group)) {
        for (course, topic) in names.iter().chain(&names_since(feed, subscription)) {
            let offsets: Vec<_> =
                subscription.positions_in(topic).map(|(partition, position)| (partition, position.offset)).collect();
            if !offsets.is_empty() {
                found.push(Reader { course: *course, offsets });
            }
        }
    }
    found
}

/// The oldest commit with a record that the reader has yet to read. A partition where it has no position it has not read at
/// all.
fn first_unread(feed: &FeedHandle, reader: &Reader) -> Result<Option<CommitNumber>, FileError> {
    let Course { space, first: begins } = reader.course;
    if space == Space::Commits {
        return Ok(reader.offsets.first().map(|(_, offset)| CommitNumber(*offset)));
    }
    let mut first: Option<CommitNumber> = None;
    for partition in (0..feed.partitions()).map(PartitionId) {
        let (Some(handle), Some(files)) = (feed.partition(partition), feed.files.partition(partition)) else {
            continue;
        };
        let position = reader.offsets.iter().find(|(known, _)| *known == partition).map_or(0, |(_, offset)| *offset);
        if let Some(unread) = commit_from(&files, handle.published(), space, position)? {
            let unread = unread.max(begins);
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

//! From the names and ids that requests carry to something readable.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use uuid::Uuid;

use crate::broker::{Broker, FeedHandle};
use crate::model::PartitionId;
use crate::view::name::{self, TopicName};
use crate::view::{Isolation, Selector, View, ViewName, ViewReadError};
use crate::wire::error;

/// A topic that can be read: a feed's log or a view of it.
pub struct Readable {
    pub feed: Arc<FeedHandle>,
    pub view: View,
    name: Option<ViewName>,
}

/// Why a topic cannot be read, as a code and in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub error: ResponseError,
    pub message: String,
}

impl Refusal {
    /// The code for Fetch and ListOffsets, whose clients know no LEADER_NOT_AVAILABLE (the Java consumer stops at it):
    /// NOT_LEADER_OR_FOLLOWER makes them ask for metadata again, where the wait is told.
    pub fn for_reader(&self) -> ResponseError {
        match self.error {
            ResponseError::LeaderNotAvailable => ResponseError::NotLeaderOrFollower,
            error => error,
        }
    }
}

impl Readable {
    /// Opens the view anew: what its name means may have changed since.
    pub fn reopen(&mut self, broker: &Broker) {
        if let Some(name) = &self.name
            && let Ok(handle) = broker.resolve_view(name)
        {
            self.view = handle.view;
        }
    }
}

/// The topic or view of that name.
pub fn by_name(broker: &Broker, topic: &str) -> Result<Readable, Refusal> {
    match name::parse_topic(topic) {
        Ok(TopicName::Plain(plain)) => match broker.catalog().by_name(plain) {
            Some(feed) => match feed.alias() {
                Some(view) => {
                    view_topic(broker, ViewName::clone(&view)).map_err(|refusal| of_alias(&feed.name, refusal))
                }
                None => Ok(plain_topic(feed)),
            },
            None => Err(unknown_topic()),
        },
        Ok(TopicName::View(view)) => view_topic(broker, view),
        Err(error) => Err(Refusal { error: ResponseError::InvalidTopicException, message: error.to_string() }),
    }
}

/// The topic or view with that id.
pub fn by_id(broker: &Broker, id: &Uuid) -> Result<Readable, Refusal> {
    match named_by_id(broker, id)? {
        Named::Plain(feed) => Ok(plain_topic(feed)),
        Named::View(name) => view_topic(broker, ViewName::clone(&name)),
    }
}

/// What a topic id stands for.
pub enum Named {
    Plain(Arc<FeedHandle>),
    View(Arc<ViewName>),
}

/// The topic or view that has that id.
pub fn named_by_id(broker: &Broker, id: &Uuid) -> Result<Named, Refusal> {
    if let Some(feed) = broker.catalog().by_topic_id(id) {
        return Ok(feed.alias().map_or(Named::Plain(feed), Named::View));
    }
    let name = broker.view_name(id).ok_or_else(|| unknown(ResponseError::UnknownTopicId))?;
    // The feed may have been deleted, and made again: then the id is an old one.
    let feed = broker.catalog().by_name(&name.feed);
    match feed.is_some_and(|feed| name.topic_id(&feed.topic_id) == *id) {
        true => Ok(Named::View(name)),
        false => Err(unknown(ResponseError::UnknownTopicId)),
    }
}

/// How many partitions a group may have positions in: those of a topic or of a view that it can read, or will be able to.
pub fn partitions_to_read(broker: &Broker, topic: &str) -> Result<u32, ResponseError> {
    let view = match name::parse_topic(topic) {
        Ok(TopicName::View(view)) => view,
        Ok(TopicName::Plain(plain)) => {
            let feed = broker.catalog().by_name(plain).ok_or(ResponseError::UnknownTopicOrPartition)?;
            match feed.alias() {
                Some(view) => ViewName::clone(&view),
                None => return Ok(feed.partitions()),
            }
        }
        Err(_) => return Err(ResponseError::UnknownTopicOrPartition),
    };
    if view.selector == Selector::Seal {
        return Err(ResponseError::InvalidTopicException);
    }
    match broker.resolve_view(&view) {
        Ok(handle) => Ok(handle.view.partitions()),
        Err(refused) => match (error::of_resolve(&refused), broker.catalog().by_name(&view.feed)) {
            // It is waited for.
            (ResponseError::LeaderNotAvailable, Some(feed)) => Ok(feed.partitions()),
            (error, _) => Err(error),
        },
    }
}

/// The code for a read that failed. Stored records that cannot be read are told to the operator too, who has to act.
pub fn read_failure(broker: &Broker, readable: &Readable, index: i32, failure: &ViewReadError) -> ResponseError {
    let code = error::of_view_read(failure);
    if matches!(code, ResponseError::KafkaStorageError | ResponseError::CorruptMessage) {
        broker.tell_unreadable(&readable.feed.name, index, failure.to_string());
    }
    code
}

/// Kafka's partition numbers are signed; negative ones name nothing.
pub fn partition_id(index: i32) -> Option<PartitionId> {
    u32::try_from(index).ok().map(PartitionId)
}

/// Kafka's isolation level on the wire.
pub fn isolation(level: i8) -> Isolation {
    if level == 1 { Isolation::ReadCommitted } else { Isolation::ReadUncommitted }
}

fn plain_topic(feed: Arc<FeedHandle>) -> Readable {
    Readable { view: View::plain(feed.clone()), feed, name: None }
}

fn view_topic(broker: &Broker, name: ViewName) -> Result<Readable, Refusal> {
    match broker.resolve_view(&name) {
        Ok(handle) => Ok(Readable { feed: handle.feed, view: handle.view, name: Some(name) }),
        Err(error) => Err(Refusal { error: error::of_resolve(&error), message: error.to_string() }),
    }
}

/// Why a name of a view cannot be read. Were it said to be unknown, clients would have it made.
pub fn of_alias(name: &str, refusal: Refusal) -> Refusal {
    match refusal.error {
        ResponseError::UnknownTopicOrPartition => Refusal {
            error: ResponseError::InvalidTopicException,
            message: format!(
                "{name} is a name of a view whose feed is gone; delete the topic {name}, or make the feed again"
            ),
        },
        _ => refusal,
    }
}

/// The feed, unless it is but a name of a view, which nobody writes to or changes.
pub fn not_an_alias(feed: Arc<FeedHandle>) -> Result<Arc<FeedHandle>, Refusal> {
    match feed.alias() {
        None => Ok(feed),
        Some(view) => Err(Refusal {
            error: ResponseError::InvalidTopicException,
            message: format!(
                "{} is a name of the view {view}, which can only be read; what is written or changed is {}",
                feed.name, view.feed
            ),
        }),
    }
}

/// The refusal of a topic that is not there, in Kafka's words.
pub fn unknown_topic() -> Refusal {
    unknown(ResponseError::UnknownTopicOrPartition)
}

fn unknown(error: ResponseError) -> Refusal {
    Refusal { error, message: "this server does not host this topic-partition".into() }
}

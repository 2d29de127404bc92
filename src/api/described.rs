//! A topic or a view as Metadata and DescribeTopicPartitions tell of it.

use kafka_protocol::ResponseError;
use uuid::Uuid;

use super::node::{TOPIC_OPERATIONS, VIEW_OPERATIONS};
use super::topic::{Refusal, of_alias, unknown_topic};
use crate::broker::{Broker, FeedHandle};
use crate::view::ViewName;
use crate::view::name::{self, TopicName};
use crate::wire::error;

/// What is told of a topic, apart from its partitions being all alike.
pub struct Described {
    pub name: String,
    pub topic_id: Uuid,
    pub partitions: u32,
    /// Asked for by its name it is not told as an internal topic: clients read and write none. @platformatic/kafka 2.12 drops them from its metadata
    /// and its process ends, kafka-python 3.0 and kafka-go 0.4 do not write to them (`..seal`).
    pub is_view: bool,
    /// Told as an internal topic: a view that stands in a list of all topics, which pattern subscribers should not take.
    pub is_internal: bool,
}

/// What a list tells of a topic, or its name and why it cannot be read.
pub type Listed = Result<Described, (String, Refusal)>;

impl Described {
    /// A feed, or the view that it is a name of.
    fn of_feed(broker: &Broker, feed: &FeedHandle) -> Result<Described, Refusal> {
        let (name, topic_id) = (feed.name.clone(), feed.topic_id);
        let described = Described { name, topic_id, partitions: feed.partitions(), is_view: false, is_internal: false };
        match feed.alias() {
            None => Ok(described),
            Some(view) => {
                let seen = Described::of_view(broker, &view).map_err(|refusal| of_alias(&feed.name, refusal));
                let seen = seen.inspect_err(|refusal| tell(broker, &feed.name, refusal))?;
                Ok(Described { partitions: seen.partitions, is_view: true, ..described })
            }
        }
    }

    /// What a list of all topics tells of a feed: itself, and those of its views that are to stand there.
    pub fn listed(broker: &Broker, feed: &FeedHandle) -> Vec<Listed> {
        let itself = Described::of_feed(broker, feed).map_err(|refusal| (feed.name.clone(), refusal));
        let views = broker.listed_views(feed).into_iter().map(|view| {
            let described = Described::of_view(broker, &view).map_err(|refusal| (view.to_string(), refusal))?;
            Ok(Described { is_internal: true, ..described })
        });
        std::iter::once(itself).chain(views).collect()
    }

    fn of_view(broker: &Broker, name: &ViewName) -> Result<Described, Refusal> {
        match broker.resolve_view(name) {
            Ok(handle) => Ok(Described {
                name: name.to_string(),
                topic_id: handle.topic_id,
                partitions: handle.view.partitions(),
                is_view: true,
                is_internal: false,
            }),
            Err(error) => Err(Refusal { error: error::of_resolve(&error), message: error.to_string() }),
        }
    }

    /// The topic or view of that name.
    pub fn by_name(broker: &Broker, topic: &str) -> Result<Described, Refusal> {
        match name::parse_topic(topic) {
            Ok(TopicName::Plain(plain)) => {
                let feed = broker.catalog().by_name(plain).ok_or_else(unknown_topic)?;
                Described::of_feed(broker, &feed)
            }
            Ok(TopicName::View(view)) => {
                Described::of_view(broker, &view).inspect_err(|refusal| tell(broker, topic, refusal))
            }
            Err(error) => Err(invalid_name(&error)),
        }
    }

    /// The topic or view with that id.
    pub fn by_id(broker: &Broker, id: &Uuid) -> Result<Described, Refusal> {
        let unknown = || Refusal { error: ResponseError::UnknownTopicId, message: "no topic has this id".to_owned() };
        if let Some(feed) = broker.catalog().by_topic_id(id) {
            return Described::of_feed(broker, &feed);
        }
        let name = broker.view_name(id).ok_or_else(unknown)?;
        // The feed may have been deleted and made again: then the id is an old one.
        Described::of_view(broker, &name).and_then(|view| if view.topic_id == *id { Ok(view) } else { Err(unknown()) })
    }

    pub fn operations(&self) -> i32 {
        if self.is_view { VIEW_OPERATIONS } else { TOPIC_OPERATIONS }
    }
}

/// There is no room for the reason in these answers, so it is found in the log.
fn tell(broker: &Broker, topic: &str, refusal: &Refusal) {
    let may_come = [ResponseError::LeaderNotAvailable, ResponseError::UnknownTopicOrPartition].contains(&refusal.error);
    broker.tell_refused_view(topic, may_come, &refusal.message);
}

/// The refusal of a name that can be no topic's.
pub fn invalid_name(error: &name::NameError) -> Refusal {
    Refusal { error: ResponseError::InvalidTopicException, message: error.to_string() }
}

//! A topic or a view as Metadata and DescribeTopicPartitions tell of it.

use kafka_protocol::ResponseError;
use uuid::Uuid;

use super::node::{TOPIC_OPERATIONS, VIEW_OPERATIONS};
use super::topic::{Refusal, unknown_topic};
use crate::broker::{Broker, FeedHandle};
use crate::view::ViewName;
use crate::view::name::{self, TopicName};
use crate::wire::error;

/// What is told of a topic, apart from its partitions being all alike.
pub struct Described {
    pub name: String,
    pub topic_id: Uuid,
    pub partitions: u32,
    /// Not told as an internal topic: clients read and write none. @platformatic/kafka 2.12 drops them from its metadata
    /// and its process ends, kafka-python 3.0 and kafka-go 0.4 do not write to them (`..seal`).
    pub is_view: bool,
}

impl Described {
    pub fn of_feed(feed: &FeedHandle) -> Described {
        Described { name: feed.name.clone(), topic_id: feed.topic_id, partitions: feed.partitions(), is_view: false }
    }

    fn of_view(broker: &Broker, name: &ViewName) -> Result<Described, Refusal> {
        match broker.resolve_view(name) {
            Ok(handle) => Ok(Described {
                name: name.to_string(),
                topic_id: handle.topic_id,
                partitions: handle.view.partitions(),
                is_view: true,
            }),
            Err(error) => Err(Refusal { error: error::of_resolve(&error), message: error.to_string() }),
        }
    }

    /// The topic or view of that name.
    pub fn by_name(broker: &Broker, topic: &str) -> Result<Described, Refusal> {
        match name::parse_topic(topic) {
            Ok(TopicName::Plain(plain)) => {
                broker.catalog().by_name(plain).map(|feed| Described::of_feed(&feed)).ok_or_else(unknown_topic)
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
            return Ok(Described::of_feed(&feed));
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

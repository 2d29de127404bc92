//! What configs belong to: a topic, a broker, all brokers, or a consumer group.

use std::sync::Arc;

use kafka_protocol::ResponseError;

use super::described::invalid_name;
use super::topic::{Refusal, unknown_topic};
use crate::broker::{AliasError, Broker, FeedHandle, Gated};
use crate::config::{AlterError, Alteration, ConfigType, ConfigValue, alter_broker, alter_group, alter_topic};
use crate::model::{ConfigureError, Overrides};
use crate::view::ViewName;
use crate::view::name::{self, TopicName};
use crate::wire::error;

/// Types of resources, by their codes in the protocol.
pub const TOPIC: i8 = 2;
pub const BROKER: i8 = 4;
pub const GROUP: i8 = 32;

/// Something with configs that may be changed.
pub enum Resource {
    Feed(Arc<FeedHandle>),
    /// This broker, or all of them (none).
    Broker(Option<i32>),
    /// It need not be there.
    Group(String),
}

/// Something with configs that may be looked at.
pub enum Shown {
    Feed(Arc<FeedHandle>),
    /// A view shows its feed's, and takes none.
    View(Arc<FeedHandle>),
    Broker(Option<i32>),
    Group(String),
}

impl Resource {
    /// The resource of that type and name.
    pub fn find(broker: &Broker, kind: i8, name: &str) -> Result<Resource, Refusal> {
        match kind {
            TOPIC => feed_to_change(broker, name).map(Resource::Feed).map_err(|refusal| in_kafkas_words(refusal, name)),
            BROKER => broker_id(broker, name).map(Resource::Broker),
            GROUP => group(name, "Default group resources are not allowed.").map(Resource::Group),
            other => Err(unknown_kind(other)),
        }
    }

    /// `overrides` after the changes, checked.
    pub fn altered(
        &self,
        broker: &Broker,
        overrides: &Overrides,
        changes: &[Alteration<'_>],
    ) -> Result<Overrides, AlterError> {
        match self {
            Resource::Feed(_) => alter_topic(overrides, changes),
            Resource::Broker(_) => alter_broker(overrides, changes),
            Resource::Group(_) => alter_group(overrides, changes, broker.settings().server()),
        }
    }

    /// Sets what `alter` makes of what is set by then.
    pub fn configure(
        &self,
        broker: &Broker,
        validate_only: bool,
        alter: impl FnOnce(&Overrides) -> Result<Overrides, AlterError>,
    ) -> Gated<Result<(), Refusal>> {
        let alter = |overrides: &Overrides| alter(overrides).map_err(Refusal::from);
        match self {
            Resource::Feed(feed) => broker.configure_feed(feed, validate_only, |before| {
                let altered = alter(before)?;
                broker.check_views(&feed.name, before, &altered)?;
                Ok(altered)
            }),
            Resource::Broker(id) => broker.configure_broker(*id, validate_only, alter),
            Resource::Group(group) => broker.configure_group(group, validate_only, alter),
        }
    }
}

impl From<AlterError> for Refusal {
    fn from(error: AlterError) -> Refusal {
        Refusal { error: error::of_alter(&error), message: error.to_string() }
    }
}

impl From<AliasError> for Refusal {
    fn from(error: AliasError) -> Refusal {
        Refusal { error: ResponseError::InvalidConfig, message: error.to_string() }
    }
}

impl From<ConfigureError> for Refusal {
    fn from(error: ConfigureError) -> Refusal {
        Refusal { error: error::of_configure(&error), message: error.to_string() }
    }
}

impl Shown {
    /// The resource of that type and name.
    pub fn find(broker: &Broker, kind: i8, name: &str) -> Result<Shown, Refusal> {
        match kind {
            TOPIC => match name::parse_topic(name).map_err(|error| invalid_name(&error))? {
                TopicName::Plain(plain) => feed(broker, plain).map(Shown::Feed),
                // The only answer with room for the reason why a view cannot be read.
                TopicName::View(view) => match broker.resolve_view(&view) {
                    Ok(handle) => Ok(Shown::View(handle.feed)),
                    Err(resolve_error) => {
                        Err(Refusal { error: error::of_resolve(&resolve_error), message: resolve_error.to_string() })
                    }
                },
            },
            BROKER => broker_id(broker, name).map(Shown::Broker),
            GROUP => group(name, "Group name must not be empty").map(Shown::Group),
            other => Err(unknown_kind(other)),
        }
    }
}

/// The feed of that name, to be changed or deleted; views are neither.
pub fn feed_to_change(broker: &Broker, name: &str) -> Result<Arc<FeedHandle>, Refusal> {
    match name::parse_topic(name).map_err(|error| invalid_name(&error))? {
        TopicName::Plain(plain) => feed(broker, plain),
        TopicName::View(view) => Err(read_only(&view)),
    }
}

/// The refusal to change a view.
pub fn read_only(view: &ViewName) -> Refusal {
    Refusal {
        error: ResponseError::InvalidTopicException,
        message: format!("{view} is a view of {}; it can be read, not changed or deleted", view.feed),
    }
}

/// True for configs whose values are not told.
pub fn is_sensitive(config: &ConfigValue) -> bool {
    config.kind == ConfigType::Password
}

fn feed(broker: &Broker, name: &str) -> Result<Arc<FeedHandle>, Refusal> {
    broker.catalog().by_name(name).ok_or_else(unknown_topic)
}

/// What kafka-configs shows of a topic that is not there.
fn in_kafkas_words(refusal: Refusal, topic: &str) -> Refusal {
    match refusal.error {
        ResponseError::UnknownTopicOrPartition => {
            Refusal { message: format!("The topic '{topic}' does not exist."), ..refusal }
        }
        _ => refusal,
    }
}

fn broker_id(broker: &Broker, name: &str) -> Result<Option<i32>, Refusal> {
    let this = broker.settings().typed().node_id;
    match name {
        "" => Ok(None),
        _ if name.parse() == Ok(this) => Ok(Some(this)),
        _ => Err(Refusal {
            error: ResponseError::InvalidRequest,
            message: format!("Unexpected broker id, expected {this} or empty string, but received {name}"),
        }),
    }
}

/// A group's name; the empty one is refused in Kafka's words.
fn group(name: &str, empty: &str) -> Result<String, Refusal> {
    match name.is_empty() {
        true => Err(Refusal { error: ResponseError::InvalidRequest, message: empty.to_owned() }),
        false => Ok(name.to_owned()),
    }
}

fn unknown_kind(kind: i8) -> Refusal {
    Refusal {
        error: ResponseError::InvalidRequest,
        message: format!("resources of type {kind} have no configs here; topics (2), brokers (4) and groups (32) have"),
    }
}

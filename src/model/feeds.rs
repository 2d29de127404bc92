//! Making, changing and deleting feeds, the dynamic configs, and giving out producer ids.

use uuid::Uuid;

use super::decision::Decision;
use super::entry::{Entry, FeedCreated};
use super::feed::VIEW;
use super::ids::{FeedId, ProducerId, Timestamp};
use super::name::{NameFault, check_feed_name};
use super::state::{Overrides, State};
use super::subscription::SUBSCRIPTIONS_MAX;

/// Partitions that one feed may have.
pub const PARTITIONS_MAX: u32 = 10_000;

/// Partitions that all feeds together may have: each costs memory and, when used, files.
pub const PARTITIONS_TOTAL_MAX: u64 = 200_000;

/// Feeds that may exist.
pub const FEEDS_MAX: usize = 100_000;

/// Why a feed is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateFeedError {
    #[error("the name {name:?} is not allowed: {fault}")]
    Name { name: String, fault: NameFault },
    // These two in Kafka's words, which its tools show and scripts look for.
    #[error("Topic '{name}' already exists.")]
    Exists { name: String },
    #[error("Topic '{name}' collides with existing topic: {other}")]
    Collision { name: String, other: String },
    #[error(transparent)]
    Partitions(#[from] PartitionsError),
    #[error("there are {FEEDS_MAX} feeds, and that is the most")]
    TooManyFeeds,
}

/// Why a feed cannot have so many partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionsError {
    #[error("a feed has 1 to {PARTITIONS_MAX} partitions, not {wanted}")]
    Count { wanted: u32 },
    #[error("there are {total} partitions, and {wanted} more would pass the most there may be, {PARTITIONS_TOTAL_MAX}")]
    Total { wanted: u32, total: u64 },
}

/// Why a feed is not deleted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteFeedError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
}

/// Why a feed does not get more partitions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddPartitionsError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("the feed has {current} partitions, and {wanted} are not more")]
    NotMore { current: u32, wanted: u32 },
    #[error(transparent)]
    Partitions(#[from] PartitionsError),
}

/// Why configs are not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigureError {
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("the topic {feed:?} has held records or streams, and only one that never did can become a name of a view")]
    NotEmpty { feed: String },
    #[error("{SUBSCRIPTIONS_MAX} consumer groups have configs, and that is the most; delete those that are not needed")]
    TooManyGroups,
}

impl State {
    /// Decides the making of a feed; the outcome is its number.
    pub fn decide_create(
        &self,
        name: &str,
        topic_id: Uuid,
        partitions: u32,
        overrides: Overrides,
        now: Timestamp,
    ) -> Result<Decision<FeedId>, CreateFeedError> {
        let name = name.to_owned();
        check_feed_name(&name).map_err(|fault| CreateFeedError::Name { name: name.clone(), fault })?;
        if self.feed_named(&name).is_some() {
            return Err(CreateFeedError::Exists { name });
        }
        if let Some(other) = self.colliding(&name) {
            return Err(CreateFeedError::Collision { name, other: other.name.clone() });
        }
        self.check_partitions(0, partitions)?;
        if self.feeds.len() >= FEEDS_MAX {
            return Err(CreateFeedError::TooManyFeeds);
        }
        let feed = self.next_feed;
        let created = FeedCreated { feed, name, topic_id, partitions, overrides, at: now };
        Ok(Decision::one(Entry::FeedCreated(created), feed))
    }

    /// Decides the deletion of a feed with its whole history.
    pub fn decide_delete(&self, feed: FeedId, now: Timestamp) -> Result<Decision<()>, DeleteFeedError> {
        self.feed(feed).ok_or(DeleteFeedError::UnknownFeed { feed })?;
        Ok(Decision::one(Entry::FeedDeleted { feed, at: now }, ()))
    }

    /// Decides that a feed has `total` partitions from here on.
    pub fn decide_add_partitions(
        &self,
        feed: FeedId,
        total: u32,
        now: Timestamp,
    ) -> Result<Decision<()>, AddPartitionsError> {
        let known = self.feed(feed).ok_or(AddPartitionsError::UnknownFeed { feed })?;
        let current = known.partitions.len() as u32;
        if total <= current {
            return Err(AddPartitionsError::NotMore { current, wanted: total });
        }
        self.check_partitions(current, total)?;
        Ok(Decision::one(Entry::PartitionsAdded { feed, partitions: total, at: now }, ()))
    }

    /// Decides that exactly `overrides` are set on a feed.
    pub fn decide_configure(&self, feed: FeedId, overrides: Overrides) -> Result<Decision<()>, ConfigureError> {
        let known = self.feed(feed).ok_or(ConfigureError::UnknownFeed { feed })?;
        if known.overrides == overrides {
            return Ok(Decision::nothing(()));
        }
        if overrides.contains_key(VIEW) && !known.is_alias() && !known.is_unused() {
            return Err(ConfigureError::NotEmpty { feed: known.name.clone() });
        }
        Ok(Decision::one(Entry::FeedConfigured { feed, overrides }, ()))
    }

    /// Decides that exactly `overrides` are set on a broker, or on all of them (none).
    pub fn decide_configure_broker(
        &self,
        broker: Option<i32>,
        overrides: Overrides,
    ) -> Result<Decision<()>, ConfigureError> {
        if *self.broker_overrides(broker) == overrides {
            return Ok(Decision::nothing(()));
        }
        Ok(Decision::one(Entry::BrokerConfigured { broker, overrides }, ()))
    }

    /// Decides that exactly `overrides` are set on a consumer group, be it there or not.
    pub fn decide_configure_group(&self, group: &str, overrides: Overrides) -> Result<Decision<()>, ConfigureError> {
        let known = self.group_overrides(group);
        if *known == overrides {
            return Ok(Decision::nothing(()));
        }
        if known.is_empty() && self.groups.len() >= SUBSCRIPTIONS_MAX {
            return Err(ConfigureError::TooManyGroups);
        }
        Ok(Decision::one(Entry::GroupConfigured { group: group.to_owned(), overrides }, ()))
    }

    /// Decides which producer id is given out.
    pub fn decide_open_producer(&self) -> Decision<ProducerId> {
        let producer = self.next_producer;
        Decision::one(Entry::ProducerOpened { producer }, producer)
    }

    fn check_partitions(&self, current: u32, wanted: u32) -> Result<(), PartitionsError> {
        if wanted == 0 || wanted > PARTITIONS_MAX {
            return Err(PartitionsError::Count { wanted });
        }
        let (total, more) = (self.num_partitions, wanted - current);
        if total + u64::from(more) > PARTITIONS_TOTAL_MAX {
            return Err(PartitionsError::Total { wanted: more, total });
        }
        Ok(())
    }
}

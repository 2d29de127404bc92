//! The whole state of a broker: the feeds by every name they are asked for, and what belongs to no feed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::feed::Feed;
use super::ids::{FeedId, ProducerId, Timestamp};
use super::name::unified;
use super::subscription::Subscription;
use super::transaction::Transactions;

/// Configs that clients set: name to value.
pub type Overrides = BTreeMap<String, String>;

const NOTHING: &Overrides = &Overrides::new();

/// Everything that the journal's entries add up to. Changed by [`State::apply`] alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(super) feeds: BTreeMap<FeedId, Feed>,
    pub(super) next_feed: FeedId,
    /// The producer id that is given out next.
    pub(super) next_producer: ProducerId,
    /// Dynamic configs of a broker (its node id), or of all (none).
    pub(super) brokers: BTreeMap<Option<i32>, Overrides>,
    /// Configs of consumer groups, which need not be there.
    pub(super) groups: BTreeMap<String, Overrides>,
    pub(super) time_floor: Timestamp,
    pub(super) subscriptions: BTreeMap<String, Subscription>,
    pub(super) num_positions: u64,
    pub(super) transactions: Transactions,
    /// Of all positions together.
    pub(super) metadata_bytes: u64,
    pub(super) names: Names,
    /// When the open streams of feeds are due to be sealed, soonest first.
    pub(super) due: BTreeSet<(Timestamp, FeedId)>,
    pub(super) num_partitions: u64,
    /// Idempotent producers that all partitions remember.
    pub(super) num_producers: u64,
    /// Extents of the streams of all open transactions.
    pub(super) num_extents: usize,
    /// Bytes of what records to `..seal` said of them.
    pub(super) named_bytes: u64,
}

/// Ways to find a feed. They follow from the feeds and are not stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    by_name: HashMap<String, FeedId>,
    by_topic_id: HashMap<Uuid, FeedId>,
    /// Only names with a '.' or '_', for only those collide.
    by_unified: HashMap<String, FeedId>,
}

impl State {
    /// The feed with that number.
    pub fn feed(&self, feed: FeedId) -> Option<&Feed> {
        self.feeds.get(&feed)
    }

    /// The feed of that name.
    pub fn feed_named(&self, name: &str) -> Option<&Feed> {
        self.names.by_name.get(name).map(|id| &self.feeds[id])
    }

    /// The feed with that topic id.
    pub fn feed_with_topic_id(&self, topic_id: &Uuid) -> Option<&Feed> {
        self.names.by_topic_id.get(topic_id).map(|id| &self.feeds[id])
    }

    /// All feeds, in the order of their creation.
    pub fn feeds(&self) -> impl ExactSizeIterator<Item = &Feed> {
        self.feeds.values()
    }

    /// The number that the next feed gets: all numbers below were given out.
    pub fn next_feed(&self) -> FeedId {
        self.next_feed
    }

    /// The producer id that is given out next.
    pub fn next_producer(&self) -> ProducerId {
        self.next_producer
    }

    /// What clients set on the broker with that node id, or on all brokers (none).
    pub fn broker_overrides(&self, broker: Option<i32>) -> &Overrides {
        self.brokers.get(&broker).unwrap_or(NOTHING)
    }

    /// What clients set on the consumer group of that name.
    pub fn group_overrides(&self, group: &str) -> &Overrides {
        self.groups.get(group).unwrap_or(NOTHING)
    }

    /// The consumer groups on which something is set.
    pub fn configured_groups(&self) -> impl ExactSizeIterator<Item = (&str, &Overrides)> {
        self.groups.iter().map(|(group, overrides)| (group.as_str(), overrides))
    }

    /// No seal yet to come carries an earlier time.
    pub fn time_floor(&self) -> Timestamp {
        self.time_floor
    }

    /// Partitions of all feeds together.
    pub fn num_partitions(&self) -> u64 {
        self.num_partitions
    }

    /// Idempotent producers that partitions and control topics remember, together.
    pub fn num_producers(&self) -> u64 {
        self.num_producers
    }

    /// When [`State::decide_due`] or [`State::decide_timeouts`] has something to do next.
    pub fn deadline(&self) -> Option<Timestamp> {
        let due = self.due.first().map(|(at, _)| *at);
        due.into_iter().chain(self.transactions.deadline()).min()
    }

    /// A feed whose name metrics could not tell from `name`: '.' and '_' are one there. Never `name` itself.
    pub(super) fn colliding(&self, name: &str) -> Option<&Feed> {
        let id = self.names.by_unified.get(&unified(name)?)?;
        Some(&self.feeds[id]).filter(|feed| feed.name() != name)
    }
}

impl Names {
    pub(super) fn insert(&mut self, feed: &Feed) {
        self.by_name.insert(feed.name().to_owned(), feed.id());
        self.by_topic_id.insert(feed.topic_id(), feed.id());
        if let Some(unified) = unified(feed.name()) {
            self.by_unified.insert(unified, feed.id());
        }
    }

    pub(super) fn remove(&mut self, feed: &Feed) {
        self.by_name.remove(feed.name());
        self.by_topic_id.remove(&feed.topic_id());
        if let Some(unified) = unified(feed.name()) {
            self.by_unified.remove(&unified);
        }
    }
}

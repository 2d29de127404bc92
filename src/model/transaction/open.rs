//! A transactional id with its open transaction.

use std::collections::{BTreeMap, BTreeSet};

use super::super::entry::{ProducerBound, TransactionEnded};
use super::super::ids::{FeedId, PartitionId, ProducerId, StreamId, Timestamp};
use super::super::subscription::Subscription;

/// A transactional id: one producer at a time, known by its producer id and epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Transactional {
    pub(in super::super) producer: ProducerId,
    pub(in super::super) epoch: i16,
    /// What the producer named when it was given this identity. Whoever names it again lost the answer.
    pub(in super::super) previous: Option<Identity>,
    pub(in super::super) timeout_ms: i32,
    /// Last change.
    pub(in super::super) at: Timestamp,
    pub(in super::super) open: Option<OpenTransaction>,
    /// How the last transaction ended, until the next one begins or the id gets another producer.
    pub(in super::super) ended: Option<Ending>,
}

/// A producer id in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub producer: ProducerId,
    pub epoch: i16,
}

/// A transaction that ended, for those that ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The producer that ended it; none when it timed out or an operator aborted it.
    pub by: Option<Identity>,
    pub committed: bool,
}

/// A transaction between its first partition (or group) and its end.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTransaction {
    pub(in super::super) begun: Timestamp,
    /// Its stream on every feed that it touches.
    pub(in super::super) streams: BTreeMap<FeedId, StreamId>,
    pub(in super::super) partitions: BTreeSet<(FeedId, PartitionId)>,
    /// Feeds to whose `..seal` it writes.
    pub(in super::super) seals: BTreeSet<FeedId>,
    pub(in super::super) groups: BTreeSet<String>,
    /// Positions that move if it commits, by group.
    pub(in super::super) staged: BTreeMap<String, Subscription>,
}

impl Transactional {
    /// What it is after `bound`, whatever it was before.
    pub(in super::super) fn bound(bound: &ProducerBound) -> Transactional {
        let ProducerBound { identity, previous, timeout_ms, at, .. } = *bound;
        Transactional {
            producer: identity.producer,
            epoch: identity.epoch,
            previous,
            timeout_ms,
            at,
            open: None,
            ended: None,
        }
    }

    /// What it is after its transaction ended.
    pub(in super::super) fn after(self, ended: &TransactionEnded) -> Transactional {
        // A producer that was not asked does not know of its new epoch, and must not be taken for one that does.
        let previous = match ended.reason.was_asked() {
            true if ended.next != ended.by => Some(ended.by),
            true => self.previous,
            false => None,
        };
        Transactional {
            producer: ended.next.producer,
            epoch: ended.next.epoch,
            previous,
            at: ended.at,
            open: None,
            ended: Some(Ending { by: ended.reason.was_asked().then_some(ended.by), committed: ended.reason.commits() }),
            ..self
        }
    }

    /// Its producer now.
    pub fn identity(&self) -> Identity {
        Identity { producer: self.producer, epoch: self.epoch }
    }

    /// After so long an open transaction is aborted, in ms.
    pub fn timeout_ms(&self) -> i32 {
        self.timeout_ms
    }

    /// When it was last changed.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Its open transaction.
    pub fn open(&self) -> Option<&OpenTransaction> {
        self.open.as_ref()
    }

    /// How the last transaction ended, if none began since.
    pub fn ended(&self) -> Option<Ending> {
        self.ended
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        let open = self.open.as_ref()?;
        Some(Timestamp(open.begun.0.saturating_add(self.timeout_ms.into())))
    }

    pub(super) fn staged_groups(&self) -> impl Iterator<Item = &str> {
        self.open.iter().flat_map(|open| open.staged.keys().map(String::as_str))
    }
}

impl OpenTransaction {
    pub(in super::super) fn new(begun: Timestamp) -> OpenTransaction {
        OpenTransaction {
            begun,
            streams: BTreeMap::new(),
            partitions: BTreeSet::new(),
            seals: BTreeSet::new(),
            groups: BTreeSet::new(),
            staged: BTreeMap::new(),
        }
    }

    /// When it began.
    pub fn begun(&self) -> Timestamp {
        self.begun
    }

    /// Its stream on every feed that it touches.
    pub fn streams(&self) -> impl ExactSizeIterator<Item = (FeedId, StreamId)> {
        self.streams.iter().map(|(feed, stream)| (*feed, *stream))
    }

    /// Its stream on one feed.
    pub fn stream_on(&self, feed: FeedId) -> Option<StreamId> {
        self.streams.get(&feed).copied()
    }

    /// The partitions that it touches.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = (FeedId, PartitionId)> {
        self.partitions.iter().copied()
    }

    /// It touches that partition.
    pub fn has_partition(&self, feed: FeedId, partition: PartitionId) -> bool {
        self.partitions.contains(&(feed, partition))
    }

    /// The groups that may send positions with it.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }

    /// Positions that move if it commits, by group.
    pub fn staged(&self) -> impl ExactSizeIterator<Item = (&str, &Subscription)> {
        self.staged.iter().map(|(group, positions)| (group.as_str(), positions))
    }

    /// The positions of one group that move if it commits.
    pub fn staged_for(&self, group: &str) -> Option<&Subscription> {
        self.staged.get(group)
    }

    /// Partitions and positions that its end is about.
    pub(in super::super) fn num_touched(&self) -> usize {
        let positions: u64 = self.staged.values().map(|positions| positions.num_positions).sum();
        self.partitions.len() + self.streams.len() + positions as usize
    }

    /// A feed is gone.
    pub(in super::super) fn forget_feed(&mut self, feed: FeedId, name: &str) {
        self.streams.remove(&feed);
        self.seals.remove(&feed);
        self.partitions.retain(|(other, _)| *other != feed);
        self.staged.values_mut().for_each(|positions| positions.forget_feed(name));
        self.staged.retain(|_, positions| !positions.is_empty());
    }
}

//! What a transaction touches: partitions, groups, and the positions that are to move with it.

use std::collections::BTreeSet;

use super::super::decision::Decision;
use super::super::entry::{Enlisted, Entry, MovedPosition, PositionsMoved, PositionsStaged};
use super::super::ids::{FeedId, PartitionId, Timestamp};
use super::super::name::feed_of_topic;
use super::super::state::State;
use super::super::subscription::SubscriptionError;
use super::held::{groups_bytes, places_bytes, positions_bytes};
use super::{HELD_BYTES_MAX, Identity, TRANSACTION_GROUPS_MAX, TRANSACTION_PARTITIONS_MAX, Transactional};

/// A producer says what its transaction touches.
#[derive(Clone, Debug)]
pub struct Enlist {
    pub id: String,
    pub identity: Identity,
    pub partitions: Vec<(FeedId, PartitionId)>,
    /// Feeds to whose `..seal` it is to write.
    pub seals: Vec<FeedId>,
    pub groups: Vec<String>,
    pub now: Timestamp,
}

/// Positions that are to move when a transaction commits.
#[derive(Clone, Debug)]
pub struct StagePositions {
    pub id: String,
    pub identity: Identity,
    pub group: String,
    pub positions: Vec<MovedPosition>,
    /// The group need not be enlisted before (the second transaction protocol).
    pub enlists: bool,
    pub now: Timestamp,
}

/// What a Produce request says of the transaction that its batches belong to.
#[derive(Clone, Copy, Debug)]
pub struct InTransaction<'a> {
    /// The transactional id.
    pub id: &'a str,
    /// The partition need not be enlisted before (the second transaction protocol).
    pub enlists: bool,
}

/// Why a transaction does not take something in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnlistError {
    #[error("transactional id {id:?} is not known; the producer must be initialized first")]
    UnknownId { id: String },
    #[error("transactional id {id:?} belongs to producer {}, and producer {} asks", current.producer, found.producer)]
    OtherProducer { id: String, current: Identity, found: Identity },
    #[error("the producer of transactional id {id:?} has epoch {}, and epoch {} asks", current.epoch, found.epoch)]
    Fenced { id: String, current: Identity, found: Identity },
    #[error("group {group:?} is not part of the transaction of {id:?}")]
    NotEnlisted { id: String, group: String },
    #[error("partition {partition} of feed {feed} is not part of the transaction of {id:?}")]
    PartitionNotEnlisted { id: String, feed: FeedId, partition: PartitionId },
    #[error("the ..seal of feed {feed} is not part of the transaction of {id:?}")]
    SealNotEnlisted { id: String, feed: FeedId },
    #[error("there is no feed with number {feed} any more")]
    UnknownFeed { feed: FeedId },
    #[error("feed {feed} has no partition {partition}")]
    UnknownPartition { feed: FeedId, partition: PartitionId },
    #[error("a transaction touches at most {TRANSACTION_PARTITIONS_MAX} partitions")]
    TooManyPartitions,
    #[error("a transaction moves positions of at most {TRANSACTION_GROUPS_MAX} groups")]
    TooManyGroups,
    #[error(
        "what open transactions touch takes {bytes} bytes, and {HELD_BYTES_MAX} is the most; end some, or abort those that hang"
    )]
    TooMuchHeld { bytes: u64 },
    #[error(transparent)]
    Subscription(#[from] SubscriptionError),
}

impl State {
    /// Decides that a transaction touches partitions and groups; it begins with the first.
    pub fn decide_enlist(&self, wish: Enlist) -> Result<Decision<()>, EnlistError> {
        let known = self.admit(&wish.id, wish.identity)?;
        for (feed, partition) in &wish.partitions {
            let known = self.feed(*feed).ok_or(EnlistError::UnknownFeed { feed: *feed })?;
            let unknown = EnlistError::UnknownPartition { feed: *feed, partition: *partition };
            known.partition(*partition).ok_or(unknown)?;
        }
        if let Some(feed) = wish.seals.iter().find(|feed| self.feed(**feed).is_none()) {
            return Err(EnlistError::UnknownFeed { feed: *feed });
        }
        let enlisted = new_ones(known, wish);
        let (partitions, groups) =
            known.open.as_ref().map_or((0, 0), |open| (open.partitions.len() + open.seals.len(), open.groups.len()));
        if partitions + enlisted.partitions.len() + enlisted.seals.len() > TRANSACTION_PARTITIONS_MAX {
            return Err(EnlistError::TooManyPartitions);
        }
        if groups + enlisted.groups.len() > TRANSACTION_GROUPS_MAX {
            return Err(EnlistError::TooManyGroups);
        }
        let places = enlisted.partitions.len() + enlisted.seals.len();
        self.check_held(places_bytes(places) + groups_bytes(&enlisted.groups))?;
        match enlisted.partitions.is_empty() && enlisted.seals.is_empty() && enlisted.groups.is_empty() {
            true => Ok(Decision::nothing(())),
            false => Ok(Decision::one(Entry::Enlisted(enlisted), ())),
        }
    }

    /// Decides that positions move when a transaction commits. Those on feeds that are deleted by now are left out.
    pub fn decide_stage_positions(&self, wish: StagePositions) -> Result<Decision<()>, EnlistError> {
        let known = self.admit(&wish.id, wish.identity)?;
        let StagePositions { id, identity, group, mut positions, enlists, now } = wish;
        let is_enlisted = known.open.as_ref().is_some_and(|open| open.groups.contains(&group));
        if !is_enlisted && !enlists {
            return Err(EnlistError::NotEnlisted { id, group });
        }
        positions.retain(|moved| self.feed_named(feed_of_topic(&moved.topic)).is_some());
        // A time to be forgotten at can be told with plain positions only.
        positions.iter_mut().for_each(|moved| moved.expires = None);
        let staged = known.open.as_ref().and_then(|open| open.staged_for(&group));
        if staged.is_none() {
            self.check_room_for(&group)?;
        }
        self.check_positions(staged, &positions)?;
        self.check_held(positions_bytes(&positions))?;
        let producer = identity.producer;
        let mut entries = Vec::new();
        if !is_enlisted {
            let (partitions, seals, groups) = (Vec::new(), Vec::new(), vec![group.clone()]);
            entries = self.decide_enlist(Enlist { id, identity, partitions, seals, groups, now })?.entries;
        }
        if !positions.is_empty() {
            let moved = PositionsMoved { group, at: now, positions };
            entries.push(Entry::PositionsStaged(PositionsStaged { producer, moved }));
        }
        Ok(Decision { entries, outcome: () })
    }

    /// The transactional id, if this is its producer.
    pub(in super::super) fn admit(&self, id: &str, found: Identity) -> Result<&Transactional, EnlistError> {
        let known = self.transactions.get(id).ok_or_else(|| EnlistError::UnknownId { id: id.to_owned() })?;
        let current = known.identity();
        if current.producer != found.producer {
            return Err(EnlistError::OtherProducer { id: id.to_owned(), current, found });
        }
        match current.epoch == found.epoch {
            true => Ok(known),
            false => Err(EnlistError::Fenced { id: id.to_owned(), current, found }),
        }
    }
}

/// What of the wish the transaction does not touch yet, each once.
fn new_ones(known: &Transactional, wish: Enlist) -> Enlisted {
    let mut partitions = BTreeSet::from_iter(wish.partitions);
    let mut seals = BTreeSet::from_iter(wish.seals);
    let mut groups = BTreeSet::from_iter(wish.groups);
    if let Some(open) = &known.open {
        partitions.retain(|place| !open.partitions.contains(place));
        seals.retain(|feed| !open.seals.contains(feed));
        groups.retain(|group| !open.groups.contains(group));
    }
    Enlisted {
        producer: wish.identity.producer,
        at: wish.now,
        partitions: partitions.into_iter().collect(),
        seals: seals.into_iter().collect(),
        groups: groups.into_iter().collect(),
    }
}

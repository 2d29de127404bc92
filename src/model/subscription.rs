//! Subscriptions: the positions of consumer groups, and what of their membership lasts.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use super::decision::Decision;
use super::entry::{Entry, GroupKept, MovedPosition, PositionsMoved};
use super::ids::{PartitionId, Timestamp};
use super::name::feed_of_topic;
use super::state::State;

/// Subscriptions that may exist.
pub const SUBSCRIPTIONS_MAX: usize = 100_000;

/// Positions that all subscriptions together may hold.
pub const POSITIONS_TOTAL_MAX: u64 = 4_000_000;

/// Bytes that the metadata of all positions together may take.
pub const METADATA_BYTES_TOTAL_MAX: u64 = 512 << 20;

/// The named positions of a consumer group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subscription {
    /// By topic, as its consumers name it: the positions on `orders` and on `orders..feed` count in different spaces.
    pub(super) positions: BTreeMap<String, BTreeMap<PartitionId, Position>>,
    pub(super) num_positions: u64,
    pub(super) metadata_bytes: u64,
    pub(super) kept: Option<Kept>,
}

/// Where a group reads on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub offset: i64,
    /// -1: not told.
    pub leader_epoch: i32,
    /// As the client sent it.
    pub metadata: String,
    pub at: Timestamp,
    /// When it is forgotten, if its client said so.
    pub expires: Option<Timestamp>,
}

/// What of a group's membership lasts. The group's machine writes it and reads it after a restart; nobody else looks in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub kind: GroupKind,
    /// When it was last changed.
    pub at: Timestamp,
    pub head: Bytes,
    pub members: BTreeMap<String, Bytes>,
}

/// By which protocol a group's members agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// JoinGroup, SyncGroup, Heartbeat.
    Classic,
    /// ConsumerGroupHeartbeat (KIP-848).
    Consumer,
}

/// Why a subscription does not take what it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    #[error(
        "there are {SUBSCRIPTIONS_MAX} consumer groups, with those that open transactions move, and that is the most; delete some \
         that are not needed"
    )]
    TooManySubscriptions,
    #[error(
        "consumer groups hold {total} positions, and {POSITIONS_TOTAL_MAX} is the most; delete groups or offsets that are not needed"
    )]
    TooManyPositions { total: u64 },
    #[error(
        "the metadata of consumer groups' positions takes {bytes} bytes, and {METADATA_BYTES_TOTAL_MAX} is the most; commit \
         with less, or delete groups that are not needed"
    )]
    TooMuchMetadata { bytes: u64 },
}

impl State {
    /// The subscription of that name.
    pub fn subscription(&self, group: &str) -> Option<&Subscription> {
        self.subscriptions.get(group)
    }

    /// All subscriptions by name.
    pub fn subscriptions(&self) -> impl ExactSizeIterator<Item = (&str, &Subscription)> {
        self.subscriptions.iter().map(|(group, subscription)| (group.as_str(), subscription))
    }

    /// Positions of all subscriptions together.
    pub fn num_positions(&self) -> u64 {
        self.num_positions
    }

    /// Decides that a group reads on at these positions, all at once. Those on feeds that are deleted by now are left out:
    /// they would be found again by whoever makes a feed of that name.
    pub fn decide_move_positions(
        &self,
        group: &str,
        mut positions: Vec<MovedPosition>,
        now: Timestamp,
    ) -> Result<Decision<()>, SubscriptionError> {
        positions.retain(|moved| self.feed_named(feed_of_topic(&moved.topic)).is_some());
        if positions.is_empty() {
            return Ok(Decision::nothing(()));
        }
        self.check_room_for(group)?;
        self.check_positions(self.subscription(group), &positions)?;
        Ok(Decision::one(Entry::PositionsMoved(PositionsMoved { group: group.to_owned(), at: now, positions }), ()))
    }

    /// Whoever commits with no more metadata than before is not refused.
    fn check_metadata(
        &self,
        before: Option<&Subscription>,
        positions: &[MovedPosition],
    ) -> Result<(), SubscriptionError> {
        let more: u64 = positions.iter().map(|moved| moved.metadata.len() as u64).sum();
        let bytes = self.metadata_bytes + self.transactions.held().metadata_bytes + more;
        if bytes <= METADATA_BYTES_TOTAL_MAX {
            return Ok(());
        }
        let replaced = |moved: &MovedPosition| {
            before?.position(&moved.topic, moved.partition).map(|known| known.metadata.len() as u64)
        };
        let replaced: u64 = positions.iter().filter_map(replaced).sum();
        match more > replaced && bytes - replaced > METADATA_BYTES_TOTAL_MAX {
            true => Err(SubscriptionError::TooMuchMetadata { bytes: bytes - replaced }),
            false => Ok(()),
        }
    }

    /// Decides that a group has no position any more on these partitions; the outcome is how many it had.
    pub fn decide_forget_positions(&self, group: &str, positions: Vec<(String, PartitionId)>) -> Decision<usize> {
        let Some(subscription) = self.subscription(group) else { return Decision::nothing(0) };
        let mut positions = positions;
        positions.retain(|(topic, partition)| subscription.position(topic, *partition).is_some());
        match positions.len() {
            0 => Decision::nothing(0),
            num => Decision::one(Entry::PositionsForgotten { group: group.to_owned(), positions }, num),
        }
    }

    /// Decides that this of a group's membership lasts. Never refused: members were told what it says. A group that is not
    /// there yet was given its place when it began to run (see `broker/groups`), so there are twice [`SUBSCRIPTIONS_MAX`] at
    /// most.
    pub fn decide_keep_group(&self, kept: GroupKept) -> Decision<()> {
        Decision::one(Entry::GroupKept(kept), ())
    }

    /// Decides that a group is gone with all its positions; the outcome says whether there was one.
    pub fn decide_delete_group(&self, group: &str) -> Decision<bool> {
        match self.subscription(group) {
            Some(_) => Decision::one(Entry::GroupDeleted { group: group.to_owned() }, true),
            None => Decision::nothing(false),
        }
    }

    /// There is room for these positions, which replace some of those `before`. Those that wait for the end of a transaction
    /// count too: they must not be refused when it commits.
    pub(super) fn check_positions(
        &self,
        before: Option<&Subscription>,
        positions: &[MovedPosition],
    ) -> Result<(), SubscriptionError> {
        self.check_metadata(before, positions)?;
        let total = self.num_positions + self.transactions.held().positions;
        if total + positions.len() as u64 <= POSITIONS_TOTAL_MAX {
            return Ok(());
        }
        let known = |moved: &MovedPosition| before.is_some_and(|s| s.position(&moved.topic, moved.partition).is_some());
        let num_new = positions.iter().filter(|moved| !known(moved)).count() as u64;
        match num_new > 0 && total + num_new > POSITIONS_TOTAL_MAX {
            true => Err(SubscriptionError::TooManyPositions { total }),
            false => Ok(()),
        }
    }

    /// There is room for the group, if it is new. Groups that open transactions are to move count as new ones.
    pub(super) fn check_room_for(&self, group: &str) -> Result<(), SubscriptionError> {
        let num = self.subscriptions.len() + self.transactions.num_staging();
        match num >= SUBSCRIPTIONS_MAX && self.subscription(group).is_none() {
            true => Err(SubscriptionError::TooManySubscriptions),
            false => Ok(()),
        }
    }
}

impl Subscription {
    /// Where the group reads on in that partition.
    pub fn position(&self, topic: &str, partition: PartitionId) -> Option<&Position> {
        self.positions.get(topic)?.get(&partition)
    }

    /// All positions, by topic and partition.
    pub fn positions(&self) -> impl Iterator<Item = (&str, PartitionId, &Position)> {
        let of_topic = |(topic, positions)| {
            let topic: &String = topic;
            let positions: &BTreeMap<PartitionId, Position> = positions;
            positions.iter().map(|(partition, position)| (topic.as_str(), *partition, position))
        };
        self.positions.iter().flat_map(of_topic)
    }

    /// The positions in one topic, by partition.
    pub fn positions_in(&self, topic: &str) -> impl Iterator<Item = (PartitionId, &Position)> {
        self.positions.get(topic).into_iter().flatten().map(|(partition, position)| (*partition, position))
    }

    /// The topics with positions whose names begin so.
    pub fn topics_beginning<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.positions.range::<str, _>((Bound::Included(beginning), Bound::Unbounded));
        from.map(|(topic, _)| topic.as_str()).take_while(move |topic| topic.starts_with(beginning))
    }

    /// It has positions on a feed, or on a view of it.
    pub(super) fn is_on(&self, feed: &str) -> bool {
        let views = format!("{feed}..");
        let topics = self.positions.range(views.clone()..).map(|(topic, _)| topic);
        self.positions.contains_key(feed)
            || topics.take_while(|topic| topic.starts_with(&views)).any(|topic| feed_of_topic(topic) == feed)
    }

    /// The topics that it has positions in.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.positions.keys().map(String::as_str)
    }

    /// What the group's machine keeps.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    pub(super) fn move_to(&mut self, at: Timestamp, moved: &MovedPosition) {
        let MovedPosition { offset, leader_epoch, ref metadata, expires, .. } = *moved;
        let position = Position { offset, leader_epoch, metadata: metadata.clone(), at, expires };
        self.put(&moved.topic, moved.partition, position);
    }

    pub(super) fn put(&mut self, topic: &str, partition: PartitionId, position: Position) {
        self.metadata_bytes += position.metadata.len() as u64;
        let before = match self.positions.get_mut(topic) {
            Some(positions) => positions.insert(partition, position),
            None => self.positions.entry(topic.to_owned()).or_default().insert(partition, position),
        };
        self.num_positions += u64::from(before.is_none());
        self.metadata_bytes -= before.map_or(0, |before| before.metadata.len() as u64);
    }

    pub(super) fn forget(&mut self, topic: &str, partition: PartitionId) {
        if let Some(positions) = self.positions.get_mut(topic) {
            if let Some(gone) = positions.remove(&partition) {
                self.num_positions -= 1;
                self.metadata_bytes -= gone.metadata.len() as u64;
            }
            if positions.is_empty() {
                self.positions.remove(topic);
            }
        }
    }

    /// Forgets the positions on a feed and on all views of it.
    pub(super) fn forget_feed(&mut self, feed: &str) {
        if !self.is_on(feed) {
            return;
        }
        self.positions.retain(|topic, _| feed_of_topic(topic) != feed);
        self.num_positions = self.positions.values().map(|positions| positions.len() as u64).sum();
        self.metadata_bytes = self.positions().map(|(_, _, position)| position.metadata.len() as u64).sum();
    }

    pub(super) fn keep(&mut self, kept: &GroupKept) {
        let GroupKept { kind, at, ref head, .. } = *kept;
        let members = self.kept.take().filter(|before| before.kind == kind).map(|before| before.members);
        let mut members = members.unwrap_or_default();
        for (id, row) in &kept.members {
            match row {
                Some(row) => drop(members.insert(id.clone(), row.clone())),
                None => drop(members.remove(id)),
            }
        }
        self.kept = Some(Kept { kind, at, head: head.clone(), members });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.kept.is_none()
    }
}

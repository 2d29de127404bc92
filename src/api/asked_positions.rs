//! Positions that a request asks to move: which of them can be, and the answer for each.

use std::collections::HashSet;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::TopicName;
use kafka_protocol::protocol::StrBytes;

use super::topic;
use crate::broker::Broker;
use crate::model::{MovedPosition, PartitionId};

/// A position, as it stands in a request.
pub struct AskedPosition {
    pub index: i32,
    pub offset: i64,
    pub leader_epoch: i32,
    pub metadata: Option<StrBytes>,
}

/// A topic of a request: what is to be moved, and what cannot be.
pub struct AskedTopic {
    pub name: TopicName,
    positions: Vec<(AskedPosition, Result<PartitionId, ResponseError>)>,
}

impl AskedTopic {
    /// Holds the positions against what is there.
    pub fn check(broker: &Broker, name: &TopicName, positions: impl Iterator<Item = AskedPosition>) -> AskedTopic {
        let num_partitions = topic::partitions_to_read(broker, name);
        let metadata_max = broker.settings().typed().offset_metadata_max;
        let check = |position: &AskedPosition| {
            let id = topic::partition_id(position.index).ok_or(ResponseError::UnknownTopicOrPartition)?;
            match num_partitions {
                Ok(num) if id.0 < num => check_metadata(position, metadata_max).map(|()| id),
                Ok(_) => Err(ResponseError::UnknownTopicOrPartition),
                Err(refused) => Err(refused),
            }
        };
        let checked = positions.map(|position| {
            let check = check(&position);
            (position, check)
        });
        AskedTopic { name: name.clone(), positions: checked.collect() }
    }

    /// Partitions and their codes, in the order of the request: what cannot be moved, and `all` for the others.
    pub fn codes(&self, all: i16) -> impl Iterator<Item = (i32, i16)> {
        let code = move |check: &Result<_, ResponseError>| check.as_ref().map_or_else(|error| error.code(), |_| all);
        self.positions.iter().map(move |(asked, check)| (asked.index, code(check)))
    }

    fn is_known(&self) -> bool {
        let known = |check: &Result<_, ResponseError>| {
            !matches!(check, Err(ResponseError::UnknownTopicOrPartition | ResponseError::InvalidTopicException))
        };
        self.positions.iter().any(|(_, check)| known(check))
    }
}

fn check_metadata(position: &AskedPosition, max: usize) -> Result<(), ResponseError> {
    let metadata = position.metadata.as_deref().unwrap_or_default();
    // Kafka counts as Java does, in units of UTF-16.
    match metadata.len() > max && metadata.encode_utf16().count() > max {
        true => Err(ResponseError::OffsetMetadataTooLarge),
        false => Ok(()),
    }
}

/// True when something of the request is the group's business. As in Kafka, the group is not asked about topics that are
/// not there.
pub fn are_known(topics: &[AskedTopic]) -> bool {
    topics.iter().any(AskedTopic::is_known)
}

/// What is to be moved. Of a partition that is named several times the last counts.
pub fn to_move(topics: &[AskedTopic]) -> Vec<MovedPosition> {
    let mut named = HashSet::new();
    let mut moved = Vec::new();
    for AskedTopic { name, positions } in topics.iter().rev() {
        for (asked, check) in positions.iter().rev() {
            if let Ok(partition) = check
                && named.insert((name.as_str(), *partition))
            {
                moved.push(owned(name, *partition, asked));
            }
        }
    }
    moved.reverse();
    moved
}

/// Copied: a slice of the request would keep all of it.
fn owned(topic: &TopicName, partition: PartitionId, asked: &AskedPosition) -> MovedPosition {
    MovedPosition {
        topic: topic.as_str().to_owned(),
        partition,
        offset: asked.offset,
        leader_epoch: asked.leader_epoch,
        metadata: asked.metadata.as_deref().unwrap_or_default().to_owned(),
        expires: None,
    }
}

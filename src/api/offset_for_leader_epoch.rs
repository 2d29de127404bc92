//! OffsetForLeaderEpoch (key 23): where an epoch of leadership ends. There is one epoch, and it ends at the log's end.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use kafka_protocol::messages::offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult};
use kafka_protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use super::node::LEADER_EPOCH;
use super::topic;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::view::{Isolation, Reader};
use crate::wire::error;

/// No epoch, or no offset.
const UNDEFINED: i32 = -1;

/// Answers an OffsetForLeaderEpoch.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetForLeaderEpochRequest) -> Reply {
    let broker = broker.clone();
    context.looked_up(broker.clone(), false, move || {
        let topics = request.topics.iter().map(|asked| answer_topic(&broker, asked)).collect();
        OffsetForLeaderEpochResponse::default().with_topics(topics)
    })
}

fn answer_topic(broker: &Broker, asked: &OffsetForLeaderTopic) -> OffsetForLeaderTopicResult {
    let readable = topic::by_name(broker, &asked.topic).map_err(|refusal| refusal.for_reader());
    let mut reader = readable.as_ref().map(|readable| readable.view.reader());
    let partitions = asked.partitions.iter().map(|partition| {
        let answer = EpochEndOffset::default().with_partition(partition.partition);
        match reader.as_mut().map_err(|error| **error).and_then(|reader| end_of(reader, partition)) {
            Ok(Some(end)) => answer.with_leader_epoch(LEADER_EPOCH).with_end_offset(end),
            Ok(None) => answer.with_leader_epoch(UNDEFINED).with_end_offset(UNDEFINED.into()),
            Err(error) => {
                answer.with_error_code(error.code()).with_leader_epoch(UNDEFINED).with_end_offset(UNDEFINED.into())
            }
        }
    });
    OffsetForLeaderTopicResult::default().with_topic(asked.topic.clone()).with_partitions(partitions.collect())
}

/// The end of the epoch asked for; none if there was no such epoch.
fn end_of(reader: &mut Reader<'_>, asked: &OffsetForLeaderPartition) -> Result<Option<i64>, ResponseError> {
    let id = topic::partition_id(asked.partition).ok_or(ResponseError::UnknownTopicOrPartition)?;
    let bounds = reader.bounds(id, Isolation::ReadUncommitted).map_err(|error| error::of_view_read(&error))?;
    if asked.current_leader_epoch > LEADER_EPOCH {
        return Err(ResponseError::UnknownLeaderEpoch);
    }
    Ok((asked.leader_epoch == LEADER_EPOCH).then_some(bounds.end))
}

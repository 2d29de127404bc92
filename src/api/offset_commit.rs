//! OffsetCommit (key 8): where a consumer group reads on. All positions of a request become one journal entry, and the
//! answer waits until it is durable.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use kafka_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::topic;
use super::{Reply, RequestContext};
use crate::broker::{Broker, CommitError, Committer};
use crate::model::{MovedPosition, PartitionId};
use crate::wire::error;

const GROUP_NOT_FOUND_SINCE: i16 = 9;

/// Answers an OffsetCommit.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetCommitRequest) -> Reply {
    let checks: Vec<TopicCheck> = request.topics.iter().map(|topic| TopicCheck::of(broker, topic)).collect();
    let positions = positions(&checks);
    if !checks.iter().any(TopicCheck::is_known) {
        // As in Kafka: nothing of it is the group's business.
        return context.ready(&answer(checks, None));
    }
    let committer = Committer {
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
    };
    let moved = broker.commit_positions(&request.group_id, committer, positions);
    let refused = moved.value.err().map(|refusal| refusal_code(&refusal, context.version));
    context.ready_at(&answer(checks, refused), moved.durable_at)
}

/// Clients before version 9 know no groups that are not there.
fn refusal_code(refusal: &CommitError, version: i16) -> ResponseError {
    match error::of_commit(refusal) {
        ResponseError::GroupIdNotFound if version < GROUP_NOT_FOUND_SINCE => ResponseError::IllegalGeneration,
        code => code,
    }
}

/// A topic of a request: what is to be moved, and what cannot be.
struct TopicCheck<'a> {
    topic: &'a OffsetCommitRequestTopic,
    partitions: Vec<Result<PartitionId, ResponseError>>,
}

impl TopicCheck<'_> {
    fn of<'a>(broker: &Broker, topic: &'a OffsetCommitRequestTopic) -> TopicCheck<'a> {
        let num_partitions = topic::partitions_to_read(broker, &topic.name);
        let metadata_max = broker.settings().typed().offset_metadata_max;
        let check = |partition: &OffsetCommitRequestPartition| {
            let id = topic::partition_id(partition.partition_index).ok_or(ResponseError::UnknownTopicOrPartition)?;
            match num_partitions {
                Ok(num) if id.0 < num => check_metadata(partition, metadata_max).map(|()| id),
                Ok(_) => Err(ResponseError::UnknownTopicOrPartition),
                Err(refused) => Err(refused),
            }
        };
        TopicCheck { topic, partitions: topic.partitions.iter().map(check).collect() }
    }

    fn is_known(&self) -> bool {
        let known = |check: &Result<_, ResponseError>| {
            !matches!(check, Err(ResponseError::UnknownTopicOrPartition | ResponseError::InvalidTopicException))
        };
        self.partitions.iter().any(known)
    }
}

fn check_metadata(partition: &OffsetCommitRequestPartition, max: usize) -> Result<(), ResponseError> {
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    // Kafka counts as Java does, in units of UTF-16.
    match metadata.len() > max && metadata.encode_utf16().count() > max {
        true => Err(ResponseError::OffsetMetadataTooLarge),
        false => Ok(()),
    }
}

/// What is to be moved. Of a partition that is named several times the last counts.
fn positions(checks: &[TopicCheck<'_>]) -> Vec<MovedPosition> {
    let mut named = HashSet::new();
    let mut positions = Vec::new();
    for TopicCheck { topic, partitions } in checks.iter().rev() {
        for (asked, check) in topic.partitions.iter().zip(partitions).rev() {
            if let Ok(partition) = check
                && named.insert((topic.name.as_str(), *partition))
            {
                positions.push(moved(topic, *partition, asked));
            }
        }
    }
    positions.reverse();
    positions
}

/// Copied: a slice of the request would keep all of it.
fn moved(
    topic: &OffsetCommitRequestTopic,
    partition: PartitionId,
    asked: &OffsetCommitRequestPartition,
) -> MovedPosition {
    MovedPosition {
        topic: topic.name.as_str().to_owned(),
        partition,
        offset: asked.committed_offset,
        leader_epoch: asked.committed_leader_epoch,
        metadata: asked.committed_metadata.as_deref().unwrap_or_default().to_owned(),
    }
}

fn answer(checks: Vec<TopicCheck<'_>>, refused: Option<ResponseError>) -> OffsetCommitResponse {
    let group = refused.map_or(0, |error| error.code());
    let topics = checks.into_iter().map(|TopicCheck { topic, partitions }| {
        let results = topic.partitions.iter().zip(partitions).map(|(asked, check)| {
            OffsetCommitResponsePartition::default()
                .with_partition_index(asked.partition_index)
                .with_error_code(check.map_or_else(|error| error.code(), |_| group))
        });
        OffsetCommitResponseTopic::default().with_name(topic.name.clone()).with_partitions(results.collect())
    });
    OffsetCommitResponse::default().with_topics(topics.collect())
}

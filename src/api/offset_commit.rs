//! OffsetCommit (key 8): where a consumer group reads on. All positions of a request become one journal entry, and the
//! answer waits until it is durable.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use kafka_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::asked_positions::{self, AskedPosition, AskedTopic};
use super::{Reply, RequestContext};
use crate::broker::{Broker, CommitError, Committer, Gated};
use crate::model::{Lsn, MovedPosition, Timestamp};
use crate::wire::error;

/// First version that speaks of member epochs, and of groups that are not there.
const EPOCHS_SINCE: i16 = 9;

/// Answers an OffsetCommit.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: OffsetCommitRequest) -> Reply {
    let (looking, committing, version) = (broker.clone(), broker.clone(), context.version);
    let request = Arc::new(request);
    let looked_at = request.clone();
    let look = move || looked_at.topics.iter().map(|topic| asked(&looking, topic)).collect::<Vec<_>>();
    context.changed(broker, look, move |topics| commit(&committing, version, &request, &topics))
}

fn commit(
    broker: &Broker,
    version: i16,
    request: &OffsetCommitRequest,
    topics: &[AskedTopic],
) -> Gated<OffsetCommitResponse> {
    if !asked_positions::are_known(topics) {
        return Gated { value: answer(topics, None), durable_at: Lsn(0) };
    }
    let committer = Committer {
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
        knows_epochs: version >= EPOCHS_SINCE,
    };
    let expires = expires(broker, request);
    let positions = asked_positions::to_move(topics).into_iter().map(|moved| MovedPosition { expires, ..moved });
    let moved = broker.commit_positions(&request.group_id, committer, positions.collect());
    moved.map(|moved| answer(topics, moved.err().map(|refusal| refusal_code(&refusal, version))))
}

/// Versions 2 to 4 say how long the positions are kept; -1 leaves it to the broker.
fn expires(broker: &Broker, request: &OffsetCommitRequest) -> Option<Timestamp> {
    let retention_ms = request.retention_time_ms;
    (retention_ms != -1).then(|| Timestamp(broker.now().0.saturating_add(retention_ms)))
}

/// Clients before version 9 know no groups that are not there.
fn refusal_code(refusal: &CommitError, version: i16) -> ResponseError {
    match error::of_commit(refusal) {
        ResponseError::GroupIdNotFound if version < EPOCHS_SINCE => ResponseError::IllegalGeneration,
        code => code,
    }
}

fn asked(broker: &Broker, topic: &OffsetCommitRequestTopic) -> AskedTopic {
    let position = |partition: &OffsetCommitRequestPartition| AskedPosition {
        index: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone(),
    };
    AskedTopic::check(broker, &topic.name, topic.partitions.iter().map(position))
}

fn answer(topics: &[AskedTopic], refused: Option<ResponseError>) -> OffsetCommitResponse {
    let group = refused.map_or(0, |error| error.code());
    let topics = topics.iter().map(|topic| {
        let results = topic.codes(group).map(|(index, code)| {
            OffsetCommitResponsePartition::default().with_partition_index(index).with_error_code(code)
        });
        OffsetCommitResponseTopic::default().with_name(topic.name.clone()).with_partitions(results.collect())
    });
    OffsetCommitResponse::default().with_topics(topics.collect())
}

//! TxnOffsetCommit (key 28): positions of a group that move when a producer's transaction commits, and are forgotten when it
//! is aborted.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use kafka_protocol::messages::{TxnOffsetCommitRequest, TxnOffsetCommitResponse};

use super::asked_positions::{self, AskedPosition, AskedTopic};
use super::transactional::{identity, owned};
use super::{Reply, RequestContext};
use crate::broker::{Broker, Committer};
use crate::model::StagePositions;

/// From this version on a group need not be added to the transaction before (KIP-890).
const ENLISTS_SINCE: i16 = 5;

/// Answers a TxnOffsetCommit.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: TxnOffsetCommitRequest) -> Reply {
    let topics: Vec<AskedTopic> = request.topics.iter().map(|topic| asked(broker, topic)).collect();
    if request.transactional_id.is_empty() {
        return context.ready(&answer(&topics, Some(ResponseError::InvalidRequest)));
    }
    if !asked_positions::are_known(&topics) {
        return context.ready(&answer(&topics, None));
    }
    let committer = Committer {
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id,
        // The rule of versions is for commits that move positions at once.
        knows_epochs: true,
    };
    let stage = StagePositions {
        id: owned(&request.transactional_id),
        identity: identity(request.producer_id, request.producer_epoch),
        group: request.group_id.as_str().to_owned(),
        positions: asked_positions::to_move(&topics),
        enlists: context.version >= ENLISTS_SINCE,
        now: broker.now(),
    };
    let staged = broker.stage_positions(committer, stage);
    let refused = staged.value.err().map(|error| context.told_to().of_stage(&error));
    context.ready_at(&answer(&topics, refused), staged.durable_at)
}

fn asked(broker: &Broker, topic: &TxnOffsetCommitRequestTopic) -> AskedTopic {
    let position = |partition: &TxnOffsetCommitRequestPartition| AskedPosition {
        index: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone(),
    };
    AskedTopic::check(broker, &topic.name, topic.partitions.iter().map(position))
}

fn answer(topics: &[AskedTopic], refused: Option<ResponseError>) -> TxnOffsetCommitResponse {
    let all = refused.map_or(0, |error| error.code());
    let topics = topics.iter().map(|topic| {
        let results = topic.codes(all).map(|(index, code)| {
            TxnOffsetCommitResponsePartition::default().with_partition_index(index).with_error_code(code)
        });
        TxnOffsetCommitResponseTopic::default().with_name(topic.name.clone()).with_partitions(results.collect())
    });
    TxnOffsetCommitResponse::default().with_topics(topics.collect())
}

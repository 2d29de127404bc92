//! AddOffsetsToTxn (key 25): a group whose positions a producer's transaction is about to move.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

use super::transactional::{identity, owned};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::Enlist;

/// Answers an AddOffsetsToTxn.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: AddOffsetsToTxnRequest) -> Reply {
    if let Some(error) = refusal(&request) {
        return context.ready(&answer(Some(error)));
    }
    let enlisted = broker.enlist(Enlist {
        id: owned(&request.transactional_id),
        identity: identity(request.producer_id, request.producer_epoch),
        partitions: Vec::new(),
        seals: Vec::new(),
        groups: vec![request.group_id.as_str().to_owned()],
        now: broker.now(),
    });
    let refused = enlisted.value.err().map(|error| context.told_to().of_enlist(&error));
    context.ready_at(&answer(refused), enlisted.durable_at)
}

fn refusal(request: &AddOffsetsToTxnRequest) -> Option<ResponseError> {
    match (request.transactional_id.is_empty(), request.group_id.is_empty()) {
        (true, _) => Some(ResponseError::InvalidRequest),
        (_, true) => Some(ResponseError::InvalidGroupId),
        _ => None,
    }
}

fn answer(refused: Option<ResponseError>) -> AddOffsetsToTxnResponse {
    AddOffsetsToTxnResponse::default().with_error_code(refused.map_or(0, |error| error.code()))
}

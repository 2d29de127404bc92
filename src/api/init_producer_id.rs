//! InitProducerId (key 22): an id for an idempotent producer. Never given twice, not even after a crash.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};

use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::wire::error;

const NONE: i16 = -1;

/// Answers an InitProducerId.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: InitProducerIdRequest) -> Reply {
    if let Some(error) = refusal(&request) {
        let response = InitProducerIdResponse::default().with_error_code(error.code());
        return context.ready(&response.with_producer_id(ProducerId(-1)).with_producer_epoch(NONE));
    }
    // A producer that names its old id gets a new one too: without a transactional id nothing is bound to the old.
    let opened = broker.open_producer();
    let response =
        InitProducerIdResponse::default().with_producer_id(ProducerId(opened.value.0)).with_producer_epoch(0);
    context.ready_at(&response, opened.durable_at)
}

fn refusal(request: &InitProducerIdRequest) -> Option<ResponseError> {
    if (request.producer_id.0 == -1) != (request.producer_epoch == NONE) {
        return Some(ResponseError::InvalidRequest);
    }
    match request.transactional_id.as_ref().map(|id| id.as_str()) {
        None => None,
        Some("") => Some(ResponseError::InvalidRequest),
        Some(id) => {
            tracing::warn!(transactional_id = id, "a producer asked for transactions, which are not served yet");
            Some(error::TRANSACTIONS_NOT_SERVED)
        }
    }
}

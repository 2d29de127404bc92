//! InitProducerId (key 22): an id for an idempotent producer, which is never given twice, not even after a crash; or the
//! producer of a transactional id, by which the one before is fenced and what it left open is aborted.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{self, InitProducerIdRequest, InitProducerIdResponse};

use super::transactional::{identity, owned};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::{Bind, Identity, ProducerId};

const NONE: i16 = -1;

/// Answers an InitProducerId.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: InitProducerIdRequest) -> Reply {
    if (request.producer_id.0 == -1) != (request.producer_epoch == NONE) {
        return context.ready(&refused(ResponseError::InvalidRequest));
    }
    match &request.transactional_id {
        None => {
            // A producer that names its old id gets a new one too: without a transactional id nothing is bound to the old.
            let opened = broker.open_producer();
            context.ready_at(&given(Identity { producer: opened.value, epoch: 0 }), opened.durable_at)
        }
        Some(id) if id.is_empty() => context.ready(&refused(ResponseError::InvalidRequest)),
        // A producer asks again until there is room, and each answer would take an epoch. Clients wait at this code.
        Some(_) if !broker.has_space() => context.ready(&refused(ResponseError::CoordinatorNotAvailable)),
        Some(id) => {
            let bind = Bind {
                id: owned(id),
                timeout_ms: request.transaction_timeout_ms,
                timeout_max_ms: broker.settings().typed().transaction_timeout_max_ms,
                current: goes_on_from(&request),
                now: broker.now(),
            };
            let bound = broker.bind_producer(bind);
            let response = match &bound.value {
                Ok(identity) => given(*identity),
                Err(error) => refused(context.told_to().of_bind(error)),
            };
            context.ready_at(&response, bound.durable_at)
        }
    }
}

/// A producer that recovers from an error says who it was (KIP-360).
fn goes_on_from(request: &InitProducerIdRequest) -> Option<Identity> {
    (request.producer_epoch != NONE).then(|| identity(request.producer_id, request.producer_epoch))
}

fn given(Identity { producer, epoch }: Identity) -> InitProducerIdResponse {
    InitProducerIdResponse::default().with_producer_id(messages::ProducerId(producer.0)).with_producer_epoch(epoch)
}

fn refused(error: ResponseError) -> InitProducerIdResponse {
    given(Identity { producer: ProducerId(-1), epoch: NONE }).with_error_code(error.code())
}

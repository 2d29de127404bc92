//! EndTxn (key 26): a producer commits or aborts its transaction. When it is answered all of it has happened: the markers,
//! the commits and the positions stand in one journal entry.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{EndTxnRequest, EndTxnResponse, ProducerId};

use super::transactional::{identity, owned};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::{EndTransaction, Identity};

/// From this version on each transaction has an epoch of its own, and the answer tells the next (KIP-890).
const EPOCHS_SINCE: i16 = 5;

/// Answers an EndTxn.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: EndTxnRequest) -> Reply {
    if request.transactional_id.is_empty() {
        return context.ready(&refused(ResponseError::InvalidRequest));
    }
    let ended = broker.end_transaction(EndTransaction {
        id: owned(&request.transactional_id),
        identity: identity(request.producer_id, request.producer_epoch),
        commit: request.committed,
        bumps: context.version >= EPOCHS_SINCE,
        now: broker.now(),
    });
    let response = match &ended.value {
        Ok(next) if context.version >= EPOCHS_SINCE => goes_on_as(*next),
        Ok(_) => EndTxnResponse::default(),
        Err(error) => refused(context.told_to().of_end(error)),
    };
    context.ready_at(&response, ended.durable_at)
}

fn goes_on_as(Identity { producer, epoch }: Identity) -> EndTxnResponse {
    EndTxnResponse::default().with_producer_id(ProducerId(producer.0)).with_producer_epoch(epoch)
}

fn refused(error: ResponseError) -> EndTxnResponse {
    EndTxnResponse::default().with_error_code(error.code())
}

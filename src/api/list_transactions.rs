//! ListTransactions (key 66): transactional ids in the states, of the producers, of the age and of the names asked for.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_transactions_response::TransactionState;
use kafka_protocol::messages::{ListTransactionsRequest, ListTransactionsResponse, ProducerId};
use kafka_protocol::protocol::StrBytes;

use super::group::text;
use super::listed_transaction::{STATES, state};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::consumer::Pattern;
use crate::model::{Timestamp, Transactional};

/// Answers a ListTransactions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ListTransactionsRequest) -> Reply {
    let names = match request.transactional_id_pattern.as_deref().filter(|pattern| !pattern.is_empty()) {
        Some(pattern) => match Pattern::new(pattern) {
            Ok(pattern) => Some(pattern),
            Err(_) => return context.ready(&refused(ResponseError::InvalidRegularExpression)),
        },
        None => None,
    };
    let now = broker.now();
    let listed = broker.look_at_transactions(|transactions| {
        let chosen = transactions
            .iter()
            .filter(|(id, known)| names.as_ref().is_none_or(|names| names.matches(id)) && passes(&request, known, now));
        chosen.map(|(id, known)| row(id, known)).collect()
    });
    let response = ListTransactionsResponse::default()
        .with_unknown_state_filters(unknown(&request.state_filters))
        .with_transaction_states(listed.value);
    context.ready_at(&response, listed.durable_at)
}

/// An empty filter lets everything pass; one of ages, whatever is open for longer.
fn passes(request: &ListTransactionsRequest, known: &Transactional, now: Timestamp) -> bool {
    let states = &request.state_filters;
    let of_state = states.is_empty() || states.iter().any(|wanted| **wanted == *state(known));
    let producers = &request.producer_id_filters;
    let of_producer = producers.is_empty() || producers.contains(&ProducerId(known.identity().producer.0));
    let open_ms = known.open().map(|open| now.0 - open.begun().0);
    let of_age = request.duration_filter < 0 || open_ms.is_some_and(|open_ms| open_ms > request.duration_filter);
    of_state && of_producer && of_age
}

fn unknown(states: &[StrBytes]) -> Vec<StrBytes> {
    states.iter().filter(|wanted| !STATES.contains(&wanted.as_str())).cloned().collect()
}

fn row(id: &str, known: &Transactional) -> TransactionState {
    TransactionState::default()
        .with_transactional_id(text(id).into())
        .with_producer_id(ProducerId(known.identity().producer.0))
        .with_transaction_state(StrBytes::from_static_str(state(known)))
}

fn refused(error: ResponseError) -> ListTransactionsResponse {
    ListTransactionsResponse::default().with_error_code(error.code())
}

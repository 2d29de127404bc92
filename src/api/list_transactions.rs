//! ListTransactions (key 66): transactional ids in the states, of the producers, of the age and of the names asked for.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_transactions_response::TransactionState;
use kafka_protocol::messages::{ListTransactionsRequest, ListTransactionsResponse, ProducerId};
use kafka_protocol::protocol::StrBytes;

use super::group::text;
use super::listed_transaction::{STATES, state};
use super::{Reply, RequestContext};
use crate::broker::{Broker, Gated};
use crate::model::group::consumer::Pattern;
use crate::model::{Lsn, Timestamp, Transactional, Transactions};

/// Answers a ListTransactions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ListTransactionsRequest) -> Reply {
    let names = match request.transactional_id_pattern.as_deref().filter(|pattern| !pattern.is_empty()) {
        Some(pattern) => match Pattern::new(pattern) {
            Ok(pattern) => Some(pattern),
            Err(_) => return context.ready(&refused(ResponseError::InvalidRegularExpression)),
        },
        None => None,
    };
    let (looking, unknown) = (broker.clone(), unknown(&request.state_filters));
    let make = move || {
        let listed = list(&looking, &request, names.as_ref());
        let response = ListTransactionsResponse::default().with_unknown_state_filters(unknown);
        listed.map(|states| response.with_transaction_states(states))
    };
    // A pattern takes its time on many names: not on a worker, nor under the core's lock.
    context.decided_aside(broker, make)
}

/// Ids that are looked at in one go, under the core's lock.
const PAGE_IDS: usize = 1_000;

/// Page by page: what ends or begins meanwhile is told as it is when its page is looked at.
fn list(broker: &Broker, request: &ListTransactionsRequest, names: Option<&Pattern>) -> Gated<Vec<TransactionState>> {
    let now = broker.now();
    let mut listed = Gated { value: Vec::new(), durable_at: Lsn(0) };
    let mut last: Option<String> = None;
    loop {
        let looked = broker.look_at_transactions(|transactions| page(transactions, last.as_deref(), request, now));
        let Page { rows, next } = looked.value;
        let is_named = |row: &TransactionState| names.is_none_or(|names| names.matches(&row.transactional_id));
        listed.value.extend(rows.into_iter().filter(is_named));
        listed.durable_at = listed.durable_at.max(looked.durable_at);
        match next {
            Some(id) => last = Some(id),
            None => return listed,
        }
    }
}

/// Some of the ids.
struct Page {
    /// Those that pass all filters but the pattern.
    rows: Vec<TransactionState>,
    /// The last one looked at, if there may be more.
    next: Option<String>,
}

fn page(transactions: &Transactions, last: Option<&str>, request: &ListTransactionsRequest, now: Timestamp) -> Page {
    let mut page = Page { rows: Vec::new(), next: None };
    for (number, (id, known)) in transactions.after(last).take(PAGE_IDS).enumerate() {
        if passes(request, known, now) {
            page.rows.push(row(id, known));
        }
        page.next = (number + 1 == PAGE_IDS).then(|| id.to_owned());
    }
    page
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

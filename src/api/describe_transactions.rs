//! DescribeTransactions (key 65): transactional ids in full, with the partitions that their open transactions touch.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_transactions_response::{TopicData, TransactionState};
use kafka_protocol::messages::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, ProducerId, TransactionalId,
};
use kafka_protocol::protocol::StrBytes;

use super::group::text;
use super::listed_transaction::state;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::{Lsn, OpenTransaction, Transactional};

/// No transaction is open.
const NEVER: i64 = -1;

/// Answers a DescribeTransactions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeTransactionsRequest) -> Reply {
    let mut gate = Lsn(0);
    // Once each: an answer may be thousands of times as long as the question.
    let mut told = HashSet::new();
    let asked = request.transactional_ids.iter().filter(|id| told.insert(*id));
    let states = asked.map(|id| describe(broker, id, &mut gate)).collect();
    context.ready_at(&DescribeTransactionsResponse::default().with_transaction_states(states), gate)
}

fn describe(broker: &Broker, id: &TransactionalId, gate: &mut Lsn) -> TransactionState {
    let answer = TransactionState::default().with_transactional_id(id.clone());
    if id.is_empty() {
        return answer.with_error_code(ResponseError::InvalidRequest.code());
    }
    let looked = broker.look_at_transaction(id, |known| known.map(|known| described(broker, known, answer.clone())));
    *gate = looked.durable_at.max(*gate);
    looked.value.unwrap_or_else(|| answer.with_error_code(ResponseError::TransactionalIdNotFound.code()))
}

fn described(broker: &Broker, known: &Transactional, answer: TransactionState) -> TransactionState {
    let identity = known.identity();
    answer
        .with_transaction_state(StrBytes::from_static_str(state(known)))
        .with_transaction_timeout_ms(known.timeout_ms())
        .with_transaction_start_time_ms(known.open().map_or(NEVER, |open| open.begun().0))
        .with_producer_id(ProducerId(identity.producer.0))
        .with_producer_epoch(identity.epoch)
        .with_topics(known.open().map(|open| topics(broker, open)).unwrap_or_default())
}

fn topics(broker: &Broker, open: &OpenTransaction) -> Vec<TopicData> {
    let mut partitions = BTreeMap::<String, Vec<i32>>::new();
    for (feed, partition) in open.partitions() {
        // One that is being deleted has no name any more.
        if let (Some(feed), Ok(index)) = (broker.catalog().by_id(feed), i32::try_from(partition.0)) {
            partitions.entry(feed.name.clone()).or_default().push(index);
        }
    }
    let topic = |(name, partitions): (String, Vec<i32>)| {
        TopicData::default().with_topic(text(name).into()).with_partitions(partitions)
    };
    partitions.into_iter().map(topic).collect()
}

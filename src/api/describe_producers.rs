//! DescribeProducers (key 61): the producers that partitions remember, and where their open transactions begin. A feed's `..seal` has its own.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::describe_producers_response::{PartitionResponse, ProducerState, TopicResponse};
use kafka_protocol::messages::{DescribeProducersRequest, DescribeProducersResponse, ProducerId};
use kafka_protocol::protocol::StrBytes;

use super::topic::{Refusal, partition_id, unknown_topic};
use super::{Reply, RequestContext};
use crate::broker::{Broker, ProducerSeen};
use crate::model::{Lsn, PartitionId};
use crate::view::name::{self, TopicName};
use crate::view::{Selector, ViewName};

/// No transaction is open; no coordinator but this broker ever ended one.
const NONE: i64 = -1;

/// Answers a DescribeProducers.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeProducersRequest) -> Reply {
    let mut gate = Lsn(0);
    // Once each: an answer may be thousands of times as long as the question.
    let mut told = HashSet::new();
    let topics = request.topics.iter().map(|topic| {
        let indexes = topic.partition_indexes.iter().filter(|index| told.insert((&topic.name, **index)));
        let partitions = indexes.map(|index| partition(broker, topic, *index, &mut gate)).collect();
        TopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions)
    });
    let topics = topics.collect();
    context.ready_at(&DescribeProducersResponse::default().with_topics(topics), gate)
}

fn partition(broker: &Broker, topic: &TopicRequest, index: i32, gate: &mut Lsn) -> PartitionResponse {
    let answer = PartitionResponse::default().with_partition_index(index);
    match producers(broker, &topic.name, index, gate) {
        Ok(seen) => answer.with_error_message(None).with_active_producers(seen.into_iter().map(to_answer).collect()),
        Err(Refusal { error, message }) => {
            answer.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
        }
    }
}

fn producers(broker: &Broker, topic: &str, index: i32, gate: &mut Lsn) -> Result<Vec<ProducerSeen>, Refusal> {
    let feed = |name: &str| broker.catalog().by_name(name).ok_or_else(unknown_topic);
    let partition = partition_id(index).ok_or_else(unknown_topic)?;
    let seen = match name::parse_topic(topic).map_err(|error| super::described::invalid_name(&error))? {
        TopicName::Plain(plain) => broker.producers(&*feed(plain)?, partition),
        TopicName::View(view) if view.selector == Selector::Seal && partition == PartitionId(0) => {
            broker.seal_producers(&*feed(&view.feed)?)
        }
        TopicName::View(view) => return Err(never_written(&view)),
    };
    *gate = seen.durable_at.max(*gate);
    seen.value.ok_or_else(unknown_topic)
}

fn never_written(view: &ViewName) -> Refusal {
    let message = format!("{view} is a view of {}; nobody produces to it", view.feed);
    Refusal { error: ResponseError::InvalidTopicException, message }
}

fn to_answer(seen: ProducerSeen) -> ProducerState {
    ProducerState::default()
        .with_producer_id(ProducerId(seen.id.0))
        .with_producer_epoch(seen.epoch.into())
        .with_last_sequence(seen.last_sequence)
        .with_last_timestamp(seen.last_at.0)
        .with_coordinator_epoch(NONE as i32)
        .with_current_txn_start_offset(seen.transaction_start.map_or(NONE, |start| start.0))
}

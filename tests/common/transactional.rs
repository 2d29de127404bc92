//! The requests of a transactional producer in the forms of both protocols, and what their answers say.

use bytes::Bytes;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, EndTxnRequest, GroupId,
    InitProducerIdRequest, ProduceRequest, ProducerId, TopicName, TransactionalId, TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
};
use kafka_protocol::protocol::StrBytes;
use streamstack::batch::{BatchBuilder, NewRecord, Producer};

pub const ADD_PARTITIONS: i16 = 3;
pub const ADD_OFFSETS: i16 = 3;

/// The first: a client says what a transaction touches before it does. The second (KIP-890): writing says it, and each
/// transaction has an epoch of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    First,
    Second,
}

/// Versions by which a broker tells them apart.
impl Protocol {
    pub fn init(self) -> i16 {
        if self == Protocol::First { 4 } else { 5 }
    }

    pub fn produce(self) -> i16 {
        if self == Protocol::First { 11 } else { 12 }
    }

    pub fn offsets(self) -> i16 {
        if self == Protocol::First { 3 } else { 5 }
    }

    pub fn end(self) -> i16 {
        if self == Protocol::First { 3 } else { 5 }
    }
}

/// Who a transactional producer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub id: String,
    pub producer: i64,
    pub epoch: i16,
}

/// `current` is what the producer goes on from; none at its start.
pub fn init(id: &str, timeout_ms: i32, current: Option<&Identity>) -> InitProducerIdRequest {
    InitProducerIdRequest::default()
        .with_transactional_id(Some(transactional_id(id)))
        .with_transaction_timeout_ms(timeout_ms)
        .with_producer_id(ProducerId(current.map_or(-1, |current| current.producer)))
        .with_producer_epoch(current.map_or(-1, |current| current.epoch))
}

pub fn add_partitions(who: &Identity, places: &[(&str, i32)]) -> AddPartitionsToTxnRequest {
    let topics = places.iter().map(|(topic, partition)| {
        AddPartitionsToTxnTopic::default().with_name(topic_name(topic)).with_partitions(vec![*partition])
    });
    AddPartitionsToTxnRequest::default()
        .with_v3_and_below_transactional_id(transactional_id(&who.id))
        .with_v3_and_below_producer_id(ProducerId(who.producer))
        .with_v3_and_below_producer_epoch(who.epoch)
        .with_v3_and_below_topics(topics.collect())
}

/// The first code that is an error, or 0.
pub fn code_of_partitions(answer: &AddPartitionsToTxnResponse) -> i16 {
    let results = answer.results_by_topic_v3_and_below.iter().flat_map(|topic| &topic.results_by_partition);
    first_error(results.map(|result| result.partition_error_code))
}

pub fn add_offsets(who: &Identity, group: &str) -> AddOffsetsToTxnRequest {
    AddOffsetsToTxnRequest::default()
        .with_transactional_id(transactional_id(&who.id))
        .with_producer_id(ProducerId(who.producer))
        .with_producer_epoch(who.epoch)
        .with_group_id(group_id(group))
}

/// Positions of a group that has no members.
pub fn offsets(who: &Identity, group: &str, positions: &[(&str, i32, i64)]) -> TxnOffsetCommitRequest {
    let topics = positions.iter().map(|(topic, partition, offset)| {
        let partition = TxnOffsetCommitRequestPartition::default()
            .with_partition_index(*partition)
            .with_committed_offset(*offset)
            .with_committed_leader_epoch(-1)
            .with_committed_metadata(Some(StrBytes::default()));
        TxnOffsetCommitRequestTopic::default().with_name(topic_name(topic)).with_partitions(vec![partition])
    });
    TxnOffsetCommitRequest::default()
        .with_transactional_id(transactional_id(&who.id))
        .with_group_id(group_id(group))
        .with_producer_id(ProducerId(who.producer))
        .with_producer_epoch(who.epoch)
        .with_generation_id(-1)
        .with_topics(topics.collect())
}

/// The first code that is an error, or 0.
pub fn code_of_offsets(answer: &TxnOffsetCommitResponse) -> i16 {
    first_error(answer.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code))
}

pub fn end(who: &Identity, commit: bool) -> EndTxnRequest {
    EndTxnRequest::default()
        .with_transactional_id(transactional_id(&who.id))
        .with_producer_id(ProducerId(who.producer))
        .with_producer_epoch(who.epoch)
        .with_committed(commit)
}

/// A transactional batch, keyed by its values.
pub fn batch(who: &Identity, base_sequence: i32, values: &[impl AsRef<str>]) -> Bytes {
    let producer = Producer { id: who.producer, epoch: who.epoch, base_sequence };
    let mut builder = BatchBuilder::new(0).producer(producer).transactional();
    for (value, timestamp) in values.iter().zip(1_767_225_600_000..) {
        let value = Some(value.as_ref().as_bytes());
        builder.push(NewRecord { timestamp, key: value, value, headers: &[] });
    }
    builder.build()
}

/// Produce with acks=all; the transactional id is that of the request.
pub fn produce(id: Option<&str>, topic: &str, partition: i32, batch: Bytes) -> ProduceRequest {
    let data = PartitionProduceData::default().with_index(partition).with_records(Some(batch));
    let topic = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(vec![data]);
    ProduceRequest::default()
        .with_transactional_id(id.map(transactional_id))
        .with_acks(-1)
        .with_timeout_ms(30_000)
        .with_topic_data(vec![topic])
}

pub fn transactional_id(id: &str) -> TransactionalId {
    TransactionalId(StrBytes::from_string(id.to_owned()))
}

fn group_id(group: &str) -> GroupId {
    GroupId(StrBytes::from_string(group.to_owned()))
}

fn topic_name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

fn first_error(mut codes: impl Iterator<Item = i16>) -> i16 {
    codes.find(|code| *code != 0).unwrap_or(0)
}

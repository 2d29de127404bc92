//! Transactions through the requests of producers: what is written, moved and named in one, and how it ends.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, EndTxnRequest, GroupId, InitProducerIdRequest,
    ListOffsetsRequest, ProduceRequest, ProducerId, TransactionalId, TxnOffsetCommitRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::super::metadata::topic_name;
use super::TestBroker;
use crate::batch::{BatchBuilder, NewRecord, Producer};

/// A producer as it shows itself.
#[derive(Clone, Debug)]
pub struct Writer {
    pub id: &'static str,
    pub producer: i64,
    pub epoch: i16,
}

pub fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

pub fn id(name: &str) -> TransactionalId {
    text(name).into()
}

/// The name of a code, as far as there is one.
pub fn code(code: i16) -> Option<ResponseError> {
    ResponseError::try_from_code(code)
}

impl Writer {
    pub async fn open(test: &TestBroker, id: &'static str) -> Writer {
        let answer = test.call(4, &Writer::asks(id, 60_000)).await;
        assert_eq!(answer.error_code, 0);
        Writer { id, producer: answer.producer_id.0, epoch: answer.producer_epoch }
    }

    pub fn asks(name: &str, timeout_ms: i32) -> InitProducerIdRequest {
        let request = InitProducerIdRequest::default().with_transactional_id(Some(id(name)));
        request.with_transaction_timeout_ms(timeout_ms)
    }

    pub fn in_epoch(&self, epoch: i16) -> Writer {
        Writer { epoch, ..self.clone() }
    }

    pub fn adds(&self, topics: &[&str]) -> AddPartitionsToTxnRequest {
        let topic =
            |name: &&str| AddPartitionsToTxnTopic::default().with_name(topic_name(name)).with_partitions(vec![0]);
        AddPartitionsToTxnRequest::default()
            .with_v3_and_below_transactional_id(id(self.id))
            .with_v3_and_below_producer_id(ProducerId(self.producer))
            .with_v3_and_below_producer_epoch(self.epoch)
            .with_v3_and_below_topics(topics.iter().map(topic).collect())
    }

    pub async fn add(&self, test: &TestBroker, version: i16, topics: &[&str]) -> Vec<Option<ResponseError>> {
        let answer = test.call(version, &self.adds(topics)).await;
        let codes = answer.results_by_topic_v3_and_below.iter();
        codes.map(|topic| code(topic.results_by_partition[0].partition_error_code)).collect()
    }

    pub async fn add_group(&self, test: &TestBroker, version: i16, group: &str) -> Option<ResponseError> {
        let request = AddOffsetsToTxnRequest::default().with_transactional_id(id(self.id));
        let request = request.with_producer_id(ProducerId(self.producer)).with_producer_epoch(self.epoch);
        code(test.call(version, &request.with_group_id(GroupId(text(group)))).await.error_code)
    }

    /// A batch of one record.
    pub fn batch(&self, sequence: i32, record: NewRecord<'_>) -> Bytes {
        let producer = Producer { id: self.producer, epoch: self.epoch, base_sequence: sequence };
        BatchBuilder::new(0).producer(producer).transactional().record(record).build()
    }

    /// The offset, or why not.
    pub async fn send(
        &self,
        test: &TestBroker,
        version: i16,
        topic: &str,
        sequence: i32,
    ) -> Result<i64, ResponseError> {
        let record = NewRecord { key: Some(b"k"), value: Some(b"v"), ..NewRecord::default() };
        self.send_batch(test, version, topic, self.batch(sequence, record)).await
    }

    pub async fn send_batch(
        &self,
        test: &TestBroker,
        version: i16,
        topic: &str,
        batch: Bytes,
    ) -> Result<i64, ResponseError> {
        let partition = PartitionProduceData::default().with_records(Some(batch));
        let topic = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(vec![partition]);
        let request = ProduceRequest::default().with_transactional_id(Some(id(self.id))).with_acks(-1);
        let answer = test.call(version, &request.with_topic_data(vec![topic])).await;
        let told = &answer.responses[0].partition_responses[0];
        code(told.error_code).map_or(Ok(told.base_offset), Err)
    }

    pub fn positions(&self, group: &str, topic: &str, offset: i64) -> TxnOffsetCommitRequest {
        let partition = TxnOffsetCommitRequestPartition::default().with_committed_offset(offset);
        let topic =
            TxnOffsetCommitRequestTopic::default().with_name(topic_name(topic)).with_partitions(vec![partition]);
        TxnOffsetCommitRequest::default()
            .with_transactional_id(id(self.id))
            .with_group_id(GroupId(text(group)))
            .with_producer_id(ProducerId(self.producer))
            .with_producer_epoch(self.epoch)
            .with_topics(vec![topic])
    }

    pub async fn stage(&self, test: &TestBroker, version: i16, group: &str, offset: i64) -> Option<ResponseError> {
        staged(test, version, &self.positions(group, "orders", offset)).await
    }

    /// The identity to go on with, or why not.
    pub async fn end(&self, test: &TestBroker, version: i16, commit: bool) -> Result<(i64, i16), ResponseError> {
        let request = EndTxnRequest::default().with_transactional_id(id(self.id)).with_committed(commit);
        let request = request.with_producer_id(ProducerId(self.producer)).with_producer_epoch(self.epoch);
        let answer = test.call(version, &request).await;
        code(answer.error_code).map_or(Ok((answer.producer_id.0, answer.producer_epoch)), Err)
    }
}

pub async fn staged(test: &TestBroker, version: i16, request: &TxnOffsetCommitRequest) -> Option<ResponseError> {
    code(test.call(version, request).await.topics[0].partitions[0].error_code)
}

/// The end of a partition, and the end of what is decided in it.
async fn ends(test: &TestBroker, topic: &str) -> [i64; 2] {
    let mut ends = [0; 2];
    for (isolation, end) in [0, 1].into_iter().zip(&mut ends) {
        let latest = ListOffsetsTopic::default()
            .with_name(topic_name(topic))
            .with_partitions(vec![ListOffsetsPartition::default().with_timestamp(-1)]);
        let request = ListOffsetsRequest::default().with_isolation_level(isolation).with_topics(vec![latest]);
        *end = test.call(7, &request).await.topics[0].partitions[0].offset;
    }
    ends
}

#[tokio::test]
async fn what_is_added_can_be_written_to_and_ends_as_one() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    test.make("visits", 1).await;
    let writer = Writer::open(&test, "loader").await;
    assert_eq!(writer.add(&test, 3, &["orders", "visits"]).await, [None, None]);
    assert_eq!(writer.send(&test, 11, "orders", 0).await, Ok(0));
    assert_eq!(writer.send(&test, 11, "visits", 0).await, Ok(0));
    assert_eq!((ends(&test, "orders").await, ends(&test, "visits").await), ([1, 0], [1, 0]));
    assert_eq!(writer.end(&test, 4, true).await, Ok((-1, -1)), "the answer of that version names nobody");
    assert_eq!((ends(&test, "orders").await, ends(&test, "visits").await), ([2, 2], [2, 2]));
}

#[tokio::test]
async fn clients_of_the_second_protocol_add_by_writing_and_get_an_epoch_for_each_transaction() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    let mut writer = Writer::open(&test, "loader").await;
    let epoch = writer.epoch;
    for (number, commit) in [(1, true), (2, false)] {
        assert!(writer.send(&test, 12, "orders", 0).await.is_ok());
        assert_eq!(writer.stage(&test, 5, "readers", 1).await, None);
        let next = writer.end(&test, 5, commit).await;
        assert_eq!(next, Ok((writer.producer, epoch + number)));
        assert_eq!(writer.end(&test, 5, commit).await, next, "asked again, as after a lost answer");
        writer = writer.in_epoch(epoch + number);
    }
    assert_eq!(ends(&test, "orders").await, [4, 4]);
    assert_eq!(writer.end(&test, 5, true).await, Err(ResponseError::InvalidTxnState), "there is nothing to commit");
    assert_eq!(writer.end(&test, 5, false).await, Ok((writer.producer, epoch + 3)), "nothing can be aborted");
}

#[tokio::test]
async fn an_unknown_topic_or_a_view_leaves_the_others_untried() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    let writer = Writer::open(&test, "loader").await;
    let untried = Some(ResponseError::OperationNotAttempted);
    for (topic, refused) in [
        ("nothing", ResponseError::UnknownTopicOrPartition),
        ("orders..feed", ResponseError::InvalidTopicException),
        ("nothing..seal", ResponseError::UnknownTopicOrPartition),
        ("or ders", ResponseError::InvalidTopicException),
    ] {
        assert_eq!(writer.add(&test, 3, &["orders", topic]).await, [untried, Some(refused)], "{topic}");
    }
    assert_eq!(writer.send(&test, 11, "orders", 0).await, Err(ResponseError::TransactionAbortable));
}

#[tokio::test]
async fn a_record_to_seal_names_the_stream_of_the_transaction() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    let writer = Writer::open(&test, "loader").await;
    assert_eq!(writer.add(&test, 3, &["orders..seal"]).await, [None]);
    let poll = NewRecord { key: Some(b"poll 1"), ..NewRecord::default() };
    assert!(writer.send_batch(&test, 11, "orders..seal", writer.batch(0, poll)).await.is_ok());
    assert_eq!(ends(&test, "orders..commits").await, [0, 0]);
    assert!(writer.end(&test, 4, true).await.is_ok());
    assert_eq!(ends(&test, "orders..commits").await, [1, 1], "an empty commit");
}

//! The requests of the tests, and the parts of answers that they look at.

use bytes::Bytes;
use kafka_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::produce_response::PartitionProduceResponse;
use kafka_protocol::messages::{
    BrokerId, CreateTopicsRequest, DeleteTopicsRequest, FetchRequest, InitProducerIdRequest, ListOffsetsRequest,
    ProduceRequest, ProducerId, TopicName,
};
use kafka_protocol::protocol::StrBytes;
use streamstack::batch::{BatchBuilder, NewRecord, Producer, batch_lengths, records};

use super::peer::Peer;

pub const PRODUCE: i16 = 11;
pub const FETCH: i16 = 12;
pub const LIST_OFFSETS: i16 = 9;
const BATCH_BYTES_MAX: usize = 256 << 20;

pub fn topic_name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

/// A batch of records with these values.
pub fn batch(values: &[&str]) -> Bytes {
    builder(values).build()
}

/// A batch of an idempotent producer.
pub fn batch_of(id: i64, epoch: i16, base_sequence: i32, values: &[&str]) -> Bytes {
    builder(values).producer(Producer { id, epoch, base_sequence }).build()
}

fn builder(values: &[&str]) -> BatchBuilder {
    let record = |value: &'_ str| value.to_owned();
    let mut builder = BatchBuilder::new(0);
    for (value, time) in values.iter().map(|value| record(value)).zip(1_767_225_600_000..) {
        builder.push(NewRecord { timestamp: time, key: Some(b"k"), value: Some(value.as_bytes()), headers: &[] });
    }
    builder
}

/// Produce with acks=all.
pub fn produce(topic: &str, partitions: Vec<(i32, Bytes)>) -> ProduceRequest {
    let data = partitions
        .into_iter()
        .map(|(index, batch)| PartitionProduceData::default().with_index(index).with_records(Some(batch)));
    let topic = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(data.collect());
    ProduceRequest::default().with_acks(-1).with_timeout_ms(30_000).with_topic_data(vec![topic])
}

/// Fetch from one partition, at most so many bytes of it and in all.
pub fn fetch(topic: &str, partition: i32, offset: i64, wait_ms: i32, max_bytes: i32) -> FetchRequest {
    fetch_of(topic, vec![(partition, offset)], wait_ms, max_bytes)
}

pub fn fetch_of(topic: &str, partitions: Vec<(i32, i64)>, wait_ms: i32, max_bytes: i32) -> FetchRequest {
    let partitions = partitions.into_iter().map(|(partition, offset)| {
        FetchPartition::default()
            .with_partition(partition)
            .with_current_leader_epoch(-1)
            .with_fetch_offset(offset)
            .with_log_start_offset(-1)
            .with_partition_max_bytes(max_bytes)
    });
    let topic = FetchTopic::default().with_topic(topic_name(topic)).with_partitions(partitions.collect());
    FetchRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_max_wait_ms(wait_ms)
        .with_min_bytes(1)
        .with_max_bytes(max_bytes)
        .with_session_epoch(-1)
        .with_topics(vec![topic])
}

pub fn list_offsets(topic: &str, partition: i32, timestamp: i64) -> ListOffsetsRequest {
    let asked = ListOffsetsPartition::default()
        .with_partition_index(partition)
        .with_current_leader_epoch(-1)
        .with_timestamp(timestamp);
    let topic = ListOffsetsTopic::default().with_name(topic_name(topic)).with_partitions(vec![asked]);
    ListOffsetsRequest::default().with_replica_id(BrokerId(-1)).with_topics(vec![topic])
}

pub fn create_topic(topic: &str, num_partitions: i32, configs: &[(&str, &str)]) -> CreateTopicsRequest {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let configs = configs
        .iter()
        .map(|(name, value)| CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value))));
    let topic = CreatableTopic::default()
        .with_name(topic_name(topic))
        .with_num_partitions(num_partitions)
        .with_replication_factor(1)
        .with_configs(configs.collect());
    CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000)
}

pub fn delete_topic(topic: &str) -> DeleteTopicsRequest {
    DeleteTopicsRequest::default().with_topic_names(vec![topic_name(topic)]).with_timeout_ms(30_000)
}

/// What tests do all the time.
impl Peer {
    pub fn create_topic(&mut self, topic: &str, num_partitions: i32, configs: &[(&str, &str)]) {
        let answer = self.ask(5, &create_topic(topic, num_partitions, configs));
        assert_eq!(answer.topics[0].error_code, 0, "{answer:?}");
    }

    pub fn delete_topic(&mut self, topic: &str) {
        let answer = self.ask(4, &delete_topic(topic));
        assert_eq!(answer.responses[0].error_code, 0, "{answer:?}");
    }

    /// An idempotent producer's id.
    pub fn producer_id(&mut self) -> i64 {
        let request = InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_producer_id(ProducerId(-1))
            .with_producer_epoch(-1);
        let answer = self.ask(4, &request);
        assert_eq!((answer.error_code, answer.producer_epoch), (0, 0));
        answer.producer_id.0
    }

    /// The answer for the only partition.
    pub fn produce(&mut self, topic: &str, partition: i32, batch: Bytes) -> PartitionProduceResponse {
        let mut answer = self.ask(PRODUCE, &produce(topic, vec![(partition, batch)]));
        answer.responses.remove(0).partition_responses.remove(0)
    }

    /// The offset that the batch got.
    pub fn produced(&mut self, topic: &str, partition: i32, batch: Bytes) -> i64 {
        let answer = self.produce(topic, partition, batch);
        assert_eq!(answer.error_code, 0, "{answer:?}");
        answer.base_offset
    }

    /// The answer for the only partition, from an offset on, without waiting.
    pub fn fetch(&mut self, topic: &str, partition: i32, offset: i64) -> PartitionData {
        only(self.ask(FETCH, &fetch(topic, partition, offset, 0, 1 << 20)))
    }

    pub fn list_offsets(&mut self, topic: &str, partition: i32, timestamp: i64) -> ListOffsetsPartitionResponse {
        let mut answer = self.ask(LIST_OFFSETS, &list_offsets(topic, partition, timestamp));
        answer.topics.remove(0).partitions.remove(0)
    }

    /// The values of a partition from its start to its end, which must stand at offsets without a gap.
    pub fn values(&mut self, topic: &str, partition: i32) -> Vec<String> {
        let (mut values, mut next, mut was_empty) = (Vec::new(), 0, false);
        loop {
            let answer = self.fetch(topic, partition, next);
            assert_eq!(answer.error_code, 0, "{answer:?}");
            for (offset, value) in records_of(&answer).into_iter().filter(|(offset, _)| *offset >= next) {
                assert_eq!(offset, values.len() as i64);
                values.push(value);
            }
            let is_empty = values.len() as i64 == next;
            if is_empty && next == answer.high_watermark {
                return values;
            }
            // What came after the look is there at the next one.
            assert!(
                !(is_empty && was_empty),
                "{topic}-{partition} has nothing at {next} and ends at {}",
                answer.high_watermark
            );
            (next, was_empty) = (values.len() as i64, is_empty);
        }
    }
}

pub fn only(mut response: kafka_protocol::messages::FetchResponse) -> PartitionData {
    assert_eq!(response.error_code, 0);
    response.responses.remove(0).partitions.remove(0)
}

/// Offsets and values of what was fetched. Checks each batch as a client does.
pub fn records_of(answer: &PartitionData) -> Vec<(i64, String)> {
    let batches = answer.records.clone().unwrap_or_default();
    let (mut at, mut found) = (0, Vec::new());
    for length in batch_lengths(&batches) {
        let batch = batches.slice(at..at + length);
        at += length;
        let records = records(&batch, BATCH_BYTES_MAX).unwrap();
        assert_eq!(
            streamstack::batch::checksum(&batch),
            records.header().crc,
            "the batch at {}",
            records.header().base_offset
        );
        for record in &records {
            let record = record.unwrap();
            found.push((record.offset, String::from_utf8(record.value.unwrap_or_default().to_vec()).unwrap()));
        }
    }
    assert_eq!(at, batches.len(), "a batch is cut");
    found
}

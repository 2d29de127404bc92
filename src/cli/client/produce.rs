//! Producing: one batch at a time, idempotent or plain.

use bytes::Bytes;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{InitProducerIdRequest, ProduceRequest, ProducerId};

use super::topics::topic_name;
use super::{Client, ClientError};
use crate::batch::{BatchBuilder, Producer};

const ALL_REPLICAS: i16 = -1;
const PRODUCE_TIMEOUT_MS: i32 = 30_000;
/// What an answer without the partition counts as.
const UNKNOWN_SERVER_ERROR: i16 = -1;

/// What makes an idempotent producer: the id that the broker gave. Sequences are counted by the caller, for each partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerSession {
    pub id: i64,
    pub epoch: i16,
}

impl ProducerSession {
    /// As a batch carries it whose first record has the sequence `base_sequence`.
    pub fn at(self, base_sequence: i32) -> Producer {
        Producer { id: self.id, epoch: self.epoch, base_sequence }
    }
}

impl Client {
    /// Asks for a producer id.
    pub fn open_producer(&mut self) -> Result<ProducerSession, ClientError> {
        self.patiently(|client| {
            let request = InitProducerIdRequest::default()
                .with_transactional_id(None)
                .with_transaction_timeout_ms(0)
                .with_producer_id(ProducerId(-1))
                .with_producer_epoch(-1);
            let response = client.ask(&request)?;
            match response.error_code {
                0 => Ok(ProducerSession { id: response.producer_id.0, epoch: response.producer_epoch }),
                code => Err(client.refused("give a producer id".to_owned(), code, None)),
            }
        })
    }

    /// Sends one batch, acks=all, and gives the offset of its first record. Refusals that are retriable are tried again:
    /// the broker has not kept the batch then.
    pub fn produce(&mut self, topic: &str, partition: i32, batch: BatchBuilder) -> Result<i64, ClientError> {
        let batch = batch.build();
        self.patiently(|client| client.produce_now(topic, partition, batch.clone()))
    }

    fn produce_now(&mut self, topic: &str, partition: i32, batch: Bytes) -> Result<i64, ClientError> {
        let data = PartitionProduceData::default().with_index(partition).with_records(Some(batch));
        let topic_data = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(ALL_REPLICAS)
            .with_timeout_ms(PRODUCE_TIMEOUT_MS)
            .with_topic_data(vec![topic_data]);
        let response = self.ask(&request)?;
        let answer = response.responses.first().and_then(|topic| topic.partition_responses.first());
        match answer.map_or((UNKNOWN_SERVER_ERROR, None), |a| (a.error_code, a.error_message.as_deref())) {
            (0, _) => Ok(answer.map_or(-1, |answer| answer.base_offset)),
            (code, message) => Err(self.refused(format!("take a batch for {topic}-{partition}"), code, message)),
        }
    }
}

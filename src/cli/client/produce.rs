//! Producing: batches, idempotent or plain.

use std::collections::BTreeMap;

use bytes::Bytes;
use kafka_protocol::error::ResponseError;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{InitProducerIdRequest, ProduceRequest, ProduceResponse, ProducerId};
use kafka_protocol::protocol::StrBytes;

use super::topics::topic_name;
use super::{Client, ClientError};
use crate::batch::{BatchBuilder, Producer};

const PRODUCE_TIMEOUT_MS: i32 = 30_000;
/// What an answer without the partition counts as.
const UNKNOWN_SERVER_ERROR: i16 = -1;

/// What makes an idempotent producer: the id that the broker gave. Sequences are counted by the caller, for each partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerSession {
    pub id: i64,
    pub epoch: i16,
}

/// When the broker answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Acks {
    /// Never: what gets lost is not noticed
    #[value(name = "0")]
    None,
    /// When the leader has the records
    #[value(name = "1")]
    Leader,
    /// When they are as safe as the topic promises
    #[value(name = "all", alias = "-1")]
    All,
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
        let batch = BTreeMap::from([(partition, batch.build())]);
        self.produce_in(None, topic, partition, &batch)
    }

    /// The same, in the transaction of a transactional id.
    pub(super) fn produce_in(
        &mut self,
        transactional_id: Option<&str>,
        topic: &str,
        partition: i32,
        batch: &BTreeMap<i32, Bytes>,
    ) -> Result<i64, ClientError> {
        let id = transactional_id.map(|id| StrBytes::from_string(id.to_owned()).into());
        let request = request(topic, batch, Acks::All).with_transactional_id(id);
        self.patiently(|client| {
            let response = client.ask(&request)?;
            client.base_offset(topic, partition, &response)
        })
    }

    /// Sends a batch to each of these partitions in one request, and gives the offsets of their first records; nothing at
    /// all with [`Acks::None`].
    pub fn produce_once(
        &mut self,
        topic: &str,
        batches: &BTreeMap<i32, Bytes>,
        acks: Acks,
    ) -> Result<BTreeMap<i32, Result<i64, ClientError>>, ClientError> {
        let request = request(topic, batches, acks);
        if acks == Acks::None {
            self.tell(&request)?;
            return Ok(BTreeMap::new());
        }
        let response = self.ask(&request)?;
        let answer = |partition: i32| (partition, self.base_offset(topic, partition, &response));
        Ok(batches.keys().map(|&partition| answer(partition)).collect())
    }

    fn base_offset(&self, topic: &str, partition: i32, response: &ProduceResponse) -> Result<i64, ClientError> {
        let answers = response.responses.iter().flat_map(|topic| &topic.partition_responses);
        let Some(answer) = answers.into_iter().find(|answer| answer.index == partition) else {
            return Err(self.not_answered(topic, partition));
        };
        match answer.error_code {
            0 => Ok(answer.base_offset),
            // An earlier attempt has brought it there; where, the broker has forgotten.
            code if code == ResponseError::DuplicateSequenceNumber.code() => Ok(-1),
            code => Err(self.refused_batch(topic, partition, code, answer.error_message.as_deref())),
        }
    }

    fn not_answered(&self, topic: &str, partition: i32) -> ClientError {
        self.refused_batch(topic, partition, UNKNOWN_SERVER_ERROR, None)
    }

    fn refused_batch(&self, topic: &str, partition: i32, code: i16, message: Option<&str>) -> ClientError {
        self.refused(format!("take a batch for {topic}-{partition}"), code, message)
    }
}

fn request(topic: &str, batches: &BTreeMap<i32, Bytes>, acks: Acks) -> ProduceRequest {
    let data = batches.iter().map(|(&partition, batch)| {
        PartitionProduceData::default().with_index(partition).with_records(Some(batch.clone()))
    });
    let topic = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(data.collect());
    ProduceRequest::default().with_acks(acks.code()).with_timeout_ms(PRODUCE_TIMEOUT_MS).with_topic_data(vec![topic])
}

impl Acks {
    fn code(self) -> i16 {
        match self {
            Acks::None => 0,
            Acks::Leader => 1,
            Acks::All => -1,
        }
    }
}

//! Transactions, in the second protocol (KIP-890): a partition is part of one by being written to, and each has an epoch of its
//! own.

use std::collections::BTreeMap;

use bytes::Bytes;
use kafka_protocol::messages::{EndTxnRequest, InitProducerIdRequest, ProducerId};
use kafka_protocol::protocol::StrBytes;

use super::produce::ProducerSession;
use super::{Client, ClientError};
use crate::batch::BatchBuilder;

/// The version of EndTxn that tells the next epoch.
const NEXT_EPOCH_SINCE: i16 = 5;

const TIMEOUT_MS: i32 = 60_000;

/// A producer with a transactional id. One transaction follows another; the first batch begins it.
pub struct TransactionalProducer {
    id: String,
    session: ProducerSession,
    /// Sequences of the next batches, by topic and partition.
    sequences: BTreeMap<(String, i32), i32>,
}

impl Client {
    /// Takes a transactional id: whoever had it before is fenced, and what it left open is aborted.
    pub fn open_transactional(&mut self, id: &str) -> Result<TransactionalProducer, ClientError> {
        let session = self.patiently(|client| {
            let request = InitProducerIdRequest::default()
                .with_transactional_id(Some(StrBytes::from_string(id.to_owned()).into()))
                .with_transaction_timeout_ms(TIMEOUT_MS)
                .with_producer_id(ProducerId(-1))
                .with_producer_epoch(-1);
            let response = client.ask(&request)?;
            match response.error_code {
                0 => Ok(ProducerSession { id: response.producer_id.0, epoch: response.producer_epoch }),
                code => Err(client.refused(format!("give transactional id {id} a producer"), code, None)),
            }
        })?;
        Ok(TransactionalProducer { id: id.to_owned(), session, sequences: BTreeMap::new() })
    }
}

impl TransactionalProducer {
    /// A batch of the transaction for that partition, to be filled and sent.
    pub fn batch(&self, topic: &str, partition: i32) -> BatchBuilder {
        let sequence = self.sequences.get(&(topic.to_owned(), partition)).copied().unwrap_or_default();
        BatchBuilder::new(0).producer(self.session.at(sequence)).transactional()
    }

    /// Sends a batch from [`TransactionalProducer::batch`], and gives the offset of its first record (-1 for `..seal`).
    pub fn send(
        &mut self,
        client: &mut Client,
        topic: &str,
        partition: i32,
        batch: BatchBuilder,
    ) -> Result<i64, ClientError> {
        let num_records = batch.num_records();
        let batches: BTreeMap<i32, Bytes> = BTreeMap::from([(partition, batch.build())]);
        let offset = client.produce_in(Some(&self.id), topic, partition, &batches)?;
        *self.sequences.entry((topic.to_owned(), partition)).or_default() += num_records;
        Ok(offset)
    }

    /// Ends the transaction: all of it counts, or nothing.
    pub fn end(&mut self, client: &mut Client, commit: bool) -> Result<(), ClientError> {
        let request = EndTxnRequest::default()
            .with_transactional_id(StrBytes::from_string(self.id.clone()).into())
            .with_producer_id(ProducerId(self.session.id))
            .with_producer_epoch(self.session.epoch)
            .with_committed(commit);
        let version = client.versions.pick::<EndTxnRequest>(client.connection.address())?;
        self.session = client.patiently(|client| {
            let response = client.ask(&request)?;
            match response.error_code {
                0 if version >= NEXT_EPOCH_SINCE => {
                    Ok(ProducerSession { id: response.producer_id.0, epoch: response.producer_epoch })
                }
                0 => Ok(self.session),
                code => Err(client.refused(format!("end the transaction of {}", self.id), code, None)),
            }
        })?;
        if version >= NEXT_EPOCH_SINCE {
            self.sequences.clear();
        }
        Ok(())
    }
}

//! Reading a topic or view from its start to its end as of now.

use bytes::Bytes;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, FetchRequest, ListOffsetsRequest};

use super::topics::topic_name;
use super::{Client, ClientError, Record};
use crate::batch::{batch_lengths, records};

/// Asks ListOffsets for the first offset, or for the one after the last.
const EARLIEST: i64 = -2;
const LATEST: i64 = -1;
const CONSUMER: BrokerId = BrokerId(-1);
const READ_COMMITTED: i8 = 1;
const FETCH_BYTES_MAX: i32 = 4 << 20;
const FETCH_WAIT_MS: i32 = 500;
/// So many empty answers in a row mean that the end will not be reached.
const EMPTY_ANSWERS_MAX: u32 = 20;
/// What one batch may decompress to.
const BATCH_BYTES_MAX: usize = 256 << 20;

/// Offsets `[start, end)` of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub partition: i32,
    pub start: i64,
    pub end: i64,
}

impl Client {
    /// All records of a topic or view up to its end as of now, partition by partition. Waits for a bounded view to be sealed.
    pub fn read_to_end(&mut self, topic: &str) -> Result<Vec<Record>, ClientError> {
        let mut found = Vec::new();
        for bounds in self.bounds(topic)? {
            found.extend(self.read(topic, bounds)?);
        }
        Ok(found)
    }

    /// Where each partition of a topic or view starts and ends now.
    pub fn bounds(&mut self, topic: &str) -> Result<Vec<Bounds>, ClientError> {
        let mut bounds = Vec::new();
        for partition in self.partitions(topic)? {
            let start = self.patiently(|client| client.offset(topic, partition, EARLIEST))?;
            let end = self.patiently(|client| client.offset(topic, partition, LATEST))?;
            bounds.push(Bounds { partition, start, end });
        }
        Ok(bounds)
    }

    /// The records of a part of a partition.
    pub fn read(&mut self, topic: &str, bounds: Bounds) -> Result<Vec<Record>, ClientError> {
        let Bounds { partition, start, end } = bounds;
        let (mut next, mut num_empty, mut found) = (start, 0, Vec::new());
        while next < end {
            let batches = self.patiently(|client| client.fetch(topic, partition, next))?;
            let after = self.take(topic, bounds, next, &batches, &mut found)?;
            num_empty = if after == next { num_empty + 1 } else { 0 };
            if num_empty > EMPTY_ANSWERS_MAX {
                let address = self.connection.address().to_owned();
                return Err(ClientError::Stalled { address, topic: topic.to_owned(), partition, offset: next, end });
            }
            next = after;
        }
        Ok(found)
    }

    fn offset(&mut self, topic: &str, partition: i32, which: i64) -> Result<i64, ClientError> {
        let asked = ListOffsetsPartition::default()
            .with_partition_index(partition)
            .with_current_leader_epoch(-1)
            .with_timestamp(which);
        let topics = vec![ListOffsetsTopic::default().with_name(topic_name(topic)).with_partitions(vec![asked])];
        let request = ListOffsetsRequest::default()
            .with_replica_id(CONSUMER)
            .with_isolation_level(READ_COMMITTED)
            .with_topics(topics);
        let response = self.ask(&request)?;
        let answer = response.topics.first().and_then(|topic| topic.partitions.first());
        match answer.map_or((-1, -1), |answer| (answer.error_code, answer.offset)) {
            (0, offset) => Ok(offset),
            (code, _) => Err(self.refused(format!("tell the offsets of {topic}-{partition}"), code, None)),
        }
    }

    /// Whole batches, the first of which holds the offset.
    fn fetch(&mut self, topic: &str, partition: i32, offset: i64) -> Result<Bytes, ClientError> {
        let asked = FetchPartition::default()
            .with_partition(partition)
            .with_current_leader_epoch(-1)
            .with_fetch_offset(offset)
            .with_log_start_offset(-1)
            .with_partition_max_bytes(FETCH_BYTES_MAX);
        let request = FetchRequest::default()
            .with_replica_id(CONSUMER)
            .with_max_wait_ms(FETCH_WAIT_MS)
            .with_min_bytes(1)
            .with_max_bytes(FETCH_BYTES_MAX)
            .with_isolation_level(READ_COMMITTED)
            .with_session_epoch(-1)
            .with_topics(vec![FetchTopic::default().with_topic(topic_name(topic)).with_partitions(vec![asked])]);
        let response = self.ask(&request)?;
        let answer = response.responses.into_iter().next().and_then(|topic| topic.partitions.into_iter().next());
        let code =
            if response.error_code != 0 { response.error_code } else { answer.as_ref().map_or(-1, |a| a.error_code) };
        match code {
            0 => Ok(answer.and_then(|answer| answer.records).unwrap_or_default()),
            code => Err(self.refused(format!("read {topic}-{partition} at offset {offset}"), code, None)),
        }
    }

    /// Appends the records from offset `next` up to the end; gives the offset to go on from.
    fn take(
        &self,
        topic: &str,
        bounds: Bounds,
        next: i64,
        batches: &Bytes,
        found: &mut Vec<Record>,
    ) -> Result<i64, ClientError> {
        let (mut at, mut after) = (0, next);
        for length in batch_lengths(batches) {
            let batch = batches.slice(at..at + length);
            at += length;
            let damaged = |reason: String| ClientError::Garbled {
                address: self.connection.address().to_owned(),
                api: "Fetch",
                reason: format!("a batch of {topic}-{}: {reason}", bounds.partition),
            };
            let records = records(&batch, BATCH_BYTES_MAX).map_err(|error| damaged(error.to_string()))?;
            after = after.max(records.header().next_offset());
            if records.header().attributes.is_control() {
                continue;
            }
            for record in &records {
                let record = record.map_err(|error| damaged(error.to_string()))?;
                if (next..bounds.end).contains(&record.offset) {
                    found.push(Record::copied(bounds.partition, &record));
                }
            }
        }
        Ok(after)
    }
}

//! One Fetch: the records from a position on, in one partition or several.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::{BrokerId, FetchRequest};

use super::topics::topic_name;
use super::{Client, ClientError, Isolation, Record};
use crate::batch::{Marker, Records, batch_lengths, read_marker, records};

pub(super) const CONSUMER: BrokerId = BrokerId(-1);
const FETCH_BYTES_MAX: i32 = 4 << 20;
/// What one batch may decompress to.
const BATCH_BYTES_MAX: usize = 256 << 20;
/// An answer without the partition counts as.
const UNKNOWN_SERVER_ERROR: i16 = -1;

/// Where to read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub partition: i32,
    pub offset: i64,
}

/// What a Fetch gave of one partition.
#[derive(Debug)]
pub struct Fetched {
    pub partition: i32,
    pub records: Vec<Record>,
    /// Where to read on; further than the last record when what follows it is not shown.
    pub next: i64,
}

impl Client {
    /// Reads on in these partitions. Waits for `wait` at most when there is nothing.
    pub fn fetch(
        &mut self,
        topic: &str,
        from: &[Position],
        isolation: Isolation,
        wait: Duration,
    ) -> Result<Vec<Fetched>, ClientError> {
        self.fetch_bytes(topic, from, isolation, wait, FETCH_BYTES_MAX)
    }

    /// The record at an offset, and none of those that follow its batch.
    pub fn record_at(&mut self, topic: &str, at: Position) -> Result<Option<Record>, ClientError> {
        let fetched =
            self.patiently(|client| client.fetch_bytes(topic, &[at], Isolation::ReadUncommitted, Duration::ZERO, 1))?;
        let records = fetched.into_iter().flat_map(|part| part.records);
        Ok(records.into_iter().find(|record| record.offset == at.offset))
    }

    /// The first record that is shown of those from `start` to before `end`.
    pub fn first_record(
        &mut self,
        topic: &str,
        partition: i32,
        start: i64,
        end: i64,
    ) -> Result<Option<Record>, ClientError> {
        let mut at = Position { partition, offset: start };
        while at.offset < end {
            let fetched =
                self.patiently(|client| client.fetch_bytes(topic, &[at], Isolation::ReadCommitted, Duration::ZERO, 1))?;
            let next = fetched.iter().map(|part| part.next).max().unwrap_or(at.offset);
            let found = fetched.into_iter().flat_map(|part| part.records).find(|record| record.offset >= at.offset);
            if found.is_some() || next <= at.offset {
                return Ok(found.filter(|record| record.offset < end));
            }
            at.offset = next;
        }
        Ok(None)
    }

    fn fetch_bytes(
        &mut self,
        topic: &str,
        from: &[Position],
        isolation: Isolation,
        wait: Duration,
        bytes_max: i32,
    ) -> Result<Vec<Fetched>, ClientError> {
        // The answer must come before patience with it ends.
        let wait = wait.min(self.answer_patience / 2);
        let response = self.ask(&request(topic, from, isolation, wait, bytes_max))?;
        if response.error_code != 0 {
            return Err(self.refused(format!("read {topic}"), response.error_code, None));
        }
        let answers: Vec<PartitionData> = response.responses.into_iter().flat_map(|topic| topic.partitions).collect();
        from.iter().map(|&position| self.fetched(topic, position, isolation, &answers)).collect()
    }

    fn fetched(
        &self,
        topic: &str,
        from: Position,
        isolation: Isolation,
        answers: &[PartitionData],
    ) -> Result<Fetched, ClientError> {
        let Position { partition, offset } = from;
        let answer = answers.iter().find(|answer| answer.partition_index == partition);
        let code = answer.map_or(UNKNOWN_SERVER_ERROR, |answer| answer.error_code);
        let Some(answer) = answer.filter(|_| code == 0) else {
            return Err(self.refused(format!("read {topic}-{partition} at offset {offset}"), code, None));
        };
        let mut reading = Reading { fetched: Fetched { partition, records: Vec::new(), next: offset }, from: offset };
        let mut aborted = Aborted::of(answer, isolation);
        reading.take_all(answer.records.as_ref().unwrap_or(&Bytes::new()), &mut aborted).map_err(|reason| {
            ClientError::Garbled {
                address: self.connection.address().to_owned(),
                api: "Fetch",
                reason: format!("a batch of {topic}-{partition}: {reason}"),
            }
        })?;
        Ok(reading.fetched)
    }
}

fn request(topic: &str, from: &[Position], isolation: Isolation, wait: Duration, bytes_max: i32) -> FetchRequest {
    let partition = |position: &Position| {
        FetchPartition::default()
            .with_partition(position.partition)
            .with_current_leader_epoch(-1)
            .with_fetch_offset(position.offset)
            .with_log_start_offset(-1)
            .with_partition_max_bytes(bytes_max)
    };
    let partitions = from.iter().map(partition).collect();
    FetchRequest::default()
        .with_replica_id(CONSUMER)
        .with_max_wait_ms(i32::try_from(wait.as_millis()).unwrap_or(i32::MAX))
        .with_min_bytes(1)
        .with_max_bytes(bytes_max)
        .with_isolation_level(isolation.level())
        .with_session_epoch(-1)
        .with_topics(vec![FetchTopic::default().with_topic(topic_name(topic)).with_partitions(partitions)])
}

struct Reading {
    fetched: Fetched,
    from: i64,
}

impl Reading {
    fn take_all(&mut self, batches: &Bytes, aborted: &mut Aborted) -> Result<(), String> {
        let mut at = 0;
        for length in batch_lengths(batches) {
            let batch = batches.slice(at..at + length);
            at += length;
            let records = records(&batch, BATCH_BYTES_MAX).map_err(|error| error.to_string())?;
            self.fetched.next = self.fetched.next.max(records.header().next_offset());
            if aborted.shows(&batch, &records) {
                self.take(&records)?;
            }
        }
        Ok(())
    }

    /// A batch may begin before the position.
    fn take(&mut self, records: &Records) -> Result<(), String> {
        for record in records {
            let record = record.map_err(|error| error.to_string())?;
            if record.offset >= self.from {
                self.fetched.records.push(Record::copied(self.fetched.partition, &record));
            }
        }
        Ok(())
    }
}

/// The aborted transactions of an answer: which producers' batches are not shown from which offset on.
struct Aborted {
    /// Producer and first offset, those to come.
    ahead: Vec<(i64, i64)>,
    now: HashSet<i64>,
}

impl Aborted {
    fn of(answer: &PartitionData, isolation: Isolation) -> Aborted {
        let told = answer.aborted_transactions.iter().flatten().filter(|_| isolation == Isolation::ReadCommitted);
        Aborted { ahead: told.map(|told| (told.producer_id.0, told.first_offset)).collect(), now: HashSet::new() }
    }

    fn shows(&mut self, batch: &Bytes, records: &Records) -> bool {
        let header = records.header();
        let last = header.next_offset() - 1;
        self.now.extend(self.ahead.extract_if(.., |(_, first)| *first <= last).map(|(producer, _)| producer));
        if header.attributes.is_control() {
            if matches!(read_marker(batch), Ok(Some(Marker::Abort))) {
                self.now.remove(&header.producer_id);
            }
            return false;
        }
        !(header.attributes.is_transactional() && self.now.contains(&header.producer_id))
    }
}

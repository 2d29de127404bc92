//! Feeding: each poll is produced page by page, then sealed as one commit.

use serde_json::json;

use super::FEED;
use super::polls::{Poll, Row};
use crate::batch::{BatchBuilder, NewRecord};
use crate::cli::client::{Client, ClientError, ProducerSession};

/// Partitions of the feed. A flight stays in the partition that its key chooses.
pub const NUM_PARTITIONS: usize = 3;
/// Rows that the polled service returns at once.
const PAGE_ROWS: usize = 50;
/// Only the end of a poll shall end a commit, however slow the machine: an hour.
const SEAL_MS: &str = "3600000";

pub fn feed(client: &mut Client, polls: &[Poll]) -> Result<(), ClientError> {
    client.create_topic(FEED, NUM_PARTITIONS as i32, &[("streamstack.seal.ms", SEAL_MS)])?;
    let mut producer = Producer::open(client)?;
    for (number, poll) in polls.iter().enumerate() {
        for page in poll.rows.chunks(PAGE_ROWS) {
            producer.send_page(client, poll.at_ms, page)?;
        }
        producer.seal(client, number, poll)?;
    }
    Ok(())
}

/// The partition of a flight.
pub fn partition_of(key: &str) -> usize {
    crc32c::crc32c(key.as_bytes()) as usize % NUM_PARTITIONS
}

/// An idempotent producer: the next sequence of each partition, and of the control topic.
struct Producer {
    session: ProducerSession,
    sequences: [i32; NUM_PARTITIONS],
    seal_sequence: i32,
}

impl Producer {
    fn open(client: &mut Client) -> Result<Producer, ClientError> {
        let session = client.open_producer()?;
        Ok(Producer { session, sequences: [0; NUM_PARTITIONS], seal_sequence: 0 })
    }

    /// One batch to each partition that has rows of this page.
    fn send_page(&mut self, client: &mut Client, at_ms: i64, page: &[Row]) -> Result<(), ClientError> {
        for (partition, sequence) in self.sequences.iter_mut().enumerate() {
            let mut batch = BatchBuilder::new(0).producer(self.session.at(*sequence));
            let rows = page.iter().filter(|row| partition_of(&row.key) == partition);
            for row in rows {
                batch.push(record(at_ms, &row.key, &row.value));
                *sequence += 1;
            }
            if !batch.is_empty() {
                client.produce(FEED, partition as i32, batch)?;
            }
        }
        Ok(())
    }

    /// A record to `departures..seal`: its key is the commit's label, its value what is worth knowing of it.
    fn seal(&mut self, client: &mut Client, number: usize, poll: &Poll) -> Result<(), ClientError> {
        let pages = poll.rows.len().div_ceil(PAGE_ROWS);
        let metadata = json!({ "poll": number, "pages": pages, "rows": poll.rows.len() }).to_string();
        let mut batch = BatchBuilder::new(0).producer(self.session.at(self.seal_sequence));
        batch.push(record(poll.at_ms, &poll.label, &metadata));
        self.seal_sequence += 1;
        client.produce(&format!("{FEED}..seal"), 0, batch)?;
        Ok(())
    }
}

fn record<'a>(timestamp: i64, key: &'a str, value: &'a str) -> NewRecord<'a> {
    NewRecord { timestamp, key: Some(key.as_bytes()), value: Some(value.as_bytes()), headers: &[] }
}

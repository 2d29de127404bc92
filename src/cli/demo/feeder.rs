//! Feeding: each poll is a transaction, produced page by page and sealed as one commit at its end.

use serde_json::json;

use super::FEED;
use super::polls::Poll;
use crate::batch::NewRecord;
use crate::cli::client::{Client, ClientError, TransactionalProducer};

/// Partitions of the feed. A flight stays in the partition that its key chooses.
pub const NUM_PARTITIONS: usize = 3;
/// Rows that the polled service returns at once.
const PAGE_ROWS: usize = 50;
/// The poll that breaks off at its third page, and is begun again.
pub const BROKEN_POLL: usize = 9;
const BROKEN_PAGES: usize = 3;

const TRANSACTIONAL_ID: &str = "departure-boards";

pub fn feed(client: &mut Client, polls: &[Poll]) -> Result<(), ClientError> {
    client.create_topic(FEED, NUM_PARTITIONS as i32, &[])?;
    let mut producer = client.open_transactional(TRANSACTIONAL_ID)?;
    for (number, poll) in polls.iter().enumerate() {
        if number == BROKEN_POLL {
            send_pages(&mut producer, client, poll, BROKEN_PAGES)?;
            producer.end(client, false)?;
        }
        send_pages(&mut producer, client, poll, usize::MAX)?;
        name(&mut producer, client, number, poll)?;
        producer.end(client, true)?;
    }
    Ok(())
}

/// The partition of a flight.
pub fn partition_of(key: &str) -> usize {
    crc32c::crc32c(key.as_bytes()) as usize % NUM_PARTITIONS
}

/// Of each page one batch to each partition that has rows of it.
fn send_pages(
    producer: &mut TransactionalProducer,
    client: &mut Client,
    poll: &Poll,
    pages_max: usize,
) -> Result<(), ClientError> {
    for page in poll.rows.chunks(PAGE_ROWS).take(pages_max) {
        for partition in 0..NUM_PARTITIONS {
            let mut batch = producer.batch(FEED, partition as i32);
            let rows = page.iter().filter(|row| partition_of(&row.key) == partition);
            rows.for_each(|row| batch.push(record(poll.at_ms, &row.key, &row.value)));
            if !batch.is_empty() {
                producer.send(client, FEED, partition as i32, batch)?;
            }
        }
    }
    Ok(())
}

/// A record to `departures..seal`: its key is the commit's label, its value what is worth knowing of it. A poll that found
/// nothing is a commit by it too.
fn name(
    producer: &mut TransactionalProducer,
    client: &mut Client,
    number: usize,
    poll: &Poll,
) -> Result<(), ClientError> {
    let pages = poll.rows.len().div_ceil(PAGE_ROWS);
    let metadata = json!({ "poll": number, "pages": pages, "rows": poll.rows.len() }).to_string();
    let topic = format!("{FEED}..seal");
    let mut batch = producer.batch(&topic, 0);
    batch.push(record(poll.at_ms, &poll.label, &metadata));
    producer.send(client, &topic, 0, batch)?;
    Ok(())
}

fn record<'a>(timestamp: i64, key: &'a str, value: &'a str) -> NewRecord<'a> {
    NewRecord { timestamp, key: Some(key.as_bytes()), value: Some(value.as_bytes()), headers: &[] }
}

//! A producer with a ledger of what was acknowledged to it. It lives on while brokers come and go.

use std::thread;
use std::time::Duration;

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Client, ClientError, ProducerSession};

use super::stamp::Stamp;

/// All that there are; see `all_writers`.
pub const NAMES: [&str; 5] = ["idempotent-0", "idempotent-1", "plain-0", "plain-1", SEALER];
pub const SEALER: &str = "sealer";

/// A pause of the producer that seals: enough commits, but not a commit a record.
const SEAL_PAUSE: Duration = Duration::from_millis(7);

pub struct Writer {
    pub name: &'static str,
    topic: String,
    pub partition: i32,
    /// None: a plain producer, which never sends anything twice.
    session: Option<ProducerSession>,
    next: i64,
    /// Sent, and the connection broke before the answer. An idempotent producer sends it again, unchanged.
    unanswered: Option<Batch>,
    pub acks: Vec<Ack>,
}

/// Records `[first, first + count)` of a writer.
#[derive(Clone, Copy)]
struct Batch {
    first: i64,
    count: i64,
}

/// The broker said that these records stand from `offset` on.
pub struct Ack {
    pub offset: i64,
    pub first: i64,
    pub count: i64,
}

impl Writer {
    pub fn new(name: &'static str, topic: &str, partition: i32, session: Option<ProducerSession>) -> Writer {
        assert!(NAMES.contains(&name), "{name} is not in the list");
        Writer { name, topic: topic.to_owned(), partition, session, next: 0, unanswered: None, acks: Vec::new() }
    }

    pub fn is_idempotent(&self) -> bool {
        self.session.is_some()
    }

    pub fn is_sealer(&self) -> bool {
        self.name == SEALER
    }

    /// What record `number` says.
    pub fn stamp(&self, number: i64) -> Stamp {
        Stamp { writer: self.name, number }
    }

    /// Produces until the broker is gone.
    pub fn run(&mut self, address: &str) {
        let Ok(mut client) = Client::connect(address) else { return };
        loop {
            let batch = self.unanswered.take().unwrap_or_else(|| self.next_batch());
            match self.send(&mut client, batch) {
                Ok(offset) => self.acks.push(Ack { offset, first: batch.first, count: batch.count }),
                Err(error) if error.is_disconnect() => {
                    self.unanswered = self.is_idempotent().then_some(batch);
                    return;
                }
                Err(error) => panic!("{}: {error}", self.name),
            }
            if self.is_sealer() {
                thread::sleep(SEAL_PAUSE);
            }
        }
    }

    /// One to five records; one when it is a seal.
    fn next_batch(&mut self) -> Batch {
        let first = self.next;
        let count = if self.is_sealer() { 1 } else { 1 + first % 5 };
        self.next += count;
        Batch { first, count }
    }

    fn send(&self, client: &mut Client, batch: Batch) -> Result<i64, ClientError> {
        let mut builder = BatchBuilder::new(0);
        if let Some(session) = self.session {
            builder = builder.producer(session.at(batch.first as i32));
        }
        for number in batch.first..batch.first + batch.count {
            let text = self.stamp(number).text();
            // To the control topic the key is the label, and no value means no metadata.
            let value = if self.is_sealer() { None } else { Some(text.as_bytes()) };
            builder.push(NewRecord { timestamp: number, key: Some(text.as_bytes()), value, headers: &[] });
        }
        client.produce(&self.topic, self.partition, builder)
    }
}

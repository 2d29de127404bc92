//! A producer with a ledger of what was acknowledged to it. It lives on while brokers come and go.

use std::thread;
use std::time::Duration;

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Client, ClientError, ProducerSession};

/// A pause of the producer that seals: enough commits, but not a commit a record.
const SEAL_PAUSE: Duration = Duration::from_millis(7);

pub struct Writer {
    pub name: String,
    topic: String,
    partition: i32,
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
    pub partition: i32,
    pub offset: i64,
    pub first: i64,
    pub count: i64,
}

impl Writer {
    pub fn new(name: &str, topic: &str, partition: i32, session: Option<ProducerSession>) -> Writer {
        let (name, topic) = (name.to_owned(), topic.to_owned());
        Writer { name, topic, partition, session, next: 0, unanswered: None, acks: Vec::new() }
    }

    pub fn is_idempotent(&self) -> bool {
        self.session.is_some()
    }

    pub fn is_sealer(&self) -> bool {
        self.topic.ends_with("..seal")
    }

    /// What record `number` says. Up to 2 KB, so that the journal fills.
    pub fn text(&self, number: i64) -> String {
        let filler = if self.is_sealer() { 0 } else { (number % 40) as usize * 50 };
        format!("{} {number}{:.>filler$}", self.name, "")
    }

    /// Produces until the broker is gone.
    pub fn run(&mut self, address: &str) {
        let Ok(mut client) = Client::connect(address) else { return };
        loop {
            let batch = self.unanswered.take().unwrap_or_else(|| self.next_batch());
            match self.send(&mut client, batch) {
                Ok(offset) => self.acks.push(self.ack(batch, offset)),
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
            let text = self.text(number);
            // To the control topic the key is the label, and no value means no metadata.
            let value = if self.is_sealer() { None } else { Some(text.as_bytes()) };
            builder.push(NewRecord { timestamp: number, key: Some(text.as_bytes()), value, headers: &[] });
        }
        client.produce(&self.topic, self.partition, builder)
    }

    fn ack(&self, batch: Batch, offset: i64) -> Ack {
        Ack { partition: self.partition, offset, first: batch.first, count: batch.count }
    }
}

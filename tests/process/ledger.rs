//! An idempotent producer that remembers what was acknowledged to it, over any number of brokers on the same data.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Bounds, Client, ClientError, ProducerSession};

pub const TOPIC: &str = "ledger";
/// A storage error is answered as long as the fault lasts; the client asks again soon enough.
const PATIENCE: Duration = Duration::from_millis(50);

pub struct Ledger {
    session: ProducerSession,
    /// The record that is sent next, or again.
    next: i32,
    /// Offsets, by record.
    acks: Vec<i64>,
    record_bytes: usize,
    pub slowest: Duration,
}

/// Why it stopped.
#[derive(Debug)]
pub enum Ended {
    Told,
    /// The connection broke, or could not be made.
    Cut,
    Refused(ClientError),
}

impl Ledger {
    /// Makes the topic and takes a producer id.
    pub fn open(client: &mut Client) -> Ledger {
        client.create_topic(TOPIC, 1, &[("segment.bytes", "1048576"), ("streamstack.seal.ms", "200")]).unwrap();
        let session = client.open_producer().unwrap();
        Ledger { session, next: 0, acks: Vec::new(), record_bytes: 2_000, slowest: Duration::ZERO }
    }

    pub fn num_acks(&self) -> usize {
        self.acks.len()
    }

    /// Sends until `enough` are acknowledged, or something ends it.
    pub fn write(&mut self, address: &str, enough: usize) -> Ended {
        self.write_until(address, |ledger| ledger.acks.len() >= enough)
    }

    /// Sends until told.
    pub fn write_while(&mut self, address: &str, on: &AtomicBool) -> Ended {
        self.write_until(address, |_| !on.load(Ordering::Acquire))
    }

    fn write_until(&mut self, address: &str, done: impl Fn(&Ledger) -> bool) -> Ended {
        let Ok(client) = Client::connect(address) else { return Ended::Cut };
        let mut client = client.patience(PATIENCE);
        while !done(self) {
            let began = Instant::now();
            match self.send(&mut client) {
                Ok(offset) => {
                    self.acks.push(offset);
                    self.next += 1;
                    self.slowest = self.slowest.max(began.elapsed());
                }
                Err(error) if error.is_disconnect() => return Ended::Cut,
                Err(error) => return Ended::Refused(error),
            }
        }
        Ended::Told
    }

    fn send(&self, client: &mut Client) -> Result<i64, ClientError> {
        let text = self.text(self.next);
        let record = NewRecord { timestamp: 1_767_225_600_000, value: Some(text.as_bytes()), ..NewRecord::default() };
        client.produce(TOPIC, 0, BatchBuilder::new(0).producer(self.session.at(self.next)).record(record))
    }

    fn text(&self, number: i32) -> String {
        format!("{number}{:.>width$}", "", width = self.record_bytes)
    }

    /// Everything acknowledged stands where it was said to stand, all that was sent stands in order and once, and nothing
    /// else does. One record at most is there that was not acknowledged: the last one sent.
    pub fn check(&mut self, client: &mut Client) {
        let bounds = client.bounds(TOPIC).unwrap()[0];
        let records = client.read(TOPIC, Bounds { start: 0, ..bounds }).unwrap();
        let found = records.len();
        assert!(found >= self.acks.len() && found <= self.acks.len() + 1, "{found} records, {} acks", self.acks.len());
        for (record, number) in records.iter().zip(0..) {
            assert_eq!(record.offset, i64::from(number), "offsets are dense");
            let text = self.text(number);
            assert!(record.value.as_deref() == Some(text.as_bytes()), "offset {number} holds another record");
        }
        for (offset, number) in self.acks.iter().zip(0..) {
            assert_eq!(*offset, number, "the record was acknowledged at another offset");
        }
    }

    /// What follows every fault: checked, some more written, checked again.
    pub fn heals(&mut self, address: &str) {
        self.check(&mut Client::connect(address).unwrap());
        let ended = self.write(address, self.acks.len() + 5);
        assert!(matches!(ended, Ended::Told), "after the fault: {ended:?}");
        self.check(&mut Client::connect(address).unwrap());
    }
}

//! An idempotent producer without transactions: its records go to the implicit stream, which each commit cuts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::ProducerSession;

use super::super::checker::{Event, Place, Value};
use super::super::wire::Address;
use super::TOPICS;
use super::ledger::Ledger;

const PAUSE: Duration = Duration::from_millis(3);

pub struct Plain<'a> {
    pub number: u32,
    pub session: ProducerSession,
    pub address: Address,
    pub ledger: &'a Ledger,
}

impl Plain<'_> {
    /// Sends each record until it is told where it stands.
    pub fn run(&self, over: &AtomicBool) {
        let place = Place { topic: TOPICS[0], partition: 0 };
        let mut client = self.address.client();
        for n in 0.. {
            if over.load(Ordering::Acquire) {
                return;
            }
            let value = Value { producer: self.number, epoch: 0, n };
            self.ledger.say(Event::Sent { value, place, txn: None });
            let text = value.text();
            let text = Some(text.as_bytes());
            let record = NewRecord { timestamp: 1_767_225_600_000, key: text, value: text, headers: &[] };
            let batch = BatchBuilder::new(0).producer(self.session.at(n as i32)).record(record);
            let offset = loop {
                match client.produce(place.topic, place.partition, batch.clone()) {
                    Ok(offset) => break offset,
                    Err(error) => assert!(error.is_disconnect(), "plain producer: {error}"),
                }
                client = self.address.client();
            };
            self.ledger.say(Event::Acked { value, offset: Some(offset) });
            thread::sleep(PAUSE);
        }
    }
}

//! A reader that follows every partition, in each way that there is to read it, through all that happens to the broker.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use streamstack::cli::client::{Client, ClientError, Isolation as Asked, Position};

use super::super::checker::{Event, Isolation, Place, Value};
use super::super::wire::Address;
use super::ledger::Ledger;
use super::{FEEDS, NUM_PARTITIONS, TOPICS};

/// Numbers of readers; those of writers are below.
const FIRST_NUMBER: u32 = 100;
const WAIT: Duration = Duration::from_millis(20);

/// A topic or view, and how it is read.
type Way = (u32, &'static str, Isolation);

pub struct Reader<'a> {
    ledger: &'a Ledger,
    read_to: BTreeMap<(u32, i32), i64>,
}

impl<'a> Reader<'a> {
    pub fn new(ledger: &'a Ledger) -> Reader<'a> {
        Reader { ledger, read_to: BTreeMap::new() }
    }

    pub fn run(&mut self, address: &Address, over: &AtomicBool) {
        let mut client = address.client();
        while !over.load(Ordering::Acquire) {
            for way in ways() {
                match self.read(&mut client, way) {
                    Ok(()) => {}
                    Err(error) if error.is_retriable() => {}
                    Err(error) => {
                        assert!(error.is_disconnect(), "reader of {way:?}: {error}");
                        client = address.client();
                    }
                }
            }
        }
    }

    fn read(&mut self, client: &mut Client, (reader, topic, isolation): Way) -> Result<(), ClientError> {
        let position = |partition| {
            let offset = self.read_to.get(&(reader, partition)).copied().unwrap_or(0);
            Position { partition, offset }
        };
        let from: Vec<Position> = (0..NUM_PARTITIONS).map(position).collect();
        for fetched in client.fetch(topic, &from, asked(isolation), WAIT)? {
            let place = Place { topic, partition: fetched.partition };
            self.ledger.say_all(fetched.records.iter().map(|record| Event::Polled {
                reader,
                assignment: 0,
                place,
                row: (record.offset, Value::read(record.value.as_deref().unwrap_or_default())),
                isolation,
                txn: None,
            }));
            self.read_to.insert((reader, fetched.partition), fetched.next);
        }
        Ok(())
    }
}

fn ways() -> impl Iterator<Item = Way> {
    let plain = TOPICS.into_iter().flat_map(|topic| {
        [Isolation::Uncommitted, Isolation::Committed].into_iter().map(move |isolation| (topic, isolation))
    });
    let feeds = FEEDS.into_iter().map(|topic| (topic, Isolation::Committed));
    (FIRST_NUMBER..).zip(plain.chain(feeds)).map(|(reader, (topic, isolation))| (reader, topic, isolation))
}

pub fn asked(isolation: Isolation) -> Asked {
    match isolation {
        Isolation::Uncommitted => Asked::ReadUncommitted,
        Isolation::Committed => Asked::ReadCommitted,
    }
}

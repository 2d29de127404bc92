//! A producer of what views make something of: keys that come again, values that repeat, tombstones and records without a key,
//! in transactions and without, and seals.

use std::thread;
use std::time::Duration;

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Client, ClientError, TransactionalProducer};
use streamstack::disk::SplitMix;

use super::{NUM_PARTITIONS, TOPIC};

/// Of the history that is there before anybody asks for a view: it is indexed for longer than some lives last.
const HISTORY_BATCHES: usize = 120;
const HISTORY_BATCH_RECORDS: u64 = 1_000;
/// Each audit reads all of the feed: it must not grow too fast.
const PAUSE: Duration = Duration::from_millis(3);

const HOT_KEYS: u64 = 50;
const KEYS: u64 = 20_000;
const VALUES: u64 = 4;

pub struct Feeder {
    id: String,
    random: SplitMix,
    /// Records that were made: so much is the time of the next.
    num_records: i64,
}

impl Feeder {
    pub fn new(number: u64, seed: u64) -> Feeder {
        Feeder { id: format!("feeder-{number}"), random: SplitMix::new(seed), num_records: 0 }
    }

    pub fn write_history(&mut self, client: &mut Client) -> Result<(), ClientError> {
        for _ in 0..HISTORY_BATCHES {
            let (partition, batch) = (self.partition(), self.fill(BatchBuilder::new(0), HISTORY_BATCH_RECORDS));
            client.produce(TOPIC, partition, batch)?;
        }
        self.seal(client)
    }

    /// Writes until the broker is gone.
    pub fn run(&mut self, address: &str) {
        match self.write(address) {
            Err(error) if error.is_disconnect() => {}
            Err(error) => panic!("{}: {error}", self.id),
            Ok(never) => match never {},
        }
    }

    fn write(&mut self, address: &str) -> Result<std::convert::Infallible, ClientError> {
        let mut client = Client::connect(address)?;
        // What an earlier life left open is aborted.
        let mut producer = client.open_transactional(&self.id)?;
        loop {
            match self.random.below(10) {
                0 => self.seal(&mut client)?,
                1..4 => self.transaction(&mut client, &mut producer)?,
                _ => self.append(&mut client)?,
            }
            thread::sleep(PAUSE);
        }
    }

    fn append(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let num_records = 1 + self.random.below(6);
        let (partition, batch) = (self.partition(), self.fill(BatchBuilder::new(0), num_records));
        client.produce(TOPIC, partition, batch)?;
        Ok(())
    }

    fn transaction(&mut self, client: &mut Client, producer: &mut TransactionalProducer) -> Result<(), ClientError> {
        for _ in 0..=self.random.below(3) {
            let (partition, num_records) = (self.partition(), 1 + self.random.below(6));
            let batch = self.fill(producer.batch(TOPIC, partition), num_records);
            producer.send(client, TOPIC, partition, batch)?;
        }
        producer.end(client, self.random.chance(4, 5))
    }

    fn seal(&mut self, client: &mut Client) -> Result<(), ClientError> {
        client.produce(&format!("{TOPIC}..seal"), 0, BatchBuilder::new(0).record(NewRecord::default()))?;
        Ok(())
    }

    fn partition(&mut self) -> i32 {
        self.random.below(NUM_PARTITIONS as u64) as i32
    }

    fn fill(&mut self, mut batch: BatchBuilder, num_records: u64) -> BatchBuilder {
        for _ in 0..num_records {
            let keys = if self.random.chance(1, 2) { HOT_KEYS } else { KEYS };
            let key = (!self.random.chance(1, 10)).then(|| format!("key-{}", self.random.below(keys)));
            let value = (!self.random.chance(1, 10)).then(|| format!("value-{}", self.random.below(VALUES)));
            let (key, value) = (key.as_deref().map(str::as_bytes), value.as_deref().map(str::as_bytes));
            batch.push(NewRecord { timestamp: self.num_records, key, value, headers: &[] });
            self.num_records += 1;
        }
        batch
    }
}

//! What is written: keys that come again, with values that are new or come again too.

use streamstack::disk::SplitMix;

use crate::Fault;
use crate::load;
use crate::wire::{self, Connection};

const BATCH_RECORDS: u64 = 1_000;
/// Each is a commit.
pub const COMMIT_RECORDS: u64 = 100_000;
const DEPTH: u64 = 5;

/// What a history holds.
#[derive(Clone, Copy)]
pub struct History {
    pub records: u64,
    /// Bytes of a value.
    pub size: usize,
    pub keys: u64,
    /// Of a hundred records, those with the one value of their key that always comes again.
    pub repeated: u64,
}

impl History {
    /// Makes the topic and writes it, as fast as it is taken.
    pub fn write(&self, address: &str, topic: &str, configs: &[(&str, &str)]) -> Result<(), Fault> {
        load::create(address, &[topic.to_owned()], 1, configs)?;
        let mut connection = Connection::open(address)?;
        let mut random = SplitMix::new(self.records ^ self.keys);
        let mut waiting = 0;
        for first in (0..self.records).step_by(BATCH_RECORDS as usize) {
            let records: Vec<_> =
                (first..first + BATCH_RECORDS).map(|number| self.record(number, &mut random)).collect();
            let batch = wire::batch_with(records.iter().map(|(key, value)| (&key[..], &value[..])));
            connection.send(&wire::produce(topic, 0, &batch))?;
            waiting += 1;
            // The first is waited for: a topic just made may refuse for a moment.
            while waiting >= DEPTH || (first == 0 && waiting > 0) {
                let (code, _) = wire::produced(connection.receive()?, topic)?;
                waiting -= 1;
                if !wire::accepted("Produce", code)? {
                    if first > 0 {
                        return Err(format!("{topic} went away").into());
                    }
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    connection.send(&wire::produce(topic, 0, &batch))?;
                    waiting += 1;
                }
            }
        }
        for _ in 0..waiting {
            wire::accepted("Produce", wire::produced(connection.receive()?, topic)?.0)?;
        }
        Ok(())
    }

    fn record(&self, number: u64, random: &mut SplitMix) -> (Vec<u8>, Vec<u8>) {
        let key = format!("key-{:010}", random.below(self.keys));
        let version = if random.chance(self.repeated, 100) { 0 } else { number + 1 };
        let mut value = format!("{version:020} ").into_bytes();
        value.resize(self.size, b'.');
        (key.into_bytes(), value)
    }
}

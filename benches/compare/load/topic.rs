//! A topic that takes writes: made when missing, and waited for.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::wire::{self, Connection};

const PATIENCE: Duration = Duration::from_secs(30);
const TOPIC_ALREADY_EXISTS: i16 = 36;

/// Makes `topic` with one partition, and writes one record: a topic just made may refuse for a moment.
pub fn prepare(address: &str, topic: &str) -> Result<(), Fault> {
    let mut connection = Connection::open(address)?;
    let code = wire::created(connection.ask(&wire::create_topic(topic))?, topic)?;
    if code != TOPIC_ALREADY_EXISTS {
        wire::accepted("CreateTopics", code)?;
    }
    let request = wire::produce(topic, &wire::batch(1, 1));
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let (code, _) = wire::produced(connection.ask(&request)?, topic)?;
        if wire::accepted("Produce", code)? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{topic}: takes no writes after {} s", PATIENCE.as_secs()).into())
}

//! Topics that take writes: made when missing, and waited for.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::wire::{self, Connection};

const PATIENCE: Duration = Duration::from_secs(30);
/// What a view shows may be looked for meanwhile.
const END_PATIENCE: Duration = Duration::from_secs(600);
const TOPIC_ALREADY_EXISTS: i16 = 36;

/// Topics in one CreateTopics.
const TOPICS_MAX: usize = 500;

/// Makes `topic`, and writes one record to each partition: a topic just made may refuse for a moment.
pub fn prepare(address: &str, topic: &str, partitions: i32) -> Result<(), Fault> {
    create(address, &[topic.to_owned()], partitions, &[])?;
    let mut connection = Connection::open(address)?;
    let batch = wire::batch(1, 1);
    for partition in 0..partitions {
        wait_for(&mut connection, topic, &wire::produce(topic, partition, &batch))?;
    }
    Ok(())
}

/// Makes the topics that are missing.
pub fn create(address: &str, topics: &[String], partitions: i32, configs: &[(&str, &str)]) -> Result<(), Fault> {
    let mut connection = Connection::open(address)?;
    for part in topics.chunks(TOPICS_MAX) {
        for code in wire::created(connection.ask(&wire::create_topics(part, partitions, configs))?)? {
            if code != TOPIC_ALREADY_EXISTS {
                wire::accepted("CreateTopics", code)?;
            }
        }
    }
    Ok(())
}

fn wait_for(connection: &mut Connection, topic: &str, request: &[u8]) -> Result<(), Fault> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let (code, _) = wire::produced(connection.ask(request)?, topic)?;
        if wire::accepted("Produce", code)? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{topic}: takes no writes after {} s", PATIENCE.as_secs()).into())
}

/// The end of a topic or view, once it is known.
pub fn end_of(connection: &mut Connection, topic: &str) -> Result<i64, Fault> {
    let begin = Instant::now();
    while begin.elapsed() < END_PATIENCE {
        let (code, end) = wire::listed(connection.ask(&wire::list_end(topic))?, topic)?;
        if wire::accepted("ListOffsets", code)? {
            return Ok(end);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(format!("{topic}: no end after {} s", END_PATIENCE.as_secs()).into())
}

//! One pass over a topic or view, from its start to its end.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::broker::Broker;
use crate::load::end_of;
use crate::process;
use crate::wire::{self, Connection, Record};

const BYTES_MAX: i32 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(1);

/// What it came to.
pub struct Pass {
    pub records: u64,
    pub bytes: usize,
    pub seconds: f64,
    /// From its begin to the first answer with records.
    pub first_ms: f64,
    pub broker_cpu_s: f64,
}

/// Reads all of `topic` and gives each record to `visit`.
pub fn pass(broker: &Broker, topic: &str, mut visit: impl FnMut(Record<'_>)) -> Result<Pass, Fault> {
    let mut connection = Connection::open(&broker.address)?;
    let (begin, cpu) = (Instant::now(), process::cpu_seconds(broker.pid));
    let end = end_of(&mut connection, topic)?;
    let mut done = Pass { records: 0, bytes: 0, seconds: 0.0, first_ms: 0.0, broker_cpu_s: 0.0 };
    let mut offset = 0;
    while offset < end {
        let fetched = wire::fetched(connection.ask(&wire::fetch(topic, offset, BYTES_MAX, 500))?, topic)?;
        // What the name shows may still be looked for.
        if !wire::accepted("Fetch", fetched.code)? && begin.elapsed() < PATIENCE {
            thread::sleep(PAUSE);
            continue;
        }
        let next = fetched.next_offset(offset);
        if next == offset {
            return Err(format!("{topic}: nothing at {offset}, and {end} is the end").into());
        }
        if done.records == 0 {
            done.first_ms = begin.elapsed().as_secs_f64() * 1e3;
        }
        wire::records(fetched.batches, |record| {
            done.records += 1;
            visit(record);
        });
        done.bytes += fetched.batches.len();
        offset = next;
    }
    done.seconds = begin.elapsed().as_secs_f64();
    done.broker_cpu_s = process::cpu_seconds(broker.pid) - cpu;
    Ok(done)
}

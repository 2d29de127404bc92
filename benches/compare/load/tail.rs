//! End to end without client queues: one fetch waits at the end of the log while one record is produced. The latency
//! is from the Produce request to the record in the consumer's hands.

use std::time::Instant;

use super::Aim;
use crate::Fault;
use crate::sample::Sample;
use crate::wire::{self, Connection};

/// How long a fetch waits for a record, in ms: longer than any produce should take.
const WAIT_MS: i32 = 10_000;

pub fn tail(aim: &Aim<'_>, size: usize) -> Result<Sample, Fault> {
    let request = wire::produce(aim.topic, 0, &wire::batch(1, size));
    let mut producer = Connection::open(aim.address)?;
    let mut consumer = Connection::open(aim.address)?;
    let (code, base) = wire::produced(producer.ask(&request)?, aim.topic)?;
    wire::accepted("Produce", code)?;
    let mut offset = base + 1;
    let mut meter = aim.meter();
    while !meter.is_over() {
        consumer.send(&wire::fetch(aim.topic, offset, 1 << 20, WAIT_MS))?;
        let start = Instant::now();
        producer.send(&request)?;
        offset = wait_for_record(&mut consumer, aim.topic, offset)?;
        meter.count(start.elapsed(), size);
        let (code, _) = wire::produced(producer.receive()?, aim.topic)?;
        wire::accepted("Produce", code)?;
    }
    Ok(meter.finish())
}

/// Takes answers until one holds a record; gives the offset after it.
fn wait_for_record(consumer: &mut Connection, topic: &str, offset: i64) -> Result<i64, Fault> {
    loop {
        let fetched = wire::fetched(consumer.receive()?, topic)?;
        wire::accepted("Fetch", fetched.code)?;
        let next = fetched.next_offset(offset);
        if next > offset {
            return Ok(next);
        }
        consumer.send(&wire::fetch(topic, offset, 1 << 20, WAIT_MS))?;
    }
}

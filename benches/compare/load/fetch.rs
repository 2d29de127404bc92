//! One partition read from the start to the end and from the start again, one request at a time.

use std::time::Instant;

use super::Aim;
use crate::Fault;
use crate::sample::Sample;
use crate::wire::{self, Connection};

pub fn fetch(aim: &Aim<'_>, bytes_max: i32) -> Result<Sample, Fault> {
    let mut connection = Connection::open(aim.address)?;
    let mut offset = 0;
    let mut meter = aim.meter();
    while !meter.is_over() {
        let start = Instant::now();
        let answer = connection.ask(&wire::fetch(aim.topic, offset, bytes_max, 0))?;
        let latency = start.elapsed();
        let fetched = wire::fetched(answer, aim.topic)?;
        wire::accepted("Fetch", fetched.code)?;
        if fetched.batches.is_empty() && offset == 0 {
            return Err(format!("Fetch: {} is empty", aim.topic).into());
        }
        if fetched.batches.is_empty() {
            offset = 0;
            continue;
        }
        offset = fetched.next_offset(offset);
        meter.count(latency, fetched.batches.len());
    }
    Ok(meter.finish())
}

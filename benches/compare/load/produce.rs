//! The same batch again and again on one connection, several requests in flight.

use std::collections::VecDeque;
use std::time::Instant;

use super::Aim;
use crate::Fault;
use crate::sample::{Meter, Sample};
use crate::wire::{self, Connection};

/// What to produce: records of `size` bytes, `count` in a request, `depth` requests in flight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    pub size: usize,
    pub count: usize,
    pub depth: usize,
}

pub fn produce(aim: &Aim<'_>, shape: Shape) -> Result<Sample, Fault> {
    let request = wire::produce(aim.topic, &wire::batch(shape.count, shape.size));
    let mut pipe = Pipe {
        connection: Connection::open(aim.address)?,
        sent: VecDeque::new(),
        topic: aim.topic,
        bytes: shape.size * shape.count,
    };
    let mut meter = aim.meter();
    while !meter.is_over() {
        pipe.connection.send(&request)?;
        pipe.sent.push_back(Instant::now());
        while pipe.sent.len() >= shape.depth {
            pipe.take(&mut meter)?;
        }
    }
    while !pipe.sent.is_empty() {
        pipe.take(&mut meter)?;
    }
    Ok(meter.finish())
}

/// Requests on their way: answers come in the order of the requests.
struct Pipe<'a> {
    connection: Connection,
    sent: VecDeque<Instant>,
    topic: &'a str,
    bytes: usize,
}

impl Pipe<'_> {
    fn take(&mut self, meter: &mut Meter) -> Result<(), Fault> {
        let (code, _) = wire::produced(self.connection.receive()?, self.topic)?;
        if !wire::accepted("Produce", code)? {
            return Err("Produce: the topic went away".into());
        }
        if let Some(sent) = self.sent.pop_front() {
            meter.count(sent.elapsed(), self.bytes);
        }
        Ok(())
    }
}

//! The same batch again and again, several requests in flight on each connection, to the partitions in turn.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

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
    pub connections: usize,
    pub partitions: i32,
    /// Requests a second over all connections; as many as are answered when none is given. A request that is sent late
    /// is counted from when it should have been sent.
    pub rate: Option<u32>,
}

impl Shape {
    /// One connection, one partition, as fast as it goes.
    pub const fn new(size: usize, count: usize, depth: usize) -> Shape {
        Shape { size, count, depth, connections: 1, partitions: 1, rate: None }
    }
}

pub fn produce(aim: &Aim<'_>, shape: Shape) -> Result<Sample, Fault> {
    let mut meter = aim.meter();
    let loads = thread::scope(|scope| {
        let running: Vec<_> = (0..shape.connections)
            .map(|number| {
                let part = meter.part();
                scope.spawn(move || one_connection(aim, shape, number, part).map_err(|fault| fault.to_string()))
            })
            .collect();
        running
            .into_iter()
            .map(|load| load.join().unwrap_or_else(|_| Err("a load panicked".into())))
            .collect::<Vec<_>>()
    });
    for load in loads {
        meter.merge(load?);
    }
    Ok(meter.finish())
}

fn one_connection(aim: &Aim<'_>, shape: Shape, number: usize, meter: Meter) -> Result<Meter, Fault> {
    let batch = wire::batch(shape.count, shape.size);
    let requests: Vec<Vec<u8>> =
        (0..shape.partitions).map(|partition| wire::produce(aim.topic, partition, &batch)).collect();
    let mut pipe = Pipe {
        connection: Connection::open(aim.address)?,
        sent: VecDeque::new(),
        topic: aim.topic,
        bytes: shape.size * shape.count,
        meter,
    };
    let Some(rate) = shape.rate else {
        // Connections start at different partitions.
        for request in requests.iter().cycle().skip(number) {
            if pipe.meter.is_over() {
                break;
            }
            pipe.connection.send(request)?;
            pipe.sent.push_back(Instant::now());
            while pipe.sent.len() >= shape.depth {
                pipe.take()?;
            }
        }
        while !pipe.sent.is_empty() {
            pipe.take()?;
        }
        return Ok(pipe.meter);
    };
    let period = Duration::from_secs_f64(shape.connections as f64 / f64::from(rate));
    let mut sender = pipe.connection.second()?;
    let end = pipe.meter.end();
    let (tell, told) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut due = Instant::now();
            for request in requests.iter().cycle().skip(number) {
                if due >= end {
                    break;
                }
                thread::sleep(due.saturating_duration_since(Instant::now()));
                sender.send(request).map_err(|fault| fault.to_string())?;
                // The receiver has ended with an error, which counts more.
                let _ = tell.send(due);
                due += period;
            }
            Ok::<(), String>(())
        });
        for due in told {
            pipe.sent.push_back(due);
            pipe.take()?;
        }
        sending.join().map_err(|_| "the sender panicked")??;
        Ok(pipe.meter)
    })
}

/// Requests on their way: answers come in the order of the requests.
struct Pipe<'a> {
    connection: Connection,
    sent: VecDeque<Instant>,
    topic: &'a str,
    bytes: usize,
    meter: Meter,
}

impl Pipe<'_> {
    fn take(&mut self) -> Result<(), Fault> {
        let (code, _) = wire::produced(self.connection.receive()?, self.topic)?;
        if !wire::accepted("Produce", code)? {
            return Err("Produce: the topic went away".into());
        }
        if let Some(sent) = self.sent.pop_front() {
            self.meter.count(sent.elapsed(), self.bytes);
        }
        Ok(())
    }
}

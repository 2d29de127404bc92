//! What is measured: a name and a load each.

use crate::Fault;
use crate::load::{self, Aim, Shape};
use crate::sample::Sample;

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Workload {
    pub name: &'static str,
    load: Load,
}

#[derive(Clone, Copy)]
enum Load {
    Produce(Shape),
    /// Up to this many bytes at once from a topic of [`FETCHED_MB`].
    Fetch(i32),
    /// End to end, one record of this size at a time.
    Tail(usize),
}

/// What is read again and again: as much from every broker, however fast it takes writes.
pub const FETCHED_MB: u64 = 1000;

/// In the order of running.
pub const ALL: [Workload; 13] = [
    Workload { name: "produce 100 B x 10", load: Load::Produce(Shape::new(100, 10, 5)) },
    Workload { name: "produce 100 B x 100", load: Load::Produce(Shape::new(100, 100, 5)) },
    Workload { name: "produce 100 B x 1000", load: Load::Produce(Shape::new(100, 1000, 5)) },
    Workload { name: "produce 1 KiB x 128", load: Load::Produce(LARGE) },
    Workload { name: "produce 100 B x 10, 6 part.", load: six(100, 10) },
    Workload { name: "produce 100 B x 100, 6 part.", load: six(100, 100) },
    Workload { name: "produce 100 B x 1000, 6 part.", load: six(100, 1000) },
    Workload { name: "produce 1 KiB x 128, 6 part.", load: six(1024, 128) },
    Workload { name: "produce one at a time", load: Load::Produce(Shape::new(100, 1, 1)) },
    Workload { name: "produce 16 connections x 100", load: Load::Produce(CROWD) },
    Workload { name: "steady 100,000 records/s", load: Load::Produce(STEADY) },
    Workload { name: "end to end, one at a time", load: Load::Tail(100) },
    Workload { name: "fetch 1 MiB", load: Load::Fetch(1 << 20) },
];

const LARGE: Shape = Shape::new(1024, 128, 5);
const CROWD: Shape = Shape { connections: 16, ..Shape::new(100, 100, 1) };
const STEADY: Shape = Shape { rate: Some(1000), ..Shape::new(100, 100, 5) };

const fn six(size: usize, count: usize) -> Load {
    Load::Produce(Shape { partitions: 6, ..Shape::new(size, count, 5) })
}

impl Workload {
    /// Loads the broker for `seconds`.
    pub fn run(&self, address: &str, pid: u32, seconds: f64) -> Result<Sample, Fault> {
        let topic = self.topic();
        load::prepare(address, &topic, self.partitions())?;
        let aim = Aim { address, topic: &topic, pid: Some(pid), seconds };
        match self.load {
            Load::Produce(shape) => load::produce(&aim, shape),
            Load::Fetch(bytes_max) => load::fetch(&aim, bytes_max),
            Load::Tail(size) => load::tail(&aim, size),
        }
    }

    /// The topic that must hold [`FETCHED_MB`] before it.
    pub fn reads(&self) -> Option<String> {
        matches!(self.load, Load::Fetch(_)).then(|| self.topic())
    }

    fn topic(&self) -> String {
        match self.load {
            Load::Produce(shape) => topic_of(shape),
            Load::Fetch(_) => "fetched".to_owned(),
            Load::Tail(_) => "tail".to_owned(),
        }
    }

    fn partitions(&self) -> i32 {
        match self.load {
            Load::Produce(shape) => shape.partitions,
            Load::Fetch(_) | Load::Tail(_) => 1,
        }
    }
}

fn topic_of(shape: Shape) -> String {
    let Shape { size, count, depth, connections, partitions, rate } = shape;
    let rate = rate.map_or(String::new(), |rate| format!("-at-{rate}"));
    format!("produce-{size}-{count}-{depth}-by-{connections}-to-{partitions}{rate}")
}

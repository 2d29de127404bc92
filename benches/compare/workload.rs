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
    /// Up to this many bytes at once from the topic that the workload "produce 1 KiB x 128" fills.
    Fetch(i32),
    /// End to end, one record of this size at a time.
    Tail(usize),
}

/// In the order of running: the large produce comes before the fetch that reads what it wrote.
pub const ALL: [Workload; 7] = [
    Workload { name: "produce 100 B x 10", load: produce(100, 10, 5) },
    Workload { name: "produce 100 B x 100", load: produce(100, 100, 5) },
    Workload { name: "produce 100 B x 1000", load: produce(100, 1000, 5) },
    Workload { name: "produce 1 KiB x 128", load: LARGE },
    Workload { name: "produce one at a time", load: produce(100, 1, 1) },
    Workload { name: "end to end, one at a time", load: Load::Tail(100) },
    Workload { name: "fetch 1 MiB", load: Load::Fetch(1 << 20) },
];

const LARGE: Load = produce(1024, 128, 5);
const LARGE_TOPIC: &str = "produce-1024-128-5";

const fn produce(size: usize, count: usize, depth: usize) -> Load {
    Load::Produce(Shape { size, count, depth })
}

impl Workload {
    /// Loads the broker for `seconds`.
    pub fn run(&self, address: &str, pid: u32, seconds: f64) -> Result<Sample, Fault> {
        let topic = self.topic();
        load::prepare(address, &topic)?;
        let aim = Aim { address, topic: &topic, pid: Some(pid), seconds };
        match self.load {
            Load::Produce(shape) => load::produce(&aim, shape),
            Load::Fetch(bytes_max) => load::fetch(&aim, bytes_max),
            Load::Tail(size) => load::tail(&aim, size),
        }
    }

    /// What must have run before it, so that there is something to read.
    pub fn filler(&self) -> Option<Workload> {
        matches!(self.load, Load::Fetch(_)).then_some(Workload { name: "fill", load: LARGE })
    }

    fn topic(&self) -> String {
        match self.load {
            Load::Produce(Shape { size, count, depth }) => format!("produce-{size}-{count}-{depth}"),
            Load::Fetch(_) => LARGE_TOPIC.to_owned(),
            Load::Tail(_) => "tail".to_owned(),
        }
    }
}

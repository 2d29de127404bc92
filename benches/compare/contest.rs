//! The contest: the brokers in turn, round after round, each started on empty data and warmed up first.

use std::time::Instant;

use crate::Fault;
use crate::broker::Broker;
use crate::lives;
use crate::memory;
use crate::options::{Contestant, Options};
use crate::sample::Sample;
use crate::workload::{self, FETCHED_MB, Workload};

/// A broker's answers to all the workloads.
pub struct Standing {
    pub contestant: Contestant,
    /// By workload, each with the samples of all rounds.
    pub workloads: Vec<(Workload, Vec<Sample>)>,
    /// From the start of the process to its first answer, of each round.
    pub start_ms: Vec<f64>,
}

pub fn run(options: &Options) -> Result<Vec<Standing>, Fault> {
    let workloads = chosen(options.only.as_deref())?;
    let mut standings: Vec<Standing> =
        options.brokers.iter().map(|&contestant| Standing::new(contestant, &workloads)).collect();
    for round in 1..=options.rounds() {
        for standing in &mut standings {
            eprintln!("round {round} of {}: {}", options.rounds(), standing.contestant.name());
            standing.measure(options)?;
        }
    }
    Ok(standings)
}

fn chosen(only: Option<&str>) -> Result<Vec<Workload>, Fault> {
    let chosen: Vec<Workload> =
        workload::ALL.into_iter().filter(|w| only.is_none_or(|part| w.name.contains(part))).collect();
    if chosen.is_empty() {
        let names = workload::ALL.map(|w| w.name).join(", ");
        return Err(format!("no workload has {:?} in its name; there are: {names}", only.unwrap_or_default()).into());
    }
    Ok(chosen)
}

impl Standing {
    fn new(contestant: Contestant, workloads: &[Workload]) -> Standing {
        let workloads = workloads.iter().map(|&workload| (workload, Vec::new())).collect();
        Standing { contestant, workloads, start_ms: Vec::new() }
    }

    fn measure(&mut self, options: &Options) -> Result<(), Fault> {
        if !options.cold_memory {
            memory::warm(&options.data)?;
        }
        let begin = Instant::now();
        let broker = Broker::start(self.contestant, options)?;
        self.start_ms.push(begin.elapsed().as_secs_f64() * 1e3);
        let seconds = options.seconds();
        // A JVM needs its loops compiled.
        for (workload, _) in &self.workloads {
            if let Some(topic) = workload.reads() {
                lives::fill(&broker, &topic, FETCHED_MB)?;
            }
            workload.run(&broker.address, broker.pid, seconds / 2.0)?;
        }
        for (workload, samples) in &mut self.workloads {
            // What the one before left to write back would be measured in this one.
            rustix::fs::sync();
            let sample = workload.run(&broker.address, broker.pid, seconds)?;
            eprintln!("  {:26} {:>9.0} requests/s", workload.name, sample.requests_per_s);
            samples.push(sample);
        }
        broker.stop()
    }
}

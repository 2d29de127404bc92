//! Starts, stops and kills: how long until the first answer, and how much memory.

use std::time::Instant;

use crate::Fault;
use crate::broker::{Broker, Ending};
use crate::load::{self, Aim, Shape};
use crate::options::{Contestant, Options};
use crate::{memory, process};

/// The topic that much is written to.
const FILLED: &str = "filled";

/// What one broker's life gave, in the order of the table.
struct Life {
    contestant: Contestant,
    figures: Vec<(String, f64)>,
}

pub fn run(options: &Options, num_topics: usize, megabytes: u64) -> Result<(), Fault> {
    let mut lives: Vec<Life> = Vec::new();
    for &contestant in &options.brokers {
        if !options.cold_memory {
            memory::warm(&options.data)?;
        }
        eprintln!("{}", contestant.name());
        lives.push(Life { contestant, figures: live(contestant, options, num_topics, megabytes)? });
    }
    print(&lives);
    Ok(())
}

fn live(
    contestant: Contestant,
    options: &Options,
    num_topics: usize,
    megabytes: u64,
) -> Result<Vec<(String, f64)>, Fault> {
    let mut figures = Vec::new();
    let mut note = |what: String, figure: f64| {
        eprintln!("  {what}: {figure:.3}");
        figures.push((what, figure));
    };
    let begin = Instant::now();
    let mut broker = Broker::start(contestant, options)?;
    note("first start, s".into(), begin.elapsed().as_secs_f64());
    note("idle memory, MB".into(), process::resident_mb(broker.pid));

    let topics: Vec<String> = (0..num_topics).map(|number| format!("topic-{number}")).collect();
    let begin = Instant::now();
    load::create(&broker.address, &topics, 1, &[])?;
    note(format!("{num_topics} topics made, s"), begin.elapsed().as_secs_f64());
    note(format!("memory with {num_topics} topics, MB"), process::resident_mb(broker.pid));
    note(
        format!("stop and start with {num_topics} topics: start, s"),
        broker.restart(Ending::Stop, contestant, options)?.as_secs_f64(),
    );
    note(
        format!("kill and start with {num_topics} topics: start, s"),
        broker.restart(Ending::Kill, contestant, options)?.as_secs_f64(),
    );
    broker.stop()?;

    let mut broker = Broker::start(contestant, options)?;
    fill(&broker, FILLED, megabytes)?;
    note(
        format!("kill and start with {megabytes} MB: start, s"),
        broker.restart(Ending::Kill, contestant, options)?.as_secs_f64(),
    );
    note(format!("memory after that start with {megabytes} MB, MB"), process::resident_mb(broker.pid));
    broker.stop()?;
    Ok(figures)
}

/// Produces large requests to a topic until that much is there.
pub fn fill(broker: &Broker, topic: &str, megabytes: u64) -> Result<(), Fault> {
    /// At a time: what is too much at the end is little.
    const SECONDS: f64 = 0.1;
    let shape = Shape::new(1024, 128, 5);
    let mut left = megabytes as f64;
    load::prepare(&broker.address, topic, 1)?;
    while left > 0.0 {
        let aim = Aim { address: &broker.address, topic, pid: None, seconds: SECONDS };
        left -= load::produce(&aim, shape)?.mb_per_s * SECONDS;
    }
    Ok(())
}

fn print(lives: &[Life]) {
    let kafka = lives.iter().find(|life| life.contestant == Contestant::Kafka);
    for (index, (what, _)) in lives.first().map(|life| life.figures.as_slice()).unwrap_or_default().iter().enumerate() {
        for life in lives {
            let figure = life.figures[index].1;
            let ratio =
                kafka.filter(|_| life.contestant != Contestant::Kafka).map(|kafka| kafka.figures[index].1 / figure);
            let ratio = ratio.map_or(String::new(), |ratio| format!("1/{ratio:.1} of Kafka's"));
            println!("{what:50} {:18} {figure:>10.3} {ratio}", life.contestant.name());
        }
    }
}

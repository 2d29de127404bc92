//! What only StreamStack has, measured: views beside the plain topic, a long history of commits, idle feeds, seals.

use std::time::Instant;

use crate::Fault;
use crate::broker::Broker;
use crate::lives::fill;
use crate::load::{self, Aim, Shape};
use crate::options::{Contestant, Options};
use crate::wire::{self, Connection};
use crate::{memory, process};

const MEGABYTES: u64 = 500;

/// Every record is a commit of its own.
const SEAL_EACH: [(&str, &str); 1] = [("streamstack.seal.records", "1")];

pub fn run(options: &Options, num_commits: usize, num_feeds: usize) -> Result<(), Fault> {
    if !options.cold_memory {
        memory::warm(&options.data)?;
    }
    let broker = Broker::start(Contestant::Fsync, options)?;
    read_rates(&broker, options)?;
    long_history(&broker, num_commits)?;
    seals(&broker, options.seconds())?;
    broker.stop()?;
    let broker = Broker::start(Contestant::Fsync, options)?;
    idle_feeds(&broker, num_feeds)?;
    broker.stop()
}

/// `..feed` beside the plain topic, in turn.
fn read_rates(broker: &Broker, options: &Options) -> Result<(), Fault> {
    let seal = [("streamstack.seal.bytes", "16777216")];
    load::create(&broker.address, &["filled".to_owned()], 1, &seal)?;
    fill(broker, "filled", MEGABYTES)?;
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..options.rounds() {
        for (rates, topic) in rates.iter_mut().zip(["filled", "filled..feed"]) {
            let aim = Aim { address: &broker.address, topic, pid: Some(broker.pid), seconds: options.seconds() };
            rates.push(load::fetch(&aim, 1 << 20)?);
        }
    }
    let [plain, feed] = rates.map(|samples| crate::sample::Sample::median(&samples));
    println!("plain topic  {:8.0} MB/s  {:.2} cpu s/GB", plain.mb_per_s, plain.cpu_s_per_gb);
    println!(
        "..feed       {:8.0} MB/s  {:.2} cpu s/GB, {:.2} of the plain topic's rate",
        feed.mb_per_s,
        feed.cpu_s_per_gb,
        feed.mb_per_s / plain.mb_per_s
    );
    Ok(())
}

/// The first and the last manifest of a history of many commits.
fn long_history(broker: &Broker, num_commits: usize) -> Result<(), Fault> {
    let topic = "history";
    load::create(&broker.address, &[topic.to_owned()], 1, &SEAL_EACH)?;
    let begin = Instant::now();
    let view = format!("{topic}..commits");
    let mut connection = Connection::open(&broker.address)?;
    let shape = Shape { connections: 16, ..Shape::new(100, 1, 4) };
    let mut end = 0;
    while end < num_commits as i64 {
        load::produce(&Aim { address: &broker.address, topic, pid: None, seconds: 1.0 }, shape)?;
        end = load::end_of(&mut connection, &view)?;
    }
    println!("{end} commits sealed in {:.1} s", begin.elapsed().as_secs_f64());
    for (what, offset) in [("first", 0), ("last", end - 1)] {
        let begin = Instant::now();
        let answer = connection.ask(&wire::fetch(&view, offset, 1 << 10, 0))?;
        let took = begin.elapsed();
        let fetched = wire::fetched(answer, &view)?;
        wire::accepted("Fetch", fetched.code)?;
        if fetched.batches.is_empty() {
            return Err(format!("{view}: nothing at {offset}").into());
        }
        println!("{what} manifest of {end} read in {:.2} ms", took.as_secs_f64() * 1e3);
    }
    Ok(())
}

/// One record a seal, 100 seals a second; and the same records without seals.
fn seals(broker: &Broker, seconds: f64) -> Result<(), Fault> {
    for (topic, configs) in [("unsealed", &[][..]), ("sealed", &SEAL_EACH[..])] {
        load::create(&broker.address, &[topic.to_owned()], 1, configs)?;
        let aim = Aim { address: &broker.address, topic, pid: Some(broker.pid), seconds: seconds.max(4.0) };
        let sample = load::produce(&aim, Shape { rate: Some(100), ..Shape::new(100, 1, 1) })?;
        let share = sample.cpu_us_per_request * sample.requests_per_s / 1e4;
        println!("{topic:9} {:.0} records/s: {share:.2} % of a core", sample.requests_per_s);
    }
    Ok(())
}

/// Memory and open files of feeds that nobody uses.
fn idle_feeds(broker: &Broker, num_feeds: usize) -> Result<(), Fault> {
    let (memory, files) = (process::resident_mb(broker.pid), process::num_files(broker.pid));
    let feeds: Vec<String> = (0..num_feeds).map(|number| format!("feed-{number}")).collect();
    load::create(&broker.address, &feeds, 1, &[])?;
    println!(
        "{num_feeds} idle feeds: {:.1} MB more ({memory:.1} before), {} files more",
        process::resident_mb(broker.pid) - memory,
        process::num_files(broker.pid) as i64 - files as i64
    );
    Ok(())
}

//! Views in a mode, measured: reading them, building what they need, and keeping it up.

mod client;
mod history;
mod pass;

use std::thread;
use std::time::{Duration, Instant};

use self::history::{COMMIT_RECORDS, History};
use self::pass::{Pass, pass};
use crate::Fault;
use crate::broker::Broker;
use crate::load::end_of;
use crate::memory;
use crate::options::{Contestant, Options};
use crate::process;
use crate::wire::Connection;

const TOPIC: &str = "history";

/// Each [`COMMIT_RECORDS`] are a commit.
const SEAL: [(&str, &str); 2] = [("streamstack.seal.records", "100000"), ("streamstack.seal.ms", "86400000")];

/// Each is read by every view.
const HISTORIES: [History; 9] = [
    History { records: 100_000, size: 100, keys: 100_000, repeated: 50 },
    History { records: 1_000_000, size: 100, keys: 100_000, repeated: 50 },
    History { records: 10_000_000, size: 100, keys: 100_000, repeated: 50 },
    History { records: 1_000_000, size: 100, keys: 10_000_000, repeated: 0 },
    History { records: 1_000_000, size: 100, keys: 100_000, repeated: 90 },
    History { records: 1_000_000, size: 100, keys: 100_000, repeated: 99 },
    History { records: 1_000_000, size: 100, keys: 100, repeated: 90 },
    History { records: 100_000, size: 1024, keys: 100_000, repeated: 50 },
    History { records: 1_000_000, size: 1024, keys: 100_000, repeated: 50 },
];

pub fn run(options: &Options, records: Option<u64>, largest: u64) -> Result<(), Fault> {
    let largest = if options.quick { largest.min(100_000) } else { largest };
    if !options.cold_memory {
        memory::warm(&options.data)?;
    }
    let chosen = HISTORIES.iter().filter(|history| records.is_none_or(|only| history.records == only));
    for history in chosen.filter(|history| history.records <= largest) {
        let History { records, size, keys, repeated } = history;
        println!("\n{records} records of {size} B, {keys} keys, {repeated} % repeated");
        for &contestant in &options.brokers {
            match contestant {
                Contestant::Kafka | Contestant::KafkaFlush => compacted(contestant, options, history)?,
                Contestant::Os | Contestant::Fsync => views(contestant, options, history)?,
            }
        }
    }
    Ok(())
}

/// Reads the compacted topic just after it was written, and keeps the last of each key.
fn compacted(contestant: Contestant, options: &Options, history: &History) -> Result<(), Fault> {
    let broker = Broker::start(contestant, options)?;
    let written = write(&broker, history, &[("cleanup.policy", "compact")])?;
    println!("{}: written at {:.0} records/s", contestant.name(), written);
    let reduced = median(options, || client::latest(&broker, TOPIC))?;
    tell("compacted topic, reduced by the client", &reduced.0, reduced.1, None);
    broker.stop()
}

fn views(contestant: Contestant, options: &Options, history: &History) -> Result<(), Fault> {
    let broker = Broker::start(contestant, options)?;
    let written = write(&broker, history, &SEAL)?;
    println!("{}: written at {written:.0} records/s", contestant.name());

    let (begin, cpu) = (Instant::now(), process::cpu_seconds(broker.pid));
    let mut connection = Connection::open(&broker.address)?;
    end_of(&mut connection, &format!("{TOPIC}..dedup"))?;
    let (built, worked) = (begin.elapsed().as_secs_f64(), process::cpu_seconds(broker.pid) - cpu);
    println!(
        "indexed in {built:.2} s: {:.0} records/s, {:.0} for each CPU second; broker {:.0} MB",
        history.records as f64 / built,
        history.records as f64 / worked,
        process::resident_mb(broker.pid),
    );

    let plain = median(options, || count(&broker, TOPIC))?.0;
    tell("plain topic", &plain, plain.records, None);
    let last = history.records / COMMIT_RECORDS - 1;
    for name in [format!("{TOPIC}..feed"), format!("{TOPIC}..commits-0-{last}")] {
        let (read, records) = median(options, || count(&broker, &name))?;
        tell(&name, &read, records, Some(&plain));
    }
    for (mode, filter) in [
        ("dedup", client::dedup as fn(&Broker, &str) -> Result<(Pass, u64), Fault>),
        ("latest", client::latest),
        ("changed", client::changed),
    ] {
        let name = format!("{TOPIC}..{mode}");
        let first = count(&broker, &name)?;
        println!(
            "  {name}: first record after {:.1} ms when first asked, all in {:.3} s",
            first.0.first_ms, first.0.seconds
        );
        let (read, records) = median(options, || count(&broker, &name))?;
        tell(&name, &read, records, Some(&plain));
        let (filtered, kept) = median(options, || filter(&broker, TOPIC))?;
        if kept != records {
            return Err(format!("{name} shows {records} records, and a client that filters keeps {kept}").into());
        }
        println!(
            "    a client that reads all and filters: {:.3} s; the view takes 1/{:.1} of that",
            filtered.seconds,
            filtered.seconds / read.seconds
        );
    }
    kept_up(&broker, history)?;
    broker.stop()
}

/// Producing to a topic whose index is kept up, beside one that has none.
fn kept_up(broker: &Broker, history: &History) -> Result<(), Fault> {
    let history = History { records: history.records.min(1_000_000), ..*history };
    let mut rates = [0.0, 0.0];
    for (rate, topic) in rates.iter_mut().zip(["unindexed", TOPIC]) {
        let begin = Instant::now();
        history.write(&broker.address, topic, &SEAL)?;
        *rate = history.records as f64 / begin.elapsed().as_secs_f64();
    }
    let begin = Instant::now();
    let mut connection = Connection::open(&broker.address)?;
    // The last record of a feed is the last of its key.
    let end = end_of(&mut connection, &format!("{TOPIC}..feed"))?;
    while end_of(&mut connection, &format!("{TOPIC}..latest"))? < end {
        thread::sleep(Duration::from_millis(1));
    }
    let behind = begin.elapsed().as_secs_f64();
    let [without, with] = rates;
    println!(
        "  produced with the index kept up: {with:.0} records/s, {:.2} of that without; it was {behind:.2} s behind at the end",
        with / without
    );
    Ok(())
}

/// Writes the history; gives records a second.
fn write(broker: &Broker, history: &History, configs: &[(&str, &str)]) -> Result<f64, Fault> {
    let begin = Instant::now();
    history.write(&broker.address, TOPIC, configs)?;
    Ok(history.records as f64 / begin.elapsed().as_secs_f64())
}

fn count(broker: &Broker, topic: &str) -> Result<(Pass, u64), Fault> {
    let pass = pass(broker, topic, |_| {})?;
    let records = pass.records;
    Ok((pass, records))
}

/// The pass of median duration.
fn median(options: &Options, mut run: impl FnMut() -> Result<(Pass, u64), Fault>) -> Result<(Pass, u64), Fault> {
    let mut passes = (0..options.rounds()).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    passes.sort_by(|(a, _), (b, _)| a.seconds.total_cmp(&b.seconds));
    Ok(passes.swap_remove(passes.len() / 2))
}

fn tell(what: &str, pass: &Pass, records: u64, plain: Option<&Pass>) {
    let rate = |pass: &Pass| pass.bytes as f64 / 1e6 / pass.seconds;
    let against =
        plain.map_or(String::new(), |plain| format!(", {:.2} of the plain topic's MB/s", rate(pass) / rate(plain)));
    println!(
        "  {what}: {records} records in {:.3} s, first after {:.1} ms; {:.0} records/s, {:.0} MB/s, broker {:.2} cpu s/GB{against}",
        pass.seconds,
        pass.first_ms,
        pass.records as f64 / pass.seconds,
        rate(pass),
        pass.broker_cpu_s / (pass.bytes as f64 / 1e9),
    );
}

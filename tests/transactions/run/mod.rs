//! Seeded runs: clients that append to lists in transactions while they, and the broker, are killed and stopped.

mod found;
mod ledger;
mod member;
mod plain;
mod reader;
mod writer;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use streamstack::cli::client::ProducerSession;
use streamstack::disk::SplitMix;

use self::ledger::Ledger;
use self::member::{FIRST_MEMBER, Member};
use self::plain::Plain;
use self::reader::Reader;
use self::writer::Writer;
use super::broker::{Broker, Start};
use super::checker::{History, Process, Tally, check, feed_of};
use super::seed::SayWhenItFails;
use super::tools;
use super::wire::Address;

const SEED_VARIABLE: &str = "TRANSACTION_SEED";
const TOPICS: [&str; 2] = ["alpha", "beta"];
/// Their views in the order of commits.
const FEEDS: [&str; 2] = ["alpha..feed", "beta..feed"];
const NUM_PARTITIONS: i32 = 2;
/// Half of them speak the first transaction protocol.
const NUM_WRITERS: u32 = 6;
/// The last two sleep now and then, one of each protocol, and their transactions time out.
const NUM_AWAKE: u32 = 4;
/// Of a group that processes the first topic into the second.
const NUM_MEMBERS: u32 = 2;
/// Short, so that commits cut the implicit stream, and the clock too.
const SEAL_MS: &str = "40";
/// Every client goes on within so long.
const HEAL_MAX: Duration = Duration::from_secs(30);
/// The journal is small; the rest is what readers and writers hold.
const RSS_MAX_MB: u64 = 512;

/// How many runs, how long each, and whether it is one that is to be looked at again.
pub struct Plan {
    pub seeds: Vec<u64>,
    pub time: Duration,
}

impl Plan {
    /// What the environment says, or a little.
    pub fn of_environment(num_seeds: u64, seconds: u64) -> Plan {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let seeds = match number(SEED_VARIABLE) {
            Some(seed) => vec![seed],
            None => (1..=number("TRANSACTION_SEEDS").unwrap_or(num_seeds)).collect(),
        };
        Plan { seeds, time: Duration::from_secs(number("TRANSACTION_SECONDS").unwrap_or(seconds)) }
    }
}

#[test]
fn no_run_of_transactions_with_kills_and_restarts_shows_a_fault() {
    let Plan { seeds, time } = Plan::of_environment(3, 4);
    let mut tally = Tally::default();
    for seed in seeds {
        let told = SayWhenItFails { variable: SEED_VARIABLE, seed };
        let durability = if seed % 2 == 0 { "os" } else { "fsync" };
        let history = run(seed, time, durability);
        let faults = check(&history);
        let commits: usize = history.found.commits.values().map(Vec::len).sum();
        println!("seed {seed}, {durability}: {} events, {commits} commits", history.events.len());
        let lines: Vec<String> = faults.iter().take(20).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{} faults\n{}", faults.len(), lines.join("\n"));
        tally.count(&history);
        drop(told);
    }
    println!("{tally:?}");
    assert!(tally.is_complete(), "these runs show little: {tally:?}");
}

fn run(seed: u64, time: Duration, durability: &str) -> History {
    assert!(TOPICS.iter().zip(FEEDS).all(|(topic, feed)| feed_of(topic) == feed));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Members do not wait for others that may come.
    let quick = "group.initial.rebalance.delay.ms=0";
    let start = || Start::at(folder.path()).with(&[&format!("streamstack.durability={durability}"), quick]);
    let broker = start().serving();
    let address = Address::default();
    address.set(&broker.address);
    let session = made(&broker);
    let (ledger, over, healing) = (Ledger::default(), AtomicBool::new(false), AtomicBool::new(false));
    let mut random = SplitMix::new(seed);
    let mut process = Process { rss_max_mb: RSS_MAX_MB, ..Process::default() };
    let broker = thread::scope(|scope| {
        // Whatever ends this: the others must not go on for ever.
        let _over = (SetAtEnd(&over), SetAtEnd(&healing));
        let writers: Vec<_> = (0..NUM_WRITERS)
            .map(|number| {
                let writer = Writer::new(number, seed, number >= NUM_AWAKE, &address, &ledger);
                scope.spawn(|| write(writer, &healing))
            })
            .collect();
        let members: Vec<_> = (FIRST_MEMBER..FIRST_MEMBER + NUM_MEMBERS)
            .map(|number| {
                let member = Member::new(number, seed, &address, &ledger);
                scope.spawn(|| process_lists(member, &healing))
            })
            .collect();
        let plain = Plain { number: NUM_WRITERS, session, address: address.clone(), ledger: &ledger };
        let plain = scope.spawn({
            let healing = &healing;
            move || plain.run(healing)
        });
        let reader = scope.spawn(|| Reader::new(&ledger).run(&address, &over));
        let broker = harmed(broker, start, &address, &mut random, time, &mut process);
        healing.store(true, Ordering::Release);
        for (number, writer) in writers.into_iter().enumerate() {
            process.progress.insert(format!("writer {number}"), writer.join().unwrap());
        }
        for (number, member) in members.into_iter().enumerate() {
            process.progress.insert(format!("member {number}"), member.join().unwrap());
        }
        plain.join().unwrap();
        over.store(true, Ordering::Release);
        reader.join().unwrap();
        broker
    });
    let found = found::all(&mut broker.connect(), NUM_WRITERS, &mut random);
    process.saw(&broker);
    broker.kill();
    process.log = lines_of(folder.path());
    History { events: ledger.into_events(), found, process }
}

/// The topics, and an idempotent producer.
fn made(broker: &Broker) -> ProducerSession {
    let mut client = broker.connect();
    for topic in TOPICS {
        client.create_topic(topic, NUM_PARTITIONS, &[("streamstack.seal.ms", SEAL_MS)]).unwrap();
    }
    client.open_producer().unwrap()
}

/// Until the faults are over, and then until something is committed once more. True if it was.
fn write(mut writer: Writer<'_>, healing: &AtomicBool) -> bool {
    writer.begin_anew();
    while !healing.load(Ordering::Acquire) {
        writer.transaction();
    }
    let began = Instant::now();
    while began.elapsed() < HEAL_MAX {
        if writer.transaction() {
            return true;
        }
    }
    false
}

/// The same of a member of a group. One that waits for the others to join hears of the end when they do.
fn process_lists(mut member: Member<'_>, healing: &AtomicBool) -> bool {
    member.begin_anew();
    while !healing.load(Ordering::Acquire) {
        member.turn();
    }
    let began = Instant::now();
    let mut committed = false;
    while !committed && began.elapsed() < HEAL_MAX {
        committed = member.turn();
    }
    member.stop();
    committed
}

/// Kills and restarts the broker again and again for a while; the last one is well.
fn harmed<'a>(
    mut broker: Broker,
    start: impl Fn() -> Start<'a>,
    address: &Address,
    random: &mut SplitMix,
    time: Duration,
    process: &mut Process,
) -> Broker {
    let began = Instant::now();
    while began.elapsed() < time {
        thread::sleep(Duration::from_millis(30 + random.below(500)));
        process.saw(&broker);
        if random.chance(1, 4) {
            tools::signal(broker.pid(), Signal::TERM);
            let status = broker.wait();
            assert_eq!(status.code(), Some(0), "after SIGTERM:\n{}", broker.log());
        } else {
            broker.kill();
        }
        broker = start().serving();
        address.set(&broker.address);
    }
    broker
}

impl Process {
    /// Remembers how much memory the broker took at its peak.
    fn saw(&mut self, broker: &Broker) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", broker.pid())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        // A process that has just ended tells none.
        let peak_kb: u64 = peak.map_or(0, |text| text.parse().unwrap());
        self.rss_peak_mb = self.rss_peak_mb.max(peak_kb / 1_000);
    }
}

fn lines_of(folder: &Path) -> Vec<String> {
    let log = std::fs::read(folder.join("streamstack.log")).unwrap();
    String::from_utf8_lossy(&log).lines().map(str::to_owned).collect()
}

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

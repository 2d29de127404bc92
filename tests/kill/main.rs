//! The real process under load, killed with SIGKILL again and again, `KILL_ROUNDS` times if that is set: nothing acknowledged or shown is
//! lost, nothing that an idempotent producer sends comes twice, commits stay what they were, no position goes back, and views
//! show what they showed.
#![allow(clippy::disallowed_methods, reason = "the test keeps time and folders of its own")]

mod audit;
#[path = "../common/broker.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod broker;
mod committer;
mod load;
#[path = "../common/seed.rs"]
mod seed;
mod stamp;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod tools;
mod views;
mod watcher;
mod writer;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use audit::Audit;
use broker::Start;
use committer::Committer;
use seed::SayWhenItFails;
use streamstack::cli::client::Client;
use streamstack::disk::SplitMix;
use writer::Writer;

const ROUNDS: u64 = 50;
/// For a longer run than one of every day.
const ROUNDS_VARIABLE: &str = "KILL_ROUNDS";
/// For a run that is to be looked at again.
const SEED_VARIABLE: &str = "KILL_SEED";
const TOPIC: &str = "ledger";
const NUM_PARTITIONS: i32 = 2;
/// Short, so that timed seals happen in every round too.
const SEAL_MS: &str = "60";

#[test]
fn kill_9_under_load_loses_nothing_acknowledged() {
    killed_again_and_again("fsync", 1);
}

#[test]
fn kill_9_under_load_without_syncs_loses_nothing_acknowledged() {
    killed_again_and_again("os", 2);
}

fn killed_again_and_again(durability: &str, seed: u64) {
    let seed = number_of(SEED_VARIABLE).unwrap_or(seed);
    let _told = SayWhenItFails { variable: SEED_VARIABLE, seed };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let start = || Start::at(folder.path()).with(&[&format!("streamstack.durability={durability}")]);
    let begin = Instant::now();
    let mut random = SplitMix::new(seed);
    let broker = start().serving();
    let mut client = broker.connect();
    client.create_topic(TOPIC, NUM_PARTITIONS, &[("streamstack.seal.ms", SEAL_MS)]).unwrap();
    let mut writers = all_writers(&mut client);
    let (mut audit, mut committer) = (Audit::new(seed), Committer::default());
    broker.kill();
    let rounds = number_of(ROUNDS_VARIABLE).unwrap_or(ROUNDS);
    for round in 0..rounds {
        if round % 3 == 2 {
            killed_while_it_starts(start(), Duration::from_millis(random.below(30)));
        }
        let broker = start().serving();
        let mut client = broker.connect();
        audit.after_restart(&mut client, &writers);
        committer.check(&mut client);
        // Kills fall into starts, appends, seals and checkpoints alike.
        let time = Duration::from_millis(20 + random.below(600));
        load::until_killed(broker, &mut writers, &mut committer, &mut audit.shown, time);
        if round % 50 == 49 {
            println!("{durability}: {} kills, {audit} in {:.0} s", round + 1, begin.elapsed().as_secs_f64());
        }
    }
    let broker = start().serving();
    let mut client = broker.connect();
    audit.after_restart(&mut client, &writers);
    committer.check(&mut client);
    audit.at_the_end(&mut client);
    assert!(committer.num_acknowledged() > 0);
    let size = bytes_in(folder.path());
    println!("{durability}: {rounds} kills, {audit}, {size} MB in {:.0} s", begin.elapsed().as_secs_f64());
}

/// What the environment says, if it does.
fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// In the middle of its recovery, or thereabouts.
fn killed_while_it_starts(start: Start<'_>, after: Duration) {
    let broker = start.spawn();
    thread::sleep(after);
    broker.kill();
}

/// Two idempotent and two plain producers on the feed, and one that seals it.
fn all_writers(client: &mut Client) -> Vec<Writer> {
    let mut idempotent =
        |name, topic: &str, partition| Writer::new(name, topic, partition, Some(client.open_producer().unwrap()));
    vec![
        idempotent("idempotent-0", TOPIC, 0),
        idempotent("idempotent-1", TOPIC, 1),
        idempotent("sealer", &format!("{TOPIC}..seal"), 0),
        Writer::new("plain-0", TOPIC, 0, None),
        Writer::new("plain-1", TOPIC, 1, None),
    ]
}

/// Megabytes of the files in a folder and those below.
fn bytes_in(folder: &Path) -> u64 {
    fn bytes(folder: &Path) -> u64 {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let size = |entry: std::fs::DirEntry| match entry.metadata().unwrap() {
            found if found.is_dir() => bytes(&entry.path()),
            found => found.len(),
        };
        entries.map(size).sum()
    }
    bytes(folder) / 1_000_000
}

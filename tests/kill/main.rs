//! The real process under load, killed with SIGKILL fifty times, or `KILL_ROUNDS` times: nothing acknowledged or shown is
//! lost, nothing that an idempotent producer sends comes twice, and commits stay what they were.
#![allow(clippy::disallowed_methods, reason = "the test keeps time and folders of its own")]

mod audit;
mod broker;
mod load;
mod watcher;
mod writer;

use std::time::{Duration, Instant};

use audit::Audit;
use broker::Broker;
use streamstack::cli::client::Client;
use streamstack::disk::SplitMix;
use writer::Writer;

const ROUNDS: u64 = 50;
/// For a longer run than one of every day.
const ROUNDS_VARIABLE: &str = "KILL_ROUNDS";
const TOPIC: &str = "ledger";
const NUM_PARTITIONS: i32 = 2;
/// Short, so that timed seals happen in every round too.
const SEAL_MS: &str = "60";

#[test]
fn kill_9_under_load_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let begin = Instant::now();
    let (mut audit, mut writers) = (Audit::default(), Vec::new());
    let mut random = SplitMix::new(1);
    let rounds = std::env::var(ROUNDS_VARIABLE).map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    for round in 0..rounds {
        if round % 3 == 2 {
            Broker::kill_at_start(folder.path(), Duration::from_millis(random.below(30)));
        }
        let broker = Broker::start(folder.path());
        let mut client = Client::connect(&broker.address).unwrap();
        if round == 0 {
            client.create_topic(TOPIC, NUM_PARTITIONS, &[("streamstack.seal.ms", SEAL_MS)]).unwrap();
            writers = all_writers(&mut client);
        }
        audit.after_restart(&mut client, &writers, round);
        // Kills fall into starts, appends, seals and checkpoints alike.
        let time = Duration::from_millis(20 + random.below(600));
        load::until_killed(broker, &mut writers, &mut audit.shown, time);
    }
    let broker = Broker::start(folder.path());
    let mut client = Client::connect(&broker.address).unwrap();
    audit.after_restart(&mut client, &writers, rounds);
    audit.at_the_end(&mut client);
    println!("{rounds} kills, {audit} in {:.0} s", begin.elapsed().as_secs_f64());
}

/// Two idempotent and two plain producers on the feed, and one that seals it.
fn all_writers(client: &mut Client) -> Vec<Writer> {
    let mut idempotent =
        |name: &str, topic: &str, partition| Writer::new(name, topic, partition, Some(client.open_producer().unwrap()));
    vec![
        idempotent("idempotent-0", TOPIC, 0),
        idempotent("idempotent-1", TOPIC, 1),
        idempotent("sealer", &format!("{TOPIC}..seal"), 0),
        Writer::new("plain-0", TOPIC, 0, None),
        Writer::new("plain-1", TOPIC, 1, None),
    ]
}

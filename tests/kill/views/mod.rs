//! Killed while the index of a feed is built and kept up, and readers ask for views: bounded names show the same records ever
//! after, and names that follow show what a naive model makes of the feed.
//!
//! What was indexed is not stored before half a minute is over, or at a stop: most lives build it from its beginning.

mod audit;
mod feeder;
#[path = "../../modes/model.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod model;
mod reader;

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use streamstack::cli::client::Record;
use streamstack::disk::SplitMix;

use self::audit::Audit;
use self::feeder::Feeder;
use self::reader::Reader;
use super::broker::{Broker, Start};
use super::{NUM_PARTITIONS, SEAL_MS, TOPIC};
use super::{SayWhenItFails, number_of, tools};

const ROUNDS: u64 = 8;
const NUM_FEEDERS: u64 = 3;
/// The smallest, so that most of an index lies in files.
const MEMORY: &str = "streamstack.views.memory.bytes=1048576";
/// An index whose process was asked to stop is stored within so long, or half of it is.
const STOP_MS_MAX: u64 = 40;

#[test]
fn kill_9_while_links_are_built_and_kept_up_changes_no_answer() {
    killed_again_and_again("fsync", 3);
}

#[test]
fn kill_9_while_links_are_built_and_kept_up_without_syncs_changes_no_answer() {
    killed_again_and_again("os", 4);
}

fn killed_again_and_again(durability: &str, seed: u64) {
    let seed = number_of(super::SEED_VARIABLE).unwrap_or(seed);
    let _told = SayWhenItFails { variable: super::SEED_VARIABLE, seed };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let start = || Start::at(folder.path()).with(&[&format!("streamstack.durability={durability}"), MEMORY]);
    let begin = Instant::now();
    let mut random = SplitMix::new(seed);
    let broker = start().serving();
    let mut client = broker.connect();
    client.create_topic(TOPIC, NUM_PARTITIONS, &[("streamstack.seal.ms", SEAL_MS)]).unwrap();
    let mut feeders: Vec<Feeder> = (0..NUM_FEEDERS).map(|number| Feeder::new(number, random.draw())).collect();
    feeders[0].write_history(&mut client).unwrap();
    let (mut audit, mut reader) = (Audit::new(random.draw()), Reader::new(random.draw()));
    broker.kill();
    let rounds = number_of(super::ROUNDS_VARIABLE).unwrap_or(ROUNDS);
    let mut num_kills = 0;
    for _ in 0..rounds {
        // None of them lives for long enough to know all of the history.
        for _ in 0..=random.below(2) {
            let time = Duration::from_millis(random.below(100));
            under_load(start().serving(), &mut feeders, &mut reader, time, End::Kill);
            num_kills += 1;
        }
        let broker = start().serving();
        audit.after_restart(&mut broker.connect(), &reader);
        let end = End::any(&mut random);
        under_load(broker, &mut feeders, &mut reader, Duration::from_millis(20 + random.below(400)), end);
        num_kills += 1;
    }
    let broker = start().serving();
    audit.after_restart(&mut broker.connect(), &reader);
    println!("{durability}: {num_kills} ends, {audit}, {reader} in {:.0} s", begin.elapsed().as_secs_f64());
    assert!(reader.shows_enough(), "this run shows little: {reader}");
}

/// How a life ends.
enum End {
    Kill,
    Stop,
    /// Killed while it stores what it indexed, or thereabouts.
    KillInStop(Duration),
}

impl End {
    fn any(random: &mut SplitMix) -> End {
        match random.below(10) {
            0..5 => End::Kill,
            5..7 => End::Stop,
            _ => End::KillInStop(Duration::from_millis(random.below(STOP_MS_MAX))),
        }
    }

    fn of(self, broker: Broker) {
        match self {
            End::Kill => broker.kill(),
            End::Stop => {
                tools::signal(broker.pid(), Signal::TERM);
                let mut broker = broker;
                assert_eq!(broker.wait().code(), Some(0), "after SIGTERM:\n{}", broker.log());
            }
            End::KillInStop(after) => {
                tools::signal(broker.pid(), Signal::TERM);
                thread::sleep(after);
                // Which kills it.
                drop(broker);
            }
        }
    }
}

/// The feed is written and its views are asked for, until the broker ends after `time`.
fn under_load(broker: Broker, feeders: &mut [Feeder], reader: &mut Reader, time: Duration, end: End) {
    let address = broker.address.clone();
    thread::scope(|scope| {
        for feeder in feeders {
            scope.spawn(|| feeder.run(&address));
        }
        scope.spawn(|| reader.run(&address));
        thread::sleep(time);
        end.of(broker);
    });
}

/// A record as it is shown: partition, offset, and what it says.
type Shown = (i32, i64, model::Record);

fn shown(record: Record) -> Shown {
    let text = |bytes: bytes::Bytes| String::from_utf8(bytes.into()).unwrap();
    let Record { partition, offset, timestamp, key, value, .. } = record;
    (partition, offset, model::Record { key: key.map(text), value: value.map(text), timestamp })
}

//! What must hold after each restart, whatever the moment of the kill. After each one what is new is read, and a random
//! piece of what is old; at the end all of it.
//!
//! A further thing to audit gets a file beside these, with the same two functions.

mod history;
mod log;

use std::fmt;

use streamstack::cli::client::{Bounds, Client};
use streamstack::disk::SplitMix;

use self::history::History;
use self::log::Log;
use super::stamp::Placed;
use super::watcher::Shown;
use super::writer::Writer;

pub struct Audit {
    /// What readers saw until the last kill.
    pub shown: Shown,
    log: Log,
    history: History,
    random: SplitMix,
}

impl Audit {
    pub fn new(seed: u64) -> Audit {
        let (log, history) = (Log::default(), History::default());
        Audit { shown: Shown::default(), log, history, random: SplitMix::new(seed) }
    }

    pub fn after_restart(&mut self, client: &mut Client, writers: &[Writer]) {
        self.log.after_restart(client, &self.shown, writers, &mut self.random);
        self.history.after_restart(client, &mut self.shown, writers, &self.log, &mut self.random);
    }

    /// Everything once more from the start.
    pub fn at_the_end(&mut self, client: &mut Client) {
        history::wait_until_sealed(client);
        self.log.at_the_end(client);
        self.history.at_the_end(client, &mut self.shown, &self.log);
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records, {} commits", self.log.num_records(), self.shown.manifests.len())
    }
}

/// The records of a part of a partition, which stand there without a gap.
fn read(client: &mut Client, topic: &str, bounds: Bounds) -> Vec<Placed> {
    let records = client.read(topic, bounds).unwrap();
    let places: Vec<Placed> = records.iter().map(Placed::of).collect();
    for (place, offset) in places.iter().zip(bounds.start..) {
        assert_eq!((place.partition, place.offset), (bounds.partition, offset), "{topic}: offsets are dense");
    }
    assert_eq!(places.len() as i64, bounds.end - bounds.start, "{topic}: {bounds:?}");
    places
}

/// Parts of `bounds` that are read at once.
fn parts(bounds: Bounds) -> impl Iterator<Item = Bounds> {
    const PART: i64 = 10_000;
    let starts = (bounds.start..bounds.end).step_by(PART as usize);
    starts.map(move |start| Bounds { start, end: bounds.end.min(start + PART), ..bounds })
}

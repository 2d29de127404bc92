//! kill -9 at every write and sync of a seal that spans five partitions of three feeds and a group's positions: after each,
//! all of it is there or none, wherever one looks; and the commit that is asked for again commits once.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use streamstack::cli::client::{Client, Isolation};

use super::broker::{Broker, Start};
use super::checker::Place;
use super::producer::Producer;
use super::reading;
use super::tools::{self, Strace};
use super::transactional::Protocol;
use super::wire::{Address, Trouble, Wire};

const FEEDS: [(&str, i32); 3] = [("alpha", 2), ("beta", 2), ("gamma", 1)];
const GROUP: &str = "readers";
/// Longer than the test.
const TIMEOUT_MS: i32 = 600_000;
/// By what a seal reaches the disk; the last two are its answer.
const CALLS: [&str; 9] =
    ["pwritev", "pwrite64", "fdatasync", "fsync", "openat", "fallocate", "ftruncate", "sendto", "writev"];
/// A seal makes fewer calls of each kind on a thread.
const CALLS_MAX: usize = 40;
/// For the death of a process that is killed.
const END_MAX: Duration = Duration::from_secs(5);

#[test]
fn a_seal_killed_at_any_write_or_sync_is_there_as_a_whole_or_not_at_all() {
    killed_at_every_call("fsync", Protocol::Second);
}

#[test]
fn without_syncs_a_seal_killed_at_any_write_is_there_as_a_whole_or_not_at_all() {
    killed_at_every_call("os", Protocol::First);
}

fn killed_at_every_call(durability: &str, protocol: Protocol) {
    if !tools::strace() {
        return;
    }
    let mut sealing = Sealing::new(durability, protocol);
    let mut kills = Vec::new();
    for call in CALLS {
        let num = (1..=CALLS_MAX).take_while(|nth| sealing.is_killed_at(call, *nth)).count();
        assert!(num < CALLS_MAX, "{call} is called without end");
        kills.push((call, num));
    }
    println!("{durability}: {kills:?} kills, {:?}", sealing.outcomes);
    let num_of = |call: &str| kills.iter().find(|(other, _)| *other == call).map_or(0, |(_, num)| *num);
    assert!(num_of("pwritev") + num_of("pwrite64") > 0, "no write of a seal was met: {kills:?}");
    assert!(durability == "os" || num_of("fdatasync") > 0, "no sync of a seal was met: {kills:?}");
    let Outcomes { whole, nothing } = sealing.outcomes;
    assert!(whole > 0 && nothing > 0, "{whole} seals were there after the kill, and {nothing} were not");
}

/// What was there after the kills.
#[derive(Debug, Default)]
struct Outcomes {
    whole: usize,
    nothing: usize,
}

struct Sealing {
    folder: tempfile::TempDir,
    durability: String,
    address: Address,
    producer: Producer,
    /// Transactions before this one, all of them committed.
    number: i64,
    outcomes: Outcomes,
}

impl Sealing {
    fn new(durability: &str, protocol: Protocol) -> Sealing {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let durability = format!("streamstack.durability={durability}");
        let (address, producer) = (Address::default(), Producer::new("sealer", protocol, TIMEOUT_MS));
        let outcomes = Outcomes::default();
        let mut sealing = Sealing { folder, durability, address, producer, number: 0, outcomes };
        let broker = sealing.serving();
        let mut client = broker.connect();
        FEEDS.iter().for_each(|(topic, partitions)| client.create_topic(topic, *partitions, &[]).unwrap());
        sealing.producer.init(&mut Wire::new(sealing.address.clone()), false).unwrap();
        broker.kill();
        sealing
    }

    fn serving(&self) -> Broker {
        let broker = Start::at(self.folder.path()).with(&[&self.durability]).serving();
        self.address.set(&broker.address);
        broker
    }

    /// One transaction, in whose commit the broker is killed at the `nth` call on a thread. False when there are fewer.
    fn is_killed_at(&mut self, call: &str, nth: usize) -> bool {
        let mut broker = self.serving();
        let mut wire = Wire::new(self.address.clone());
        self.write(&mut wire);
        assert!(!self.is_there(&mut broker.connect()), "{call} {nth}: committed before it was asked for");
        let strace = Strace::attach(broker.pid(), &[&format!("{call}:signal=KILL:when={nth}")]);
        let told = self.producer.end(&mut wire, true);
        let killed = told == Err(Trouble::Gone) && ends(&mut broker);
        drop(strace);
        if !killed {
            assert_eq!(told, Ok(()), "{call} {nth}");
        }
        drop(broker);
        let broker = self.serving();
        let there = self.is_there(&mut broker.connect());
        assert!(there || told.is_err(), "{call} {nth}: told to be committed, and it is not there");
        match there {
            true => self.outcomes.whole += 1,
            false => self.outcomes.nothing += 1,
        }
        if told.is_err() {
            self.producer.end(&mut Wire::new(self.address.clone()), true).unwrap();
        }
        assert!(self.is_there(&mut broker.connect()), "{call} {nth}: committed again, and it is not there");
        self.number += 1;
        broker.kill();
        killed
    }

    /// A record to every partition, and positions on all of them.
    fn write(&mut self, wire: &mut Wire) {
        let value = self.number.to_string();
        for place in places() {
            self.producer.append(wire, place, std::slice::from_ref(&value)).unwrap();
        }
        let positions: Vec<(&str, i32, i64)> =
            places().map(|place| (place.topic, place.partition, self.number + 1)).collect();
        self.producer.stage(wire, GROUP, &positions).unwrap();
    }

    /// The transaction is there as a whole; or it is nowhere. Those before it are there.
    fn is_there(&self, client: &mut Client) -> bool {
        let mut found = BTreeSet::new();
        let mut look = |what: String, there: bool| found.insert((there, what));
        for place in places() {
            let Place { topic, partition } = place;
            look(format!("{place:?}"), self.ends_with_it(client, topic, partition, Isolation::ReadCommitted));
            look(
                format!("..feed of {place:?}"),
                self.ends_with_it(client, &format!("{topic}..feed"), partition, Isolation::ReadCommitted),
            );
            assert!(
                self.ends_with_it(client, topic, partition, Isolation::ReadUncommitted),
                "{place:?}: an acknowledged record is gone"
            );
        }
        for (topic, _) in FEEDS {
            look(format!("{topic}..commits"), self.has_commit(client, topic));
        }
        look("positions".to_owned(), self.has_moved(client));
        let there = found.iter().all(|(there, _)| *there);
        assert!(there || found.iter().all(|(there, _)| !there), "torn: {found:?}");
        there
    }

    /// A partition holds the transactions before this one, in order, and perhaps this one.
    fn ends_with_it(&self, client: &mut Client, topic: &str, partition: i32, isolation: Isolation) -> bool {
        let records = reading::partition(client, topic, partition, isolation);
        let texts = records.iter().map(|record| String::from_utf8_lossy(record.value.as_deref().unwrap()).into_owned());
        let numbers: Vec<i64> = texts.map(|text| text.parse().unwrap()).collect();
        let there = numbers.last() == Some(&self.number);
        assert!(numbers.into_iter().eq(0..self.number + i64::from(there)), "{topic}-{partition}: lost or doubled");
        there
    }

    /// The feed has a commit a transaction, numbered without a gap, and the newest names those of the other feeds.
    fn has_commit(&self, client: &mut Client, topic: &str) -> bool {
        let manifests = reading::partition(client, &format!("{topic}..commits"), 0, Isolation::ReadCommitted);
        let num = manifests.len() as i64;
        assert!(
            (self.number..=self.number + 1).contains(&num),
            "{topic}: {num} commits of {} transactions",
            self.number
        );
        for (record, number) in manifests.iter().zip(0..) {
            let manifest: Json = serde_json::from_slice(record.value.as_deref().unwrap()).unwrap();
            assert_eq!((record.offset, manifest["commit"].as_i64()), (number, Some(number)), "commits are dense");
            let sibling = |(other, _): &(&str, i32)| serde_json::json!({ "feed": other, "commit": number });
            let others: Vec<Json> = FEEDS.iter().filter(|(other, _)| *other != topic).map(sibling).collect();
            assert_eq!(manifest["siblings"].as_array(), Some(&others), "siblings of commit {number} of {topic}");
        }
        num > self.number
    }

    fn has_moved(&self, client: &mut Client) -> bool {
        let positions = client.group_positions(GROUP).unwrap();
        let offsets: Vec<i64> = positions.iter().map(|position| position.offset).collect();
        let there = offsets.first() == Some(&(self.number + 1));
        let expected = self.number + i64::from(there);
        assert!(offsets.iter().all(|offset| *offset == expected), "positions moved in part: {offsets:?}");
        assert!(expected == 0 || offsets.len() == places().count(), "positions are missing: {offsets:?}");
        there
    }
}

fn places() -> impl Iterator<Item = Place> {
    FEEDS.into_iter().flat_map(|(topic, num)| (0..num).map(move |partition| Place { topic, partition }))
}

fn ends(broker: &mut Broker) -> bool {
    let began = Instant::now();
    while began.elapsed() < END_MAX {
        if broker.has_ended() {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    false
}

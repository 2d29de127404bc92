//! What the views show after a restart, held against a naive model of the feed.

use std::collections::BTreeSet;
use std::fmt;

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::{Bounds, Client};
use streamstack::disk::SplitMix;
use streamstack::model::Manifest;
use streamstack::view::Mode;

use super::super::watcher;
use super::model::{Model, Range, Record, Sealed};
use super::reader::{BoundedName, Follower, MODES, Reader, answer};
use super::{NUM_PARTITIONS, Shown, TOPIC, shown};

/// Bounded names that are asked for again after each restart.
const NUM_BOUNDED: u64 = 10;

pub struct Audit {
    model: Model,
    /// Answers of bounded names that were held against the model.
    checked: BTreeSet<BoundedName>,
    random: SplitMix,
}

impl Audit {
    pub fn new(seed: u64) -> Audit {
        let (model, random) = (Model::new(NUM_PARTITIONS as usize), SplitMix::new(seed));
        Audit { model, checked: BTreeSet::new(), random }
    }

    /// Nobody writes meanwhile.
    pub fn after_restart(&mut self, client: &mut Client, reader: &Reader) {
        seal(client);
        self.read_new_commits(client);
        self.check_bounded(client, reader);
        self.wait_for_index(client);
        for mode in MODES {
            let name = format!("{TOPIC}..{mode}");
            let now: Vec<Shown> = client.read_to_end(&name).unwrap().into_iter().map(shown).collect();
            assert_same(&name, &now, &self.emitted(mode, 0, self.model.commits.len()));
        }
        reader.followers.iter().for_each(|follower| self.check_follower(follower));
    }

    fn read_new_commits(&mut self, client: &mut Client) {
        let known = self.model.commits.len() as i64;
        let manifests = watcher::new_manifests(client, known).unwrap();
        let manifests: Vec<Manifest> = manifests.iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
        let mut new: Vec<_> = (0..NUM_PARTITIONS).map(|partition| self.new_records(client, partition)).collect();
        for manifest in manifests {
            let mut records = vec![Vec::new(); NUM_PARTITIONS as usize];
            for part in &manifest.partitions {
                let partition = part.partition as usize;
                assert_eq!(part.feed_base, self.model.feed_end(partition), "commit {}", manifest.commit);
                records[partition].extend(new[partition].by_ref().take(part.count as usize));
                assert_eq!(records[partition].len() as i64, part.count, "commit {}", manifest.commit);
            }
            self.model.seal(records, manifest.sealed);
        }
        assert!(new.iter_mut().all(|rest| rest.next().is_none()), "the feed holds records of no commit");
    }

    /// Those of feed space that the model does not know.
    fn new_records(&self, client: &mut Client, partition: i32) -> impl Iterator<Item = Record> + use<> {
        let feed = format!("{TOPIC}..feed");
        let bounds = client.bounds(&feed).unwrap()[partition as usize];
        let start = self.model.feed_end(partition as usize);
        let records = client.read(&feed, Bounds { start, ..bounds }).unwrap();
        assert!(records.iter().map(|record| record.offset).eq(start..bounds.end), "{feed} is dense from {start} on");
        records.into_iter().map(|record| shown(record).2)
    }

    /// Some of the names that were answered before are answered so again, and each was answered right.
    fn check_bounded(&mut self, client: &mut Client, reader: &Reader) {
        for _ in 0..NUM_BOUNDED.min(reader.bounded.len() as u64) {
            let at = self.random.below(reader.bounded.len() as u64) as usize;
            let (name, before) = reader.bounded.iter().nth(at).expect("it is below their number");
            assert_same(&name.to_string(), &answer(client, *name).unwrap(), before);
        }
        for (name, before) in &reader.bounded {
            if self.checked.insert(*name) {
                self.check_is_of_model(*name, before);
            }
        }
    }

    /// What was shown before the kill, of commits that are all there.
    fn check_is_of_model(&self, name: BoundedName, before: &[Shown]) {
        assert!(name.last < self.model.commits.len(), "{name} was answered, but there are fewer commits");
        assert_same(&name.to_string(), before, &self.emitted(name.mode(), name.first, name.last + 1));
    }

    /// A bounded name is answered when its last commit is indexed.
    fn wait_for_index(&self, client: &mut Client) {
        let last = self.model.commits.len() - 1;
        client.bounds(&format!("{TOPIC}..upto-{last}..dedup")).unwrap();
    }

    /// Whoever followed got what is emitted up to where it stands.
    fn check_follower(&self, follower: &Follower) {
        let end = |partition: i32| follower.positions[partition as usize];
        let mut got = follower.shown.clone();
        got.sort_by_key(place);
        match follower.mode {
            // What it was shown may have been superseded since.
            Mode::Latest => {
                let all = self.emitted(Mode::Raw, 0, self.model.commits.len());
                for record in &got {
                    let at = all.partition_point(|known| place(known) < place(record));
                    assert_eq!(all.get(at), Some(record), "{} showed what is not there", follower.name());
                }
            }
            mode => {
                let mut expected = self.emitted(mode, 0, self.model.commits.len());
                expected.retain(|(partition, offset, _)| *offset < end(*partition));
                assert_same(&follower.name(), &got, &expected);
            }
        }
    }

    /// What a mode emits of commits `first..end`, partition by partition.
    fn emitted(&self, mode: Mode, first: usize, end: usize) -> Vec<Shown> {
        let range = Range { first, end, starts: vec![0; NUM_PARTITIONS as usize] };
        let emitted = self.model.emitted(mode, &range).into_iter();
        let mut all: Vec<Shown> = emitted
            .map(|Sealed { partition, offset, record, .. }| (*partition as i32, *offset, record.clone()))
            .collect();
        all.sort_by_key(place);
        all
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records, {} commits", self.model.records.len(), self.model.commits.len())
    }
}

/// A commit of what the last life left unsealed: nothing that is open comes to be one by itself.
fn seal(client: &mut Client) {
    client.produce(&format!("{TOPIC}..seal"), 0, BatchBuilder::new(0).record(NewRecord::default())).unwrap();
}

fn place((partition, offset, _): &Shown) -> (i32, i64) {
    (*partition, *offset)
}

fn assert_same(name: &str, now: &[Shown], expected: &[Shown]) {
    let differs = now.iter().zip(expected).position(|(now, expected)| now != expected);
    if let Some(at) = differs {
        panic!("{name} shows {:?} where it should show {:?} (record {at})", now[at], expected[at]);
    }
    assert_eq!(now.len(), expected.len(), "{name}: the records are the same, but for their number");
}

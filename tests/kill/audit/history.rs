//! The commits: numbered without a gap, each what it was when it was first seen, each acknowledged seal exactly one of
//! them; and feed space, which is the commits in a row.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use streamstack::cli::client::{Bounds, Client};
use streamstack::disk::SplitMix;

use super::super::stamp::Placed;
use super::super::watcher::{self, Shown};
use super::super::writer::Writer;
use super::super::{NUM_PARTITIONS, TOPIC};
use super::log::Log;
use super::parts;

/// Old commits whose records are read again after each restart.
const NUM_REREAD: u64 = 5;
/// Old manifests that are read again after each restart.
const NUM_MANIFESTS_REREAD: i64 = 100;

#[derive(Default)]
pub struct History {
    /// Commits whose manifests were audited.
    num_known: i64,
    /// What stands in them as labels.
    labels: BTreeSet<String>,
    /// Acknowledgements of seals that were looked up.
    num_checked: usize,
    /// By partition, how much of feed space was compared.
    feed: BTreeMap<i32, i64>,
}

impl History {
    pub fn after_restart(
        &mut self,
        client: &mut Client,
        shown: &mut Shown,
        writers: &[Writer],
        log: &Log,
        random: &mut SplitMix,
    ) {
        self.reread_manifests(client, shown, random);
        self.read_new_manifests(client, shown);
        let sealers = writers.iter().filter(|writer| writer.is_sealer());
        sealers.for_each(|sealer| self.check_seals(sealer));
        self.reread_contents(client, shown, random);
        self.read_new_feed(client, log);
    }

    /// All manifests, all commits by themselves, and feed space from its start: it is the commits in a row, and the log too,
    /// for implicit streams follow one another.
    pub fn at_the_end(&mut self, client: &mut Client, shown: &mut Shown, log: &Log) {
        self.read_new_manifests(client, shown);
        assert_same(&watcher::new_manifests(client, 0).unwrap(), &shown.manifests, 0);
        let mut ends: BTreeMap<i32, i64> = BTreeMap::new();
        for commit in 0..self.num_known {
            for place in reread(client, shown, commit) {
                let end = ends.entry(place.partition).or_default();
                log.check_is(place.partition, *end, place.stamp, commit);
                *end += 1;
            }
        }
        self.feed.clear();
        self.read_new_feed(client, log);
        for partition in 0..NUM_PARTITIONS {
            let (commits, feed) = (ends.get(&partition).copied(), self.feed.get(&partition).copied());
            assert_eq!((commits, feed), (Some(log.end(partition)), Some(log.end(partition))), "partition {partition}");
        }
    }

    /// Those since the last audit; what readers were shown of them is the same.
    fn read_new_manifests(&mut self, client: &mut Client, shown: &mut Shown) {
        let new = watcher::new_manifests(client, self.num_known).unwrap();
        let seen = &shown.manifests[self.num_known as usize..];
        assert!(new.len() >= seen.len(), "{} new commits, but {} were shown", new.len(), seen.len());
        assert_same(&new[..seen.len()], seen, self.num_known);
        for label in new.iter().filter_map(label) {
            assert!(self.labels.insert(label.clone()), "the label {label} stands on two commits");
        }
        shown.manifests.extend_from_slice(&new[seen.len()..]);
        self.num_known = shown.manifests.len() as i64;
    }

    /// A piece of what was read before, from a random place on.
    fn reread_manifests(&self, client: &mut Client, shown: &Shown, random: &mut SplitMix) {
        if self.num_known > 0 {
            let start = random.below(self.num_known as u64) as i64;
            let end = self.num_known.min(start + NUM_MANIFESTS_REREAD);
            let now = watcher::manifests(client, start, end).unwrap();
            assert_same(&now, &shown.manifests[start as usize..end as usize], start);
        }
    }

    /// Every acknowledged seal is a commit.
    fn check_seals(&mut self, sealer: &Writer) {
        for ack in &sealer.acks[self.num_checked..] {
            let label = sealer.stamp(ack.first).text();
            assert!(self.labels.contains(&label), "the seal {label} was acknowledged");
        }
        self.num_checked = sealer.acks.len();
    }

    /// Some old commits, and the newest that was read before.
    fn reread_contents(&self, client: &mut Client, shown: &mut Shown, random: &mut SplitMix) {
        for _ in 0..NUM_REREAD.min(self.num_known as u64) {
            reread(client, shown, random.below(self.num_known as u64) as i64);
        }
        let newest_read = shown.contents.keys().next_back().copied();
        newest_read.into_iter().for_each(|commit| drop(reread(client, shown, commit)));
    }

    /// Feed space since the last audit.
    fn read_new_feed(&mut self, client: &mut Client, log: &Log) {
        let topic = format!("{TOPIC}..feed");
        for bounds in client.bounds(&topic).unwrap() {
            let known = self.feed.entry(bounds.partition).or_default();
            assert!(bounds.end >= *known, "feed space has shrunk: {bounds:?}, but {known} was its end");
            let new = Bounds { start: *known, ..bounds };
            parts(new).for_each(|part| log.check_same(client, &topic, part));
            *known = bounds.end;
        }
    }
}

/// A commit's records, which are the same as when they were read before.
fn reread(client: &mut Client, shown: &mut Shown, commit: i64) -> Vec<Placed> {
    let now = watcher::contents(client, commit).unwrap();
    let before = shown.contents.entry(commit).or_insert_with(|| now.clone());
    assert_eq!(now, *before, "commit {commit} reads otherwise than before");
    now
}

fn assert_same(now: &[Bytes], before: &[Bytes], first: i64) {
    assert_eq!(now.len(), before.len(), "manifests from commit {first} on");
    for (commit, (now, before)) in (first..).zip(now.iter().zip(before)) {
        assert_eq!(now, before, "the manifest of commit {commit}");
    }
}

/// The last stream is sealed by time.
pub fn wait_until_sealed(client: &mut Client) {
    let end = |client: &mut Client, topic: &str| -> i64 { client.bounds(topic).unwrap().iter().map(|b| b.end).sum() };
    for _ in 0..500 {
        if end(client, &format!("{TOPIC}..feed")) == end(client, TOPIC) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the open stream is not sealed by time");
}

fn label(manifest: &Bytes) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
    manifest["label"].as_str().map(str::to_owned)
}

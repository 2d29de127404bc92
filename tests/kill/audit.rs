//! What must hold after each restart, whatever the moment of the kill.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use streamstack::cli::client::{Bounds, Client, Record};
use streamstack::disk::SplitMix;

use super::watcher::{Shown, contents, new_manifests};
use super::writer::Writer;
use super::{NUM_PARTITIONS, TOPIC};

/// Commits that are read again after each restart, besides all at the end.
const NUM_REREAD: u64 = 5;

#[derive(Default)]
pub struct Audit {
    pub shown: Shown,
    /// Every record of each partition, by offset.
    log: BTreeMap<i32, Vec<String>>,
    /// All of them, to find a second one.
    seen: BTreeSet<String>,
    /// By writer, how many of its acknowledgements were looked up.
    num_checked: HashMap<String, usize>,
}

impl Audit {
    pub fn after_restart(&mut self, client: &mut Client, writers: &[Writer], round: u64) {
        self.read_log(client, writers);
        for writer in writers.iter().filter(|writer| !writer.is_sealer()) {
            self.check_acks(writer);
        }
        self.check_commits(client, round);
        for sealer in writers.iter().filter(|writer| writer.is_sealer()) {
            self.check_seals(sealer);
        }
    }

    /// The part of the log that is new: at least what was shown, without a gap, and nothing twice.
    fn read_log(&mut self, client: &mut Client, writers: &[Writer]) {
        for bounds in client.bounds(TOPIC).unwrap() {
            let shown = self.shown.ends.get(&bounds.partition).copied().unwrap_or(0);
            assert!(bounds.end >= shown, "{bounds:?}, but {shown} was shown as the end");
            let log = self.log.entry(bounds.partition).or_default();
            let new = client.read(TOPIC, Bounds { start: log.len() as i64, ..bounds }).unwrap();
            for record in new {
                assert_eq!(record.offset, log.len() as i64, "offsets are dense");
                let text = text(&record);
                assert!(self.seen.insert(text.clone()), "{text} comes twice");
                log.push(text);
            }
            assert_eq!(log.len() as i64, bounds.end);
        }
        for writer in writers.iter().filter(|writer| writer.is_idempotent() && !writer.is_sealer()) {
            self.check_sequence(writer);
        }
    }

    /// What an idempotent producer sent stands there in its order, without a gap.
    fn check_sequence(&self, writer: &Writer) {
        let prefix = format!("{} ", writer.name);
        let texts = self.log.values().flatten().filter(|text| text.starts_with(&prefix));
        for (text, number) in texts.zip(0..) {
            assert_eq!(*text, writer.text(number), "the order of {}", writer.name);
        }
    }

    fn check_acks(&mut self, writer: &Writer) {
        let num_checked = self.num_checked.entry(writer.name.clone()).or_default();
        for ack in &writer.acks[*num_checked..] {
            let log = &self.log[&ack.partition];
            for index in 0..ack.count {
                let found = log.get((ack.offset + index) as usize).map(String::as_str);
                let expected = writer.text(ack.first + index);
                assert_eq!(found, Some(expected.as_str()), "acknowledged at offset {}", ack.offset + index);
            }
        }
        *num_checked = writer.acks.len();
    }

    /// Manifests that were shown are the same; commits are dense; those read before read the same.
    fn check_commits(&mut self, client: &mut Client, round: u64) {
        let manifests = new_manifests(client, 0).unwrap();
        let known = &self.shown.manifests;
        assert!(manifests.len() >= known.len(), "{} commits, but {} were shown", manifests.len(), known.len());
        for (commit, (now, before)) in manifests.iter().zip(known).enumerate() {
            assert_eq!(now, before, "the manifest of commit {commit}");
        }
        self.shown.manifests = manifests;
        let mut random = SplitMix::new(round);
        let num_commits = self.shown.manifests.len() as u64;
        for _ in 0..NUM_REREAD.min(num_commits) {
            self.reread(client, random.below(num_commits) as i64);
        }
        let newest_read = self.shown.contents.keys().next_back().copied();
        newest_read.into_iter().for_each(|commit| self.reread(client, commit));
    }

    fn reread(&mut self, client: &mut Client, commit: i64) {
        let now = contents(client, commit).unwrap();
        let before = self.shown.contents.entry(commit).or_insert_with(|| now.clone());
        assert_eq!(now, *before, "commit {commit} reads otherwise than before");
    }

    /// Every acknowledged seal is exactly one commit, and none has a label twice.
    fn check_seals(&self, sealer: &Writer) {
        let labels: Vec<String> = self.shown.manifests.iter().filter_map(label).collect();
        let distinct: BTreeSet<&String> = labels.iter().collect();
        assert_eq!(distinct.len(), labels.len(), "a label stands on two commits");
        for ack in &sealer.acks {
            assert!(distinct.contains(&sealer.text(ack.first)), "{} was acknowledged", sealer.text(ack.first));
        }
    }

    /// Everything once more from the start: the log, all commits, and the feed, which is the commits in a row.
    pub fn at_the_end(&mut self, client: &mut Client) {
        wait_until_sealed(client);
        self.shown.manifests = new_manifests(client, 0).unwrap();
        (0..self.shown.manifests.len() as i64).for_each(|commit| self.reread(client, commit));
        for partition in 0..NUM_PARTITIONS {
            let log: Vec<String> = read_all(client, TOPIC, partition);
            assert_same(&log, &self.log[&partition], "the log, and what it was");
            let commits = self.shown.contents.values().flatten().filter(|record| record.partition == partition);
            let commits: Vec<String> = commits.map(text).collect();
            let feed = read_all(client, &format!("{TOPIC}..feed"), partition);
            assert_same(&feed, &commits, "the feed, and its commits in a row");
            assert_same(&commits, &log, "implicit streams follow one another: the commits, and the log");
        }
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records, {} commits", self.seen.len(), self.shown.manifests.len())
    }
}

/// Equal, or else tells the first difference: the whole would be megabytes.
fn assert_same(found: &[String], expected: &[String], what: &str) {
    let first = (0..found.len().max(expected.len())).find(|&at| found.get(at) != expected.get(at));
    let shown = first.map(|at| (at, found.get(at), expected.get(at)));
    assert!(first.is_none(), "{what}: {} and {} records, different at {shown:?}", found.len(), expected.len());
}

/// The last stream is sealed by time.
fn wait_until_sealed(client: &mut Client) {
    let end = |client: &mut Client, topic: &str| -> i64 { client.bounds(topic).unwrap().iter().map(|b| b.end).sum() };
    for _ in 0..500 {
        if end(client, &format!("{TOPIC}..feed")) == end(client, TOPIC) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the open stream is not sealed by time");
}

/// A partition's records, which stand at 0, 1, 2 and so on.
fn read_all(client: &mut Client, topic: &str, partition: i32) -> Vec<String> {
    let bounds = client.bounds(topic).unwrap()[partition as usize];
    let records = client.read(topic, bounds).unwrap();
    let gap = records.iter().zip(0..).find(|(record, offset)| record.offset != *offset);
    assert!(gap.is_none(), "{topic}, {bounds:?}: {} in place of {}", gap.unwrap().0.offset, gap.unwrap().1);
    records.iter().map(text).collect()
}

fn text(record: &Record) -> String {
    String::from_utf8(record.value.as_deref().unwrap().to_vec()).unwrap()
}

fn label(manifest: &Bytes) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
    manifest["label"].as_str().map(str::to_owned)
}

//! The log of each partition: nothing acknowledged or shown is lost, nothing comes twice, and each writer's records stand
//! in the order in which it sent them.

use std::collections::BTreeMap;

use streamstack::cli::client::{Bounds, Client};
use streamstack::disk::SplitMix;

use super::super::stamp::Stamp;
use super::super::watcher::Shown;
use super::super::writer::Writer;
use super::super::{NUM_PARTITIONS, TOPIC};
use super::{parts, read};

/// Old records that are read again in each partition after each restart.
const NUM_REREAD: i64 = 200;

#[derive(Default)]
pub struct Log {
    /// Every record of each partition, by offset.
    partitions: BTreeMap<i32, Vec<Stamp>>,
    /// By writer, the last of its records that was found.
    last: BTreeMap<&'static str, i64>,
    /// By writer, how many of its acknowledgements were looked up.
    num_checked: BTreeMap<&'static str, usize>,
}

impl Log {
    pub fn after_restart(&mut self, client: &mut Client, shown: &Shown, writers: &[Writer], random: &mut SplitMix) {
        for bounds in client.bounds(TOPIC).unwrap() {
            let shown = shown.ends.get(&bounds.partition).copied().unwrap_or(0);
            assert!(bounds.end >= shown, "{bounds:?}, but {shown} was shown as the end");
            self.reread(client, bounds.partition, random);
            self.read_new(client, bounds, writers);
        }
        writers.iter().filter(|writer| !writer.is_sealer()).for_each(|writer| self.check_acks(writer));
    }

    /// All of it is what it was when it was read first.
    pub fn at_the_end(&self, client: &mut Client) {
        let bounds = client.bounds(TOPIC).unwrap();
        assert_eq!(bounds.len() as i32, NUM_PARTITIONS);
        for bounds in bounds {
            assert_eq!((bounds.start, bounds.end), (0, self.partitions[&bounds.partition].len() as i64));
            parts(bounds).for_each(|part| self.check_same(client, TOPIC, part));
        }
    }

    /// What a topic shows at some offsets is what the log holds there.
    pub fn check_same(&self, client: &mut Client, topic: &str, bounds: Bounds) {
        for place in read(client, topic, bounds) {
            let known = self.partitions[&place.partition].get(place.offset as usize);
            assert_eq!(Some(&place.stamp), known, "{topic}, {place:?}: not what the log held");
        }
    }

    /// A commit's record is the log's next one.
    pub fn check_is(&self, partition: i32, offset: i64, stamp: Stamp, commit: i64) {
        let known = self.partitions[&partition].get(offset as usize);
        assert_eq!(
            Some(&stamp),
            known,
            "partition {partition}, offset {offset}, commit {commit}: not what the log holds"
        );
    }

    /// One past the last record known.
    pub fn end(&self, partition: i32) -> i64 {
        self.partitions.get(&partition).map_or(0, |log| log.len() as i64)
    }

    pub fn num_records(&self) -> usize {
        self.partitions.values().map(Vec::len).sum()
    }

    /// A piece of what was read before, from a random place on.
    fn reread(&self, client: &mut Client, partition: i32, random: &mut SplitMix) {
        let end = self.end(partition);
        if end > 0 {
            let start = random.below(end as u64) as i64;
            self.check_same(client, TOPIC, Bounds { partition, start, end: end.min(start + NUM_REREAD) });
        }
    }

    fn read_new(&mut self, client: &mut Client, bounds: Bounds, writers: &[Writer]) {
        let start = self.end(bounds.partition);
        for place in parts(Bounds { start, ..bounds }).flat_map(|part| read(client, TOPIC, part)) {
            let stamp = place.stamp;
            let writer = writers.iter().find(|writer| writer.name == stamp.writer).unwrap();
            assert_eq!(writer.partition, place.partition, "{place:?} stands in a partition that it was not sent to");
            let last = self.last.insert(stamp.writer, stamp.number).unwrap_or(-1);
            // A plain producer sends nothing again, so what got no answer may be missing.
            let follows = if writer.is_idempotent() { stamp.number == last + 1 } else { stamp.number > last };
            assert!(follows, "{place:?} comes after {last}: doubled, reordered or lost");
            self.partitions.entry(place.partition).or_default().push(stamp);
        }
        assert_eq!(self.end(bounds.partition), bounds.end);
    }

    fn check_acks(&mut self, writer: &Writer) {
        let num_checked = self.num_checked.entry(writer.name).or_default();
        for ack in &writer.acks[*num_checked..] {
            let log = &self.partitions[&writer.partition];
            for index in 0..ack.count {
                let found = log.get((ack.offset + index) as usize);
                let expected = writer.stamp(ack.first + index);
                assert_eq!(found, Some(&expected), "acknowledged at offset {}", ack.offset + index);
            }
        }
        *num_checked = writer.acks.len();
    }
}

//! A made-up history: commits of random records in several partitions, in batches as producers send them.

use bytes::Bytes;

use super::super::source::{Mark, Source};
use crate::batch::{BatchBuilder, Compression, Header, NewRecord, batch_lengths, record_span};
use crate::disk::SplitMix;
use crate::model::{CommitNumber, FeedOffset, Offset, RunRow};
use crate::store::{FileError, ReadError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRecord {
    pub commit: i64,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

/// See the module.
#[derive(Clone, Default)]
pub struct History {
    partitions: Vec<Partition>,
    num_commits: i64,
    first_commit: i64,
    whole: i64,
    losses: u64,
    /// Told apart from another history with the same numbers.
    pub name: i64,
    pub is_gone: bool,
}

#[derive(Clone, Default)]
struct Partition {
    /// In feed order.
    records: Vec<TestRecord>,
    runs: Vec<RunRow>,
    /// Batches with their log offsets.
    log: Vec<(i64, Bytes)>,
    log_end: i64,
    feed_start: i64,
}

/// What random records look like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub keys: u64,
    pub values: u64,
    pub records_max: u64,
}

impl History {
    pub fn new(num_partitions: usize) -> History {
        History { partitions: vec![Partition::default(); num_partitions], ..History::default() }
    }

    pub fn num_partitions(&self) -> u32 {
        self.partitions.len() as u32
    }

    pub fn num_commits(&self) -> i64 {
        self.num_commits
    }

    pub fn first_commit(&self) -> i64 {
        self.first_commit
    }

    pub fn add_partition(&mut self) {
        self.partitions.push(Partition::default());
    }

    /// The records of a partition, those dropped included.
    pub fn records(&self, partition: u32) -> &[TestRecord] {
        &self.partitions[partition as usize].records
    }

    /// Where the partition begins and ends.
    pub fn kept(&self, partition: u32) -> (i64, i64) {
        let partition = &self.partitions[partition as usize];
        (partition.feed_start, partition.records.len() as i64)
    }

    /// Where the commits below `commit` end in a partition.
    pub fn end_of(&self, partition: u32, commit: i64) -> i64 {
        self.records(partition).partition_point(|record| record.commit < commit) as i64
    }

    /// One more commit: runs of batches in some partitions, or nothing at all.
    pub fn commit(&mut self, random: &mut SplitMix, shape: Shape) {
        for partition in 0..self.partitions.len() {
            if random.chance(2, 3) {
                for _ in 0..1 + random.below(3) {
                    let records: Vec<TestRecord> =
                        (0..1 + random.below(shape.records_max)).map(|_| record(random, shape)).collect();
                    self.add_run(partition, records, random);
                }
            }
        }
        self.num_commits += 1;
    }

    /// One more commit, of these records in partition 0.
    pub fn commit_of(&mut self, records: Vec<TestRecord>) {
        self.add_run(0, records, &mut SplitMix::new(1));
        self.num_commits += 1;
    }

    fn add_run(&mut self, partition: usize, mut records: Vec<TestRecord>, random: &mut SplitMix) {
        let commit = self.num_commits;
        records.iter_mut().for_each(|record| record.commit = commit);
        let partition = &mut self.partitions[partition];
        let (feed_base, log_base) = (FeedOffset(partition.records.len() as i64), Offset(partition.log_end));
        let count = records.len() as i64;
        partition.runs.push(RunRow { commit: CommitNumber(commit), feed_base, log_base, count });
        let mut rest = &records[..];
        while !rest.is_empty() {
            let (batch, more) = rest.split_at(1 + random.below(rest.len() as u64) as usize);
            partition.log.push((partition.log_end, encode(partition.log_end, batch, random.below(5))));
            partition.log_end += batch.len() as i64;
            rest = more;
        }
        // A marker.
        partition.log_end += 1;
        partition.records.extend(records);
    }

    /// Commits below `first` go.
    pub fn drop_commits(&mut self, first: i64) {
        self.first_commit = first;
        for partition in 0..self.num_partitions() {
            let start = self.end_of(partition, first);
            self.drop_records(partition, start);
        }
    }

    /// Records of one of several partitions go: others of their commits are left.
    pub fn lose_records(&mut self, partition: u32, start: i64) {
        self.losses += 1;
        self.whole = self.records(partition)[start as usize - 1].commit + 1;
        self.drop_records(partition, start);
    }

    /// Records of a partition below `start` go.
    pub fn drop_records(&mut self, partition: u32, start: i64) {
        let partition = &mut self.partitions[partition as usize];
        partition.feed_start = partition.feed_start.max(start);
        let first = partition.runs.iter().position(|run| run.end().0 > partition.feed_start);
        let run = first.map(|first| partition.runs[first]);
        let log_start = run.map_or(partition.log_end, |run| run.log_base.0 + (start - run.feed_base.0).max(0));
        partition.log.retain(|(base, batch)| base + record_span(batch) > log_start);
        let first = first.unwrap_or(partition.runs.len());
        partition.runs.drain(..first);
    }
}

fn record(random: &mut SplitMix, shape: Shape) -> TestRecord {
    let mut text = |num: u64, kind: &str| match random.below(12) {
        0 => None,
        1 => Some(Vec::new()),
        _ => Some(format!("{kind}{}", random.below(num)).into_bytes()),
    };
    let (key, value) = (text(shape.keys, "k"), text(shape.values, "v"));
    let headers = (0..random.below(3)).map(|_| {
        let name = ["id", "other"][random.below(2) as usize].to_owned();
        (name, random.chance(9, 10).then(|| format!("h{}", random.below(shape.keys)).into_bytes()))
    });
    TestRecord { commit: 0, key, value, headers: headers.collect() }
}

fn encode(base: i64, records: &[TestRecord], codec: u64) -> Bytes {
    let codecs = [Compression::None, Compression::Zstd, Compression::Gzip, Compression::Lz4, Compression::Snappy];
    let mut builder = BatchBuilder::new(base).compression(codecs[codec as usize]);
    for record in records {
        let headers: Vec<Header<'_>> =
            record.headers.iter().map(|(key, value)| Header { key: key.as_bytes(), value: value.as_deref() }).collect();
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        builder.push(NewRecord { timestamp: 1, key, value, headers: &headers });
    }
    builder.build()
}

impl Source for History {
    fn start(&self) -> CommitNumber {
        CommitNumber(self.first_commit)
    }

    fn whole(&self) -> CommitNumber {
        CommitNumber(self.whole.max(self.first_commit))
    }

    fn losses(&self) -> u64 {
        self.losses
    }

    fn commits(&self) -> CommitNumber {
        CommitNumber(self.num_commits)
    }

    fn partitions(&self) -> u32 {
        self.num_partitions()
    }

    fn space(&self, partition: u32) -> (i64, i64) {
        if partition < self.num_partitions() { self.kept(partition) } else { (0, 0) }
    }

    fn runs(&self, partition: u32, from: i64, end: i64, num_max: usize) -> Result<Vec<RunRow>, ReadError> {
        let runs = self.partitions[partition as usize].runs.iter();
        let covering = runs.filter(|run| run.end().0 > from && run.feed_base.0 < end);
        Ok(covering.take(num_max.min(3)).copied().collect())
    }

    fn read(&self, partition: u32, from: Offset, end: Offset, _bytes_max: usize) -> Result<Bytes, ReadError> {
        let log = &self.partitions[partition as usize].log;
        if log.first().is_none_or(|(base, _)| *base > from.0) {
            return Err(ReadError::BelowStart {
                from,
                start: Offset(log.first().map_or(from.0 + 1, |(base, _)| *base)),
            });
        }
        let wanted = log.iter().filter(|(base, batch)| base + record_span(batch) > from.0 && *base < end.0);
        let bytes = wanted.take(2).flat_map(|(_, batch)| batch.to_vec()).collect::<Vec<u8>>();
        assert!(batch_lengths(&bytes).count() > 0);
        Ok(bytes.into())
    }

    fn mark(&self, commit: CommitNumber) -> Result<Option<Mark>, FileError> {
        let mark = Mark { position: commit.0 as u64 * 100, stream: commit.0, sealed: self.name };
        Ok((commit.0 < self.num_commits).then_some(mark))
    }

    fn is_gone(&self) -> bool {
        self.is_gone
    }
}

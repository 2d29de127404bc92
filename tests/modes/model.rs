//! What a feed holds and what its views show, by what SEMANTICS says and in the simplest way.

use std::collections::{HashMap, HashSet};

use streamstack::view::Mode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub key: Option<String>,
    pub value: Option<String>,
    pub timestamp: i64,
}

/// A record with its place in feed space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub commit: usize,
    pub partition: usize,
    pub offset: i64,
    pub record: Record,
}

/// The sealed records of a feed in feed order, those deleted included.
#[derive(Default)]
pub struct Model {
    pub num_partitions: usize,
    pub records: Vec<Sealed>,
    /// Seal times.
    pub commits: Vec<i64>,
    ends: Vec<i64>,
}

/// Commits `first..end` of which a partition holds what begins at its start.
#[derive(Clone, Debug)]
pub struct Range {
    pub first: usize,
    pub end: usize,
    pub starts: Vec<i64>,
}

impl Model {
    pub fn new(num_partitions: usize) -> Model {
        Model { num_partitions, ends: vec![0; num_partitions], ..Model::default() }
    }

    /// Seals the records of a stream, by partition in the order in which they were appended.
    pub fn seal(&mut self, records: Vec<Vec<Record>>, sealed: i64) {
        let commit = self.commits.len();
        self.commits.push(sealed);
        for (partition, records) in records.into_iter().enumerate() {
            for record in records {
                self.records.push(Sealed { commit, partition, offset: self.ends[partition], record });
                self.ends[partition] += 1;
            }
        }
    }

    pub fn feed_end(&self, partition: usize) -> i64 {
        self.ends[partition]
    }

    fn within(&self, range: &Range) -> Vec<&Sealed> {
        let is_in = |sealed: &&Sealed| {
            (range.first..range.end).contains(&sealed.commit) && sealed.offset >= range.starts[sealed.partition]
        };
        self.records.iter().filter(is_in).collect()
    }

    /// The records of the range that the mode emits, in feed order.
    pub fn emitted(&self, mode: Mode, range: &Range) -> Vec<&Sealed> {
        let mut records = self.within(range);
        match mode {
            Mode::Raw => {}
            Mode::Dedup => {
                let mut seen = HashSet::new();
                records.retain(|&Sealed { record, .. }| seen.insert((&record.key, &record.value)));
            }
            Mode::Changed => {
                let mut values = HashMap::new();
                records.retain(|&Sealed { record: Record { key, value, .. }, .. }| {
                    key.as_ref().is_none_or(|key| values.insert(key, value).is_none_or(|before| before != value))
                });
            }
            Mode::Latest | Mode::Live => {
                let mut seen = HashSet::new();
                records.reverse();
                records.retain(|&Sealed { record, .. }| record.key.as_ref().is_none_or(|key| seen.insert(key)));
                records.reverse();
                records.retain(|sealed| mode == Mode::Latest || !is_tombstone(&sealed.record));
            }
        }
        records
    }

    /// The state of a table: keys with the value of their last record.
    pub fn state(&self) -> HashMap<String, Option<String>> {
        state_of(self.records.iter().map(|sealed| &sealed.record))
    }
}

pub fn is_tombstone(record: &Record) -> bool {
    record.key.is_some() && record.value.is_none()
}

pub fn state_of<'a>(records: impl Iterator<Item = &'a Record>) -> HashMap<String, Option<String>> {
    records.filter_map(|record| Some((record.key.clone()?, record.value.clone()))).collect()
}

//! Records that are indexed together: some thousands, so that lookups on disk go in order.

use super::hasher::Hashes;

/// How far the history was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The commit that is being read.
    pub commit: i64,
    /// Partitions below have all their records of it.
    pub partition: u32,
    /// One past the last record read of each partition.
    pub ends: Vec<i64>,
}

/// A record to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub hashes: Hashes,
    pub offset: i64,
    pub partition: u32,
}

/// The records before `at` were the last ones that were read of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub at: usize,
    /// None: the commit was dropped from the history while it was read.
    pub commit: Option<i64>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Lot {
    pub records: Vec<Record>,
    pub cuts: Vec<Cut>,
    /// How far it goes.
    pub after: Position,
    /// Where the last commit ends that it holds the end of, or that was dropped: the next commit's number, and the ends of the partitions.
    pub whole: Option<(i64, Vec<i64>)>,
    pub records_max: usize,
}

impl Lot {
    /// An empty one that begins at `after`.
    pub fn new(after: Position, records_max: usize) -> Lot {
        Lot { records: Vec::with_capacity(records_max), cuts: Vec::new(), after, whole: None, records_max }
    }

    pub fn is_full(&self) -> bool {
        self.records.len() >= self.records_max
    }

    /// It holds neither a record nor the end of a commit.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.cuts.is_empty()
    }

    /// One past the last record of the partition.
    pub fn end(&self, partition: u32) -> i64 {
        self.after.ends[partition as usize]
    }

    /// The record at an offset; those below the end are there already.
    #[inline]
    pub fn push(&mut self, partition: u32, offset: i64, hashes: Hashes) {
        let end = self.end(partition);
        if offset >= end {
            self.fill(partition, offset);
            self.records.push(Record { hashes, offset, partition });
            self.after.ends[partition as usize] = offset + 1;
        }
    }

    /// Offsets below that are in no batch have a row as well, without a link.
    pub fn fill(&mut self, partition: u32, end: i64) {
        for offset in self.end(partition)..end {
            self.records.push(Record { hashes: Hashes::default(), offset, partition });
            self.after.ends[partition as usize] = offset + 1;
        }
    }

    /// Offsets below are not there any more.
    pub fn skip(&mut self, partition: u32, start: i64) {
        let end = &mut self.after.ends[partition as usize];
        *end = start.max(*end);
    }

    /// The commit is read to its end.
    pub fn end_commit(&mut self) {
        let commit = Some(self.after.commit);
        self.cuts.push(Cut { at: self.records.len(), commit });
        self.after.commit += 1;
        self.after.partition = 0;
        self.end_commits();
    }

    /// Commits below the one that comes next are read to their ends, or dropped.
    pub fn end_commits(&mut self) {
        self.whole = Some((self.after.commit, self.after.ends.clone()));
    }

    /// Commits below `start` are dropped, the one that is being read among them.
    pub fn drop_commit(&mut self, start: i64) {
        self.cuts.push(Cut { at: self.records.len(), commit: None });
        self.after.commit = start;
        self.after.partition = 0;
    }
}

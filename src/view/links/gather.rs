//! Reading the history: commit by commit, in a commit partition by partition, in a partition run by run.

use std::collections::{HashMap, VecDeque};

use super::error::LinksError;
use super::hasher::Hasher;
use super::lot::{Lot, Position};
use super::row::{OFFSETS_MAX, PARTITIONS_MAX};
use super::source::Source;
use crate::model::RunRow;

mod reading;

use reading::Reading;

/// Runs looked up at once.
const RUNS_AHEAD: usize = 64;

/// What was read ahead; see the module.
#[derive(Default)]
pub struct Gatherer {
    runs: HashMap<u32, VecDeque<RunRow>>,
    reading: Option<Reading>,
}

impl Gatherer {
    /// The records from `at` on, as many as fit into a lot, or as there are.
    pub fn gather(
        &mut self,
        source: &dyn Source,
        hasher: &Hasher,
        at: &Position,
        records_max: usize,
    ) -> Result<Lot, LinksError> {
        let mut lot = Lot::new(at.clone(), records_max);
        check_partitions(source, &mut lot)?;
        if let Err(error) = self.fill(source, hasher, &mut lot) {
            self.forget();
            // What was read until then is good; the next lot begins where it went wrong.
            if lot.is_empty() {
                return Err(error);
            }
        }
        Ok(lot)
    }

    /// What was read ahead does not follow on what was indexed.
    pub fn forget(&mut self) {
        self.runs.clear();
        self.reading = None;
    }

    fn fill(&mut self, source: &dyn Source, hasher: &Hasher, lot: &mut Lot) -> Result<(), LinksError> {
        while !lot.is_full() {
            let start = source.start().0;
            if lot.after.commit < start {
                self.forget();
                lot.drop_commit(start);
                skip_dropped(source, lot);
                // No later commit may come that tells how far it is: it is said now.
                lot.end_commits();
            }
            if lot.after.commit >= source.commits().0 {
                return Ok(());
            }
            check_partitions(source, lot)?;
            if self.fill_commit(source, hasher, lot)? {
                skip_dropped(source, lot);
                lot.end_commit();
            }
        }
        Ok(())
    }

    /// Reads the commit on; true when it is read to its end.
    fn fill_commit(&mut self, source: &dyn Source, hasher: &Hasher, lot: &mut Lot) -> Result<bool, LinksError> {
        while (lot.after.partition as usize) < lot.after.ends.len() {
            match self.fill_partition(source, hasher, lot) {
                Ok(true) => lot.after.partition += 1,
                Ok(false) => return Ok(false),
                Err(_) if source.start().0 > lot.after.commit => return Ok(false),
                // Dropped while it was read: it begins later now.
                Err(_) if source.space(lot.after.partition).0 > lot.end(lot.after.partition) => self.forget(),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads the commit's records in a partition on; true when all are there, false when the lot is full.
    fn fill_partition(&mut self, source: &dyn Source, hasher: &Hasher, lot: &mut Lot) -> Result<bool, LinksError> {
        loop {
            if let Some(reading) = &mut self.reading {
                if !reading.read_on(source, hasher, lot)? {
                    return Ok(false);
                }
                self.reading = None;
            }
            match self.next_run(source, lot)? {
                Some(run) => self.reading = Some(Reading::new(lot.after.partition, run)),
                None => return Ok(true),
            }
        }
    }

    /// The next run of the commit in the partition.
    fn next_run(&mut self, source: &dyn Source, lot: &mut Lot) -> Result<Option<RunRow>, LinksError> {
        let (partition, commit) = (lot.after.partition, lot.after.commit);
        let (start, end) = source.space(partition);
        let mut from = lot.end(partition).max(start);
        if from >= end {
            return Ok(None);
        }
        check_offsets(partition, end)?;
        let ahead = self.runs.entry(partition).or_default();
        loop {
            while let Some(run) = ahead.front() {
                if run.end().0 > from && run.commit.0 >= commit {
                    break;
                }
                from = from.max(run.end().0);
                ahead.pop_front();
            }
            if let Some(run) = ahead.front() {
                if run.commit.0 > commit {
                    return Ok(None);
                }
                // What lies before it is dropped.
                lot.skip(partition, from.max(run.feed_base.0));
                return Ok(ahead.pop_front());
            }
            let runs = source.runs(partition, from, end, RUNS_AHEAD)?;
            if runs.is_empty() {
                return Ok(None);
            }
            ahead.extend(runs);
        }
    }
}

/// What was dropped, of whatever partition, counts as read.
fn skip_dropped(source: &dyn Source, lot: &mut Lot) {
    (0..lot.after.ends.len() as u32).for_each(|partition| lot.skip(partition, source.space(partition).0));
}

/// Makes room for partitions that the feed got.
fn check_partitions(source: &dyn Source, lot: &mut Lot) -> Result<(), LinksError> {
    let num = source.partitions();
    if num > PARTITIONS_MAX {
        return Err(LinksError::Partitions { num });
    }
    if num as usize > lot.after.ends.len() {
        lot.after.ends.resize(num as usize, 0);
    }
    Ok(())
}

fn check_offsets(partition: u32, num: i64) -> Result<(), LinksError> {
    if num > OFFSETS_MAX { Err(LinksError::Offsets { partition, num }) } else { Ok(()) }
}

//! Building an index: one lot of records after another, and a checkpoint now and then.
//!
//! All that can fail comes before anything is changed: reading the history, looking up, making room, writing pages. So an error
//! leaves the index as it was, and it may be tried again.

use std::collections::BTreeMap;

use super::Options;
use super::checkpoint::{self, Checkpoint, IndexState};
use super::error::LinksError;
use super::files::Files;
use super::gather::Gatherer;
use super::hasher::{Hasher, Secret};
use super::index::Index;
use super::lot::{Lot, Position, Record};
use super::resolve::{Resolved, own, resolve};
use super::row::{NONE, Row, row, unpack};
use super::shared::Shared;
use super::source::{Mark, Source};
use super::strip::growth::Growth;
use crate::model::CommitNumber;
use crate::store::{FileError, ReadError, write_whole};
use crate::view::link::CommitCounts;

/// What only the one who builds the index needs.
pub struct Writer {
    pub files: Files,
    pub options: Options,
    pub secret: Secret,
    pub hasher: Hasher,
    pub at: Position,
    /// Counted of the commit that is being indexed.
    pub counts: CommitCounts,
    pub keys: Index,
    /// None: that of the keys serves for both.
    pub identities: Option<Index>,
    /// Of the last commit that is indexed whole.
    pub mark: Option<Mark>,
    pub gatherer: Gatherer,
    /// See [`FeedLinks::losses`](super::FeedLinks::losses).
    pub losses: u64,
    /// Records indexed since the last checkpoint.
    pub num_unsaved: usize,
    /// The last checkpoint does not say all.
    pub is_changed: bool,
    /// Files may be there that nothing needs.
    pub has_garbage: bool,
}

/// A lot's links, ready to be written.
struct Linked {
    rows: Vec<Row>,
    counts: Vec<(i64, CommitCounts)>,
    /// Of the commit that the lot does not hold the end of.
    rest: CommitCounts,
}

impl Writer {
    /// Indexes one lot; the number of its records, and whether it held anything.
    pub fn step(
        &mut self,
        source: &dyn Source,
        shared: &Shared,
        records_max: usize,
    ) -> Result<Option<usize>, LinksError> {
        let lot = self.gatherer.gather(source, &self.hasher, &self.at, records_max)?;
        if lot.is_empty() {
            return Ok(None);
        }
        let indexed = self.index(source, shared, &lot);
        if indexed.is_err() {
            self.gatherer.forget();
        }
        indexed?;
        self.num_unsaved += lot.records.len();
        Ok(Some(lot.records.len()))
    }

    fn index(&mut self, source: &dyn Source, shared: &Shared, lot: &Lot) -> Result<(), LinksError> {
        let starts = Starts::of(source, lot.after.ends.len());
        let is_kept = |place| starts.keep(place);
        let mark = match &lot.whole {
            Some((next, _)) => source.mark(CommitNumber(next - 1)).map_err(ReadError::from)?,
            None => self.mark,
        };
        let of_key = |record: &Record| record.hashes.key();
        let of_identity = |record: &Record| record.hashes.identity();
        let keys = resolve(lot, &self.keys, of_key)?;
        let identities = self.identities.as_ref().map(|index| resolve(lot, index, of_identity)).transpose()?;
        let linked = self.link(lot, &keys, identities.as_ref(), &is_kept);
        self.keys.make_room(keys.last.len(), &is_kept)?;
        if let (Some(index), Some(found)) = (&mut self.identities, &identities) {
            index.make_room(found.last.len(), &is_kept)?;
        }
        let grown = write_rows(shared, lot, &linked)?;
        // From here on nothing fails.
        put(&mut self.keys, lot, &keys, of_key);
        if let (Some(index), Some(found)) = (&mut self.identities, &identities) {
            put(index, lot, found, of_identity);
        }
        shared.install(grown);
        (self.at, self.counts, self.mark, self.is_changed) = (lot.after.clone(), linked.rest, mark, true);
        if let Some((next, ends)) = &lot.whole {
            shared.publish(*next, ends);
        }
        Ok(())
    }

    fn link(&self, lot: &Lot, keys: &Resolved, identities: Option<&Resolved>, is_kept: &dyn Fn(u64) -> bool) -> Linked {
        let identities = identities.unwrap_or(keys);
        let mut linked = Linked { rows: Vec::with_capacity(lot.records.len()), counts: Vec::new(), rest: self.counts };
        let mut cuts = lot.cuts.iter().peekable();
        for number in 0..=lot.records.len() {
            while let Some(cut) = cuts.next_if(|cut| cut.at == number) {
                let counts = std::mem::take(&mut linked.rest);
                linked.counts.extend(cut.commit.map(|commit| (commit, counts)));
            }
            let Some(record) = lot.records.get(number) else { break };
            let (key, identity) = (keys.before[number], identities.before[number].place);
            let repeats = key.place != NONE && key.value == record.hashes.value;
            linked.rows.push(row(key.place, identity, repeats, record.hashes.is_tombstone));
            let is_there = |place: u64| place != NONE && is_kept(place);
            linked.rest.duplicates += u64::from(is_there(identity));
            linked.rest.new_keys += u64::from(record.hashes.key().is_some() && !is_there(key.place));
            linked.rest.tombstones += u64::from(record.hashes.is_tombstone);
        }
        linked
    }

    /// Stores the index as it is now, so that the next process goes on from here.
    pub fn checkpoint(&mut self, source: &dyn Source, shared: &Shared) -> Result<(), LinksError> {
        if !self.is_changed {
            // Twice at rest: its memory may serve another feed.
            self.keys.rest();
            self.identities.iter_mut().for_each(Index::rest);
            return Ok(());
        }
        let starts = Starts::of(source, self.at.ends.len());
        let is_kept = |place| starts.keep(place);
        for index in [Some(&mut self.keys), self.identities.as_mut()].into_iter().flatten() {
            index.flush(&is_kept)?;
            index.sync()?;
            self.has_garbage |= index.take_merged();
        }
        let strips = shared.strips();
        strips.iter().try_for_each(|strip| strip.sync())?;
        self.files.sync_names()?;
        let checkpoint = self.describe(strips.iter().map(|strip| strip.extent()).collect());
        // Where the strips begin tells the next process what was deleted without harm.
        if source.losses() != self.losses {
            return Err(LinksError::Outdated);
        }
        write_whole(&*self.files.disk, &self.files.path(checkpoint::NAME), &checkpoint.encode())?;
        (self.num_unsaved, self.is_changed) = (0, false);
        if self.has_garbage {
            self.remove_garbage(shared)?;
        }
        Ok(())
    }

    /// Removes what no checkpoint names.
    pub fn remove_garbage(&mut self, shared: &Shared) -> Result<(), FileError> {
        let mut needed = vec![checkpoint::NAME.to_owned()];
        needed.extend(shared.strips().iter().flat_map(|strip| strip.needed()));
        let indexes = [Some(&self.keys), self.identities.as_ref()];
        needed.extend(indexes.into_iter().flatten().flat_map(|index| index.state().1).map(|run| run.name()));
        for name in self.files.names()?.iter().filter(|name| super::is_ours(name) && !needed.contains(name)) {
            self.files.remove(name)?;
        }
        self.has_garbage = false;
        Ok(())
    }

    fn describe(&self, strips: Vec<super::strip::Extent>) -> Checkpoint {
        let indexes = [Some(&self.keys), self.identities.as_ref()];
        let indexes = indexes.into_iter().flatten().map(|index| {
            let (next_run, runs) = index.state();
            IndexState { next_run, runs }
        });
        Checkpoint {
            identity: self.hasher.identity().to_string(),
            secret: self.secret,
            piece_pages: self.options.piece_pages,
            mark: self.mark,
            commit: self.at.commit,
            partition: self.at.partition,
            counts: self.counts,
            indexes: indexes.collect(),
            strips,
        }
    }
}

/// Where the partitions of the history begin.
struct Starts(Vec<i64>);

impl Starts {
    fn of(source: &dyn Source, num_partitions: usize) -> Starts {
        Starts((0..num_partitions as u32).map(|partition| source.space(partition).0).collect())
    }

    /// The record at that place, packed, is still there.
    fn keep(&self, place: u64) -> bool {
        let (partition, offset) = unpack(place);
        self.0.get(partition as usize).is_some_and(|start| offset >= *start)
    }
}

/// Strips with what is put behind them: of the counts, and of partitions.
pub struct Grown {
    pub counts: Growth,
    pub partitions: BTreeMap<u32, Growth>,
}

/// Writes what the lot adds, without showing it to anybody.
fn write_rows(shared: &Shared, lot: &Lot, linked: &Linked) -> Result<Grown, FileError> {
    let mut grown = Grown { counts: shared.counts().growth(), partitions: BTreeMap::new() };
    let mut rest = lot.records.iter().zip(&linked.rows).peekable();
    while let Some((first, _)) = rest.peek() {
        let partition = first.partition;
        let growth = grown.partitions.entry(partition).or_insert_with(|| shared.strip(partition).growth());
        while let Some((record, row)) = rest.next_if(|(record, _)| record.partition == partition) {
            growth.push(record.offset, *row);
        }
    }
    linked.counts.iter().for_each(|(commit, counts)| grown.counts.push(*commit, counts.to_row()));
    shared.counts().write(&grown.counts)?;
    grown.partitions.iter().try_for_each(|(partition, growth)| shared.strip(*partition).write(growth))?;
    Ok(grown)
}

fn put(index: &mut Index, lot: &Lot, found: &Resolved, hash_of: impl Fn(&Record) -> Option<u128>) {
    for number in &found.last {
        let record = &lot.records[*number as usize];
        if let Some(hash) = hash_of(record) {
            index.put(hash, own(record));
        }
    }
}

//! Indexes over made-up histories, held against a naive model.

use std::sync::Arc;

use super::files::Files;
use super::{FeedLinks, LinksError, Memory, Options};
use crate::config::Identity;
use crate::disk::{Disk, FaultyDisk};
use crate::model::{FeedOffset, PartitionId};
use crate::store::Handles;
use crate::view::link::{Link, Links, Place};

mod crash;
mod damage;
mod history;
mod losses;
mod model;
mod walk;

use history::History;

const FOLDER: &str = "/data/feeds/1/views";

/// So small that all that is rare in large ones happens.
const SMALL: Options = Options { lot_records: 40, checkpoint_records: 1_000, piece_pages: 2 };

/// An index of a history, on a disk that may fail.
struct Fixture {
    disk: FaultyDisk,
    history: History,
    identity: Identity,
    options: Options,
    memory: Arc<Memory>,
    links: FeedLinks,
}

fn files(disk: &FaultyDisk) -> Files {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Files { disk, handles: Arc::new(Handles::new(50)), folder: FOLDER.into() }
}

impl Fixture {
    fn new(history: History, identity: &str, options: Options, memory_bytes: usize) -> Fixture {
        let disk = FaultyDisk::new();
        disk.create_dir_all(FOLDER.as_ref()).unwrap();
        Fixture::open(disk, history, Identity::parse(identity).unwrap(), options, memory_bytes).unwrap()
    }

    fn open(
        disk: FaultyDisk,
        history: History,
        identity: Identity,
        options: Options,
        memory_bytes: usize,
    ) -> Result<Fixture, LinksError> {
        let memory = Memory::new(memory_bytes);
        let links = FeedLinks::open_in(files(&disk), &history, identity.clone(), memory.clone(), options)?;
        Ok(Fixture { disk, history, identity, options, memory, links })
    }

    /// Opened again, as it is on the disk.
    fn reopen(&mut self) -> Result<(), LinksError> {
        let (identity, memory) = (self.identity.clone(), self.memory.clone());
        self.links = FeedLinks::open_in(files(&self.disk), &self.history, identity, memory, self.options)?;
        Ok(())
    }

    fn catch_up(&self) -> Result<(), LinksError> {
        while !self.links.advance_over(&self.history, 100)?.caught_up {}
        assert_eq!(self.links.indexed().0, self.history.num_commits(), "it is caught up, but says that it is not");
        Ok(())
    }

    /// All that is indexed is what the model says.
    fn check(&self) -> Result<(), crate::store::FileError> {
        let model = model::links(&self.history, &self.identity);
        let indexed = self.links.indexed();
        for partition in 0..self.history.num_partitions() {
            let (start, _) = self.history.kept(partition);
            let end = self.links.end(PartitionId(partition)).0;
            assert!(end >= self.history.end_of(partition, indexed.0), "partition {partition} ends at {end}");
            let end = end.max(start);
            let found = self.links.read(PartitionId(partition), FeedOffset(start), FeedOffset(end))?;
            let expected = &model.links[partition as usize][start as usize..end as usize];
            assert_eq!(found.len(), expected.len());
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                let (found, expected) = (self.kept(*found), self.kept(*expected));
                assert_eq!(found, expected, "partition {partition}, offset {}", start + at as i64);
            }
        }
        for commit in self.history.first_commit()..self.history.num_commits() {
            let counts = self.links.counts(crate::model::CommitNumber(commit))?;
            assert_eq!(counts.is_some(), commit < indexed.0, "counts of commit {commit}");
        }
        Ok(())
    }

    /// The link without places that were dropped: whoever reads it does not mind them.
    fn kept(&self, link: Link) -> Link {
        let is_kept = |place: &Place| place.offset.0 >= self.history.kept(place.partition.0).0;
        let key_before = link.key_before.filter(is_kept);
        let repeats_value = link.repeats_value && key_before.is_some();
        Link { key_before, identity_before: link.identity_before.filter(is_kept), repeats_value, ..link }
    }
}

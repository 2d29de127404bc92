//! Ring two: the journal over the faulty disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::*;
use crate::disk::{CrashPolicy, Disk, FaultyDisk, OpenMode};

mod basics;
mod crash;
mod damage;
mod failure;
mod format;
mod random;
mod stale;
mod torn;

const DIR: &str = "/data/journal";

/// A group as the tests know it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    first: Lsn,
    count: u32,
    payload: Bytes,
}

impl Group {
    fn end(&self) -> Lsn {
        self.first.plus(self.count.into())
    }
}

/// What [`new_disk`] does.
const SETUP_OPS: u64 = 2;

/// A disk with a data folder, whose name is durable: that is the store's part.
fn new_disk() -> FaultyDisk {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    assert_eq!(disk.num_ops(), SETUP_OPS);
    disk
}

fn dir() -> PathBuf {
    Path::new(DIR).to_owned()
}

fn options(file_bytes: u64) -> JournalOptions {
    JournalOptions { file_bytes, durability: Durability::Fsync, salt: 7 }
}

/// Opens the journal and gives back what it replays.
fn open(disk: &FaultyDisk, file_bytes: u64, from: u64) -> Result<(Journal, Vec<Group>), JournalError> {
    open_with(disk, options(file_bytes), Lsn(from))
}

fn open_with(disk: &FaultyDisk, options: JournalOptions, from: Lsn) -> Result<(Journal, Vec<Group>), JournalError> {
    let mut groups = Vec::new();
    let replay = &mut |first, count, payload| {
        groups.push(Group { first, count, payload });
        Ok(Taken::Whole)
    };
    let journal = Journal::open(Arc::new(disk.clone()), dir(), options, from, replay)?;
    Ok((journal, groups))
}

/// The group that follows, `count` entries in `bytes` bytes that tell it from every other. `life` changes them.
fn group(journal: &Journal, count: u32, bytes: usize, life: u8) -> Group {
    let first = journal.next();
    let payload: Vec<u8> = (0..bytes).map(|index| (first.0 as usize * 31 + index * 7) as u8 ^ life).collect();
    Group { first, count, payload: payload.into() }
}

fn append(journal: &mut Journal, group: &Group) -> Result<(), JournalError> {
    let middle = group.payload.len() / 2;
    journal.append(group.first, group.count, &[group.payload.slice(..middle), group.payload.slice(middle..)])
}

/// Appends `num` groups of one entry each.
fn append_many(journal: &mut Journal, num: usize, bytes: usize, life: u8) -> Vec<Group> {
    let append_one = |_| {
        let group = group(journal, 1, bytes, life);
        append(journal, &group).unwrap();
        group
    };
    (0..num).map(append_one).collect()
}

/// The paths of the journal's files, in order.
fn journal_files(disk: &FaultyDisk) -> Vec<PathBuf> {
    let names = disk.list(Path::new(DIR)).unwrap();
    names.iter().filter(|name| name.ends_with(".journal")).map(|name| dir().join(name)).collect()
}

fn read_bytes(disk: &FaultyDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

fn write_bytes(disk: &FaultyDisk, path: &Path, at: u64, bytes: &[u8]) {
    disk.open(path, OpenMode::Create).unwrap().write_all_at(bytes, at).unwrap();
}

fn cut(disk: &FaultyDisk, path: &Path, size: u64) {
    disk.open(path, OpenMode::Write).unwrap().set_size(size).unwrap();
}

/// A copy of the disk to do harm to.
fn copy(disk: &FaultyDisk) -> FaultyDisk {
    disk.crash_image(CrashPolicy::KeepAll)
}

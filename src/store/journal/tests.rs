//! Ring two: the journal over the faulty disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::*;
use crate::disk::FaultyDisk;

mod basics;

const DIR: &str = "/data/journal";

/// A group as the tests know it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    first: Lsn,
    count: u32,
    payload: Bytes,
}

fn dir() -> PathBuf {
    Path::new(DIR).to_owned()
}

fn options(file_bytes: u64) -> JournalOptions {
    JournalOptions { file_bytes, durability: Durability::Fsync, salt: 7 }
}

/// Opens the journal and gives back what it replays.
fn open(disk: &FaultyDisk, file_bytes: u64, from: u64) -> Result<(Journal, Vec<Group>), JournalError> {
    let mut groups = Vec::new();
    let journal =
        Journal::open(Arc::new(disk.clone()), dir(), options(file_bytes), Lsn(from), &mut |first, count, payload| {
            groups.push(Group { first, count, payload });
            Ok(())
        })?;
    Ok((journal, groups))
}

/// The group that follows, `count` entries in `bytes` bytes that tell it from every other.
fn group(journal: &Journal, count: u32, bytes: usize) -> Group {
    let first = journal.next();
    let payload: Vec<u8> = (0..bytes).map(|index| (first.0 as usize * 31 + index * 7 + bytes) as u8).collect();
    Group { first, count, payload: payload.into() }
}

fn append(journal: &mut Journal, group: &Group) -> Result<(), JournalError> {
    let middle = group.payload.len() / 2;
    journal.append(group.first, group.count, &[group.payload.slice(..middle), group.payload.slice(middle..)])
}

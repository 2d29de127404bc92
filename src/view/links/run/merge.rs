//! Making one run of several.

use super::super::entry::Entry;
use super::Run;
use super::reader::Reader;
use super::writer::Writer;
use crate::store::FileError;

/// Puts into `writer` what the runs hold, which are ordered from the newest to the oldest: of entries with one hash that of the
/// newest, and only those whose place is to be kept.
pub fn merge(runs: &[Run], is_kept: &dyn Fn(u64) -> bool, writer: &mut Writer) -> Result<(), FileError> {
    let mut readers: Vec<Reader<'_>> = runs.iter().map(Reader::new).collect();
    let mut heads = readers.iter_mut().map(Reader::next).collect::<Result<Vec<Option<Entry>>, _>>()?;
    while let Some(first) = heads.iter().flatten().min_by_key(|entry| entry.hash).copied() {
        // Of equal ones `min_by_key` gives the first, which is of the newest run.
        for (head, reader) in heads.iter_mut().zip(&mut readers) {
            if head.is_some_and(|head| head.hash == first.hash) {
                *head = reader.next()?;
            }
        }
        if is_kept(first.last.place) {
            writer.push(&first)?;
        }
    }
    Ok(())
}

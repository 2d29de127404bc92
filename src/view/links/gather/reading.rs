//! Reading one run: batches, and their records.

use bytes::Bytes;

use super::super::error::LinksError;
use super::super::hasher::Hasher;
use super::super::lot::Lot;
use super::super::source::Source;
use crate::batch::{Reached, Records, next_batch, records};
use crate::model::RunRow;

/// Bytes of the log that are read at once.
const SLICE_BYTES: usize = 1 << 20;
/// What is taken from producers may become half as much.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// See the module.
pub struct Reading {
    partition: u32,
    run: RunRow,
    /// Batches that were read and not looked into.
    batches: Bytes,
    batch: Option<Batch>,
}

/// A batch whose records are being read: they may be too many for one lot.
struct Batch {
    records: Records,
    reached: Reached,
}

impl Reading {
    pub fn new(partition: u32, run: RunRow) -> Reading {
        Reading { partition, run, batches: Bytes::new(), batch: None }
    }

    /// Puts the run's next records into the lot; true at the end of the run, false when the lot is full before.
    pub fn read_on(&mut self, source: &dyn Source, hasher: &Hasher, lot: &mut Lot) -> Result<bool, LinksError> {
        loop {
            if self.batch.is_some() {
                if !self.read_batch(hasher, lot)? {
                    return Ok(false);
                }
            } else if let Some(len) = next_batch(&self.batches) {
                self.open_batch(len)?;
            } else if lot.end(self.partition) < self.run.end().0 {
                self.read_batches(source, lot)?;
            } else {
                return Ok(true);
            }
        }
    }

    fn read_batches(&mut self, source: &dyn Source, lot: &Lot) -> Result<(), LinksError> {
        let offset = lot.end(self.partition);
        let (from, end) =
            (self.run.log_base.plus(offset - self.run.feed_base.0), self.run.log_base.plus(self.run.count));
        self.batches = source.read(self.partition, from, end, SLICE_BYTES)?;
        match next_batch(&self.batches) {
            Some(_) => Ok(()),
            None => Err(LinksError::Hole { partition: self.partition, offset }),
        }
    }

    fn open_batch(&mut self, len: usize) -> Result<(), LinksError> {
        let bytes = self.batches.split_to(len);
        let records = records(&bytes, DECOMPRESSED_BYTES_MAX).map_err(|error| self.bad(error))?;
        self.batch = Some(Batch { records, reached: Reached::default() });
        Ok(())
    }

    /// True at the end of the batch.
    fn read_batch(&mut self, hasher: &Hasher, lot: &mut Lot) -> Result<bool, LinksError> {
        let Some(batch) = &mut self.batch else { return Ok(true) };
        let (partition, shift) = (self.partition, self.run.feed_base.0 - self.run.log_base.0);
        let mut records = batch.records.iter_from(batch.reached);
        while !lot.is_full() {
            let Some(record) = records.next() else {
                // Also when its last records are not in it any more.
                let end = batch.records.header().next_offset() + shift;
                lot.fill(partition, end.min(self.run.end().0));
                self.batch = None;
                return Ok(true);
            };
            let record = record.map_err(|error| LinksError::Batch { partition, offset: lot.end(partition), error })?;
            lot.push(partition, record.offset + shift, hasher.hashes(&record));
        }
        batch.reached = records.reached();
        Ok(false)
    }

    fn bad(&self, error: crate::batch::RecordsError) -> LinksError {
        LinksError::Batch { partition: self.partition, offset: self.run.feed_base.0, error }
    }
}

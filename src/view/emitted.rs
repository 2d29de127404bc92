//! Reading what a mode emits of a partition: whole batches as they are stored, others with the rest left out.

use std::ops::Range;

use bytes::Bytes;

use super::pieces;
use super::reading::{Budget, ViewError};
use super::selection::{Bits, may_take_long};
use crate::batch::{self, BatchHeader, KeptBatch};
use crate::disk::waiting;
use crate::model::{FeedOffset, Offset, RunRow};
use crate::store::{LogSlice, PartitionFiles};

/// Bytes of the log that are looked at in one go: at first, and where emitted records lie close or far from each other.
const LOOK_BYTES: usize = 64 << 10;
const LOOK_BYTES_MAX: usize = 1 << 20;
const LOOK_BYTES_MIN: usize = 4 << 10;

/// Bytes that are looked at for one answer. Where few records are emitted it ends here and not when it is full, for
/// whoever asked waits for it.
const LOOKED_BYTES_MAX: usize = 16 << 20;

/// More bytes of batches than so many are not re-encoded on an async worker, and no compressed ones.
const QUICK_BYTES_MAX: usize = 64 << 10;

/// Decompressed bytes of a batch; what was appended was checked against a smaller cap.
const INNER_BYTES_MAX: usize = 1 << 30;

/// Runs looked up at once.
const RUNS_MAX: usize = 64;

/// Batches of the emitted records of a partition, from the first one at or after the feed offset `from`.
pub(super) fn read(
    files: &PartitionFiles,
    first_run: u64,
    bits: &Bits,
    from: i64,
    budget: Budget,
) -> Result<Vec<Bytes>, ViewError> {
    let runs = Runs { files, first_run, end: FeedOffset(bits.end()), lot: Vec::new(), at: 0 };
    let output = Output { budget, parts: Vec::new(), made: Vec::new(), open: None, len: 0 };
    let mut reader = Reader { bits, runs, output, num_reencoded: 0 };
    match reader.read(from) {
        // Whoever goes on behind what was found is told.
        Err(_) if reader.output.len > 0 && !waiting::was_refused() => Ok(reader.output.finish()),
        Err(error) => Err(error),
        Ok(()) => Ok(reader.output.finish()),
    }
}

impl RunRow {
    fn log_offset(&self, feed_offset: i64) -> Offset {
        self.log_base.plus(feed_offset - self.feed_base.0)
    }

    fn log_end(&self) -> Offset {
        self.log_base.plus(self.count)
    }

    /// From offsets of the log to those of the feed.
    fn shift(&self) -> i64 {
        self.feed_base.0 - self.log_base.0
    }
}

/// The partition's runs, looked up in lots: the next emitted record may be near or very far.
struct Runs<'a> {
    files: &'a PartitionFiles,
    first_run: u64,
    end: FeedOffset,
    lot: Vec<RunRow>,
    at: usize,
}

impl Runs<'_> {
    /// The run that holds an offset, which is none before the last one asked for.
    fn at(&mut self, offset: i64) -> Result<Option<RunRow>, ViewError> {
        let offset = FeedOffset(offset);
        while let Some(run) = self.lot.get(self.at) {
            if run.end() > offset {
                return Ok(Some(*run));
            }
            self.at += 1;
        }
        self.lot = self.files.runs_covering(self.first_run, offset, self.end, RUNS_MAX)?;
        self.at = 0;
        Ok(self.lot.first().copied())
    }
}

struct Reader<'a> {
    bits: &'a Bits,
    runs: Runs<'a>,
    output: Output,
    /// Bytes of the batches that were re-encoded.
    num_reencoded: usize,
}

impl Reader<'_> {
    fn read(&mut self, from: i64) -> Result<(), ViewError> {
        let (mut look_bytes, mut num_looked) = (LOOK_BYTES, 0);
        let mut next = self.bits.next(from);
        while let Some(offset) = next {
            let has_looked_enough = num_looked >= LOOKED_BYTES_MAX && self.output.len > 0;
            if has_looked_enough || !self.output.has_room_for(batch::HEADER_LEN, false) {
                break;
            }
            let Some(run) = self.runs.at(offset)? else { break };
            let slice = self.runs.files.read(run.log_offset(offset), run.log_end(), look_bytes)?;
            if slice.bytes.is_empty() {
                break;
            }
            num_looked += slice.bytes.len();
            next = self.take(&run, &slice)?;
            // Where the next one is farther than all that was just looked at, it is looked for alone.
            let end = slice.next_offset.0 + run.shift();
            let is_near = next.is_some_and(|next| next - end <= end - offset);
            look_bytes = if is_near { look_bytes * 2 } else { look_bytes / 4 }.clamp(LOOK_BYTES_MIN, LOOK_BYTES_MAX);
        }
        Ok(())
    }

    /// Takes what is emitted of some batches of a run; gives the emitted record with which to go on, if there is one and room
    /// for more.
    fn take(&mut self, run: &RunRow, slice: &LogSlice) -> Result<Option<i64>, ViewError> {
        let shift = run.shift();
        let mut neighbours = Neighbours { bytes: &slice.bytes, shift, at: 0..0 };
        let taken = self.take_each(slice, &mut neighbours);
        // Those before a bad one too.
        self.output.take_whole(neighbours.next(), shift);
        taken
    }

    fn take_each(&mut self, slice: &LogSlice, whole: &mut Neighbours<'_>) -> Result<Option<i64>, ViewError> {
        let (bytes, shift) = (&slice.bytes, whole.shift);
        let mut next = None;
        while let Some(length) = batch::next_batch(&bytes[whole.at.end..]) {
            let end = whole.at.end + length;
            let stored = &bytes[whole.at.end..end];
            let header = BatchHeader::parse(stored).map_err(bad(slice.base_offset))?;
            let (feed_base, feed_end) = (header.base_offset + shift, header.next_offset() + shift);
            let num_emitted = self.bits.count(feed_base, feed_end);
            next = self.bits.next(feed_end);
            let is_whole = num_emitted == i64::from(header.record_count);
            let is_taken = if is_whole {
                // Those that wait count as taken.
                self.output.has_room_for(end - whole.at.start, !whole.at.is_empty())
            } else {
                self.output.take_whole(whole.next(), shift);
                // By its share of the records: what is made and does not fit would be made in vain.
                let expected = (end - whole.at.end) as i64 * num_emitted / i64::from(header.record_count.max(1));
                num_emitted == 0
                    || (self.output.has_room_for(expected as usize, false)
                        && self.reencode(&header, &bytes.slice(whole.at.end..end), feed_base, next)?)
            };
            if !is_taken {
                return Ok(None);
            }
            whole.at = if is_whole { whole.at.start..end } else { end..end };
            if next.is_none_or(|next| next >= slice.next_offset.0 + shift) {
                break;
            }
        }
        Ok(next)
    }

    /// False when there is no room for it.
    fn reencode(
        &mut self,
        header: &BatchHeader,
        stored: &Bytes,
        feed_base: i64,
        next: Option<i64>,
    ) -> Result<bool, ViewError> {
        self.num_reencoded += stored.len();
        if self.num_reencoded > QUICK_BYTES_MAX || header.attributes.compression() != Ok(batch::Compression::None) {
            may_take_long()?;
        }
        // Up to the next emitted record, so that readers come to it without a stop in the gap; or to the end, which is tight.
        let reach = next.or(self.bits.last().map(|last| last + 1)).unwrap_or(feed_base);
        let bits = self.bits;
        let keeps = |delta: i32| bits.contains(feed_base + i64::from(delta));
        self.output.make(feed_base, reach, |out| {
            batch::keep_records(stored, INNER_BYTES_MAX, keeps, out).map_err(bad(Offset(header.base_offset)))
        })
    }
}

/// Batches that are emitted whole wait for their neighbours.
struct Neighbours<'a> {
    bytes: &'a Bytes,
    shift: i64,
    at: Range<usize>,
}

impl Neighbours<'_> {
    /// They are taken, and those behind wait.
    fn next(&mut self) -> Bytes {
        let taken = self.bytes.slice(self.at.clone());
        self.at.start = self.at.end;
        taken
    }
}

fn bad(offset: Offset) -> impl FnOnce(batch::BatchError) -> ViewError {
    move |error| ViewError::BadBatch { offset, error: error.to_string() }
}

/// What was read so far.
struct Output {
    budget: Budget,
    parts: Vec<Bytes>,
    /// Re-encoded batches that are not among the parts yet; of the last one it may be the header alone.
    made: Vec<u8>,
    /// The last one of them.
    open: Option<OpenBatch>,
    len: usize,
}

/// A re-encoded batch of which it is not known yet how far it reaches: no further than to where the next one begins.
struct OpenBatch {
    kept: KeptBatch,
    /// Where it stands among those made.
    at: Range<usize>,
    base: i64,
    reach: i64,
}

impl Output {
    fn room(&self) -> usize {
        self.budget.max_bytes.saturating_sub(self.len)
    }

    fn has_room_for(&self, num_bytes: usize, has_some: bool) -> bool {
        num_bytes <= self.room() || (self.budget.at_least_one && self.len == 0 && !has_some)
    }

    /// Takes stored batches, for which there is room.
    fn take_whole(&mut self, batches: Bytes, shift: i64) {
        if !batches.is_empty() {
            // The first of their records is the one that it reaches to.
            self.close(i64::MAX);
            self.flush();
            self.len += batches.len();
            pieces::rebase(batches, shift, &mut self.parts);
        }
    }

    /// Takes the batch at `base` that `make` appends. False when there was no room for it.
    fn make(
        &mut self,
        base: i64,
        reach: i64,
        make: impl FnOnce(&mut Vec<u8>) -> Result<KeptBatch, ViewError>,
    ) -> Result<bool, ViewError> {
        let before = self.made.len();
        if !self.has_room_for(batch::HEADER_LEN, false) {
            return Ok(false);
        }
        let kept = make(&mut self.made)?;
        let num_made = self.made.len() - before;
        let num_bytes = num_made + kept.apart_len();
        let fits = self.has_room_for(num_bytes, false);
        if !fits {
            self.made.truncate(before);
            return Ok(false);
        }
        self.len += num_bytes;
        // Batches must not lie over each other.
        self.close(base);
        self.open = Some(OpenBatch { kept, at: self.made.len() - num_made..self.made.len(), base, reach });
        Ok(true)
    }

    /// What comes next begins at `end` or later.
    fn close(&mut self, end: i64) {
        if let Some(OpenBatch { kept, at, base, reach }) = self.open.take() {
            kept.finish(&mut self.made[at.clone()], base, reach.min(end));
            if !kept.apart().is_empty() {
                // Behind it is what was made since.
                let since = self.made.split_off(at.end);
                self.flush();
                self.parts.extend_from_slice(kept.apart());
                self.made = since;
            }
        }
    }

    fn flush(&mut self) {
        if !self.made.is_empty() {
            self.parts.push(Bytes::from(std::mem::take(&mut self.made)));
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.close(i64::MAX);
        self.flush();
        self.parts
    }
}

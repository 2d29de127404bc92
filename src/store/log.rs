//! A partition's log: segments one after another, the last one written to.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::batch::{BatchError, records};
use crate::disk::waiting;
use crate::model::{Offset, Timestamp};

use super::error::{FileError, ReadError};
use super::segment::{Placed, Segment};
use super::shelf::Shelf;
use super::span::Span;
use super::tail::{TailFile, WHOLE};

/// Where a log ends according to the manifest: the last segment and its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogEnd {
    pub segment: Offset,
    pub position: u64,
}

/// Whole batches, one after another, as stored.
#[derive(Clone, Debug)]
pub struct LogSlice {
    pub bytes: Bytes,
    /// The offset of the first record in `bytes`.
    pub base_offset: Offset,
    /// One past the offset of the last one.
    pub next_offset: Offset,
    /// Where `bytes` lies: the segment that starts at this offset, at this byte.
    pub segment: Offset,
    pub position: u64,
}

/// A record found by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTime {
    pub offset: Offset,
    pub timestamp: Timestamp,
}

/// See the module.
pub struct Log {
    shelf: Arc<Shelf>,
    folder: PathBuf,
    gone: Arc<AtomicBool>,
    known: RwLock<Known>,
    /// Held while the folder is read, which may take long: readers of what is known do not wait for it.
    listing: Mutex<()>,
    /// The folder was read during the replay, and files past the end were left there.
    unswept: AtomicBool,
}

struct Known {
    /// The first offset that is read.
    start: Offset,
    /// Where the log ended when nothing of it had been read yet.
    end: LogEnd,
    /// In order of their base offsets; none until the folder was read.
    segments: Option<Vec<Arc<Segment>>>,
    /// Segments below the start, whose files are still there. They are read too: a trim reaches the log a little before
    /// readers are shown the new start.
    retired: Vec<Arc<Segment>>,
}

/// The segments in a folder, those below the start apart.
#[derive(Default)]
struct Listed {
    retired: Vec<Arc<Segment>>,
    live: Vec<Arc<Segment>>,
}

impl Log {
    /// The log in `folder`; touches nothing.
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, gone: Arc<AtomicBool>, start: Offset, end: LogEnd) -> Log {
        let known = RwLock::new(Known { start, end, segments: None, retired: Vec::new() });
        Log { shelf, folder, gone, known, listing: Mutex::default(), unswept: AtomicBool::new(false) }
    }

    /// The batches from the one that holds `from` (or, in a gap, the first one after it) to `end`, in at most `bytes_max`
    /// bytes, though always one if there is any. They end with their segment at the latest. Empty when there are none.
    pub fn read(&self, from: Offset, end: Offset, bytes_max: usize) -> Result<LogSlice, ReadError> {
        for segment in self.segments_at(from)? {
            if segment.base >= end {
                break;
            }
            if let Some(first) = segment.find(from, end)? {
                let last = segment.last_within(first, end, bytes_max as u64)?;
                let last = segment.last_sound(from, first, last)?;
                return Ok(slice_of(&segment, first, last)?);
            }
        }
        Ok(LogSlice { bytes: Bytes::new(), base_offset: from, next_offset: from, segment: from, position: 0 })
    }

    /// The first record in `[from, end)` with a timestamp of `time` or later. Looks for it as Kafka does: by segment, by index, by
    /// batch, and then among the batch's records, of which at most `decoded_bytes_max` are decompressed.
    pub fn find_time(
        &self,
        time: Timestamp,
        from: Offset,
        end: Offset,
        decoded_bytes_max: usize,
    ) -> Result<Option<RecordTime>, ReadError> {
        for segment in self.segments()?.iter().filter(|segment| segment.base < end) {
            let mut next = segment.find_time(time, from, end)?;
            while let Some(span) = next {
                let found = record_from(segment, span, time, from, decoded_bytes_max)?;
                if found.is_some() {
                    return Ok(found);
                }
                // The header's greatest timestamp belongs to no record that is left.
                next = segment.find_time(time, span.end_offset, end)?;
            }
        }
        Ok(None)
    }

    /// The greatest timestamp in `[from, end)`.
    pub fn max_timestamp(&self, from: Offset, end: Offset) -> Result<Option<Timestamp>, ReadError> {
        let mut greatest = None;
        for segment in self.segments()?.iter().filter(|segment| segment.base < end) {
            greatest = greatest.max(match segment.base < from {
                true => segment.max_timestamp_from(from, end)?,
                false => segment.max_timestamp(end)?,
            });
        }
        Ok(greatest)
    }

    /// The last batch's offset from which on the log still holds `bytes`; none when it holds less in all.
    pub fn offset_before(&self, bytes: u64) -> Result<Option<Offset>, FileError> {
        let mut held = 0;
        for segment in self.segments()?.iter().rev() {
            let size = segment.end()?;
            if held + size >= bytes {
                return Ok(Some(segment.offset_at(held + size - bytes)?));
            }
            held += size;
        }
        Ok(None)
    }

    /// The first offset that is read.
    pub fn start(&self) -> Result<Offset, ReadError> {
        Ok(self.opened()?.start)
    }

    /// The segments from the first to the last.
    pub fn segments(&self) -> Result<Vec<Arc<Segment>>, FileError> {
        Ok(self.opened()?.segments.iter().flatten().cloned().collect())
    }

    /// Appends batches at `position` of the segment that starts at `segment`, which is new when `position` is 0.
    pub fn append(&self, segment: Offset, position: u64, batches: &[Placed]) -> Result<(), FileError> {
        let last = self.opened()?.segments.iter().flatten().last().cloned();
        let target = match last {
            Some(last) if last.base == segment => last,
            last => self.roll(last, segment),
        };
        target.append(position, batches)
    }

    fn roll(&self, last: Option<Arc<Segment>>, base: Offset) -> Arc<Segment> {
        if let Some(last) = last {
            last.seal();
        }
        let segment = self.segment(base, 0);
        self.write().segments.get_or_insert_default().push(segment.clone());
        segment
    }

    fn segment(&self, base: Offset, end: u64) -> Arc<Segment> {
        let path = self.folder.join(log_name(base));
        let file = TailFile::new(self.shelf.clone(), path, end, self.gone.clone());
        Segment::new(self.shelf.clone(), base, file)
    }

    fn segments_at(&self, from: Offset) -> Result<Vec<Arc<Segment>>, ReadError> {
        let opened = self.opened()?;
        let segments = opened.segments.as_deref().unwrap_or_default();
        let not_after = |segments: &[Arc<Segment>]| segments.partition_point(|segment| segment.base <= from);
        let num_retired = not_after(&opened.retired);
        match (not_after(segments), segments.first()) {
            // The next one as well, for an offset that lies in a gap at the end of its segment.
            (after @ 1.., _) => Ok(segments[after - 1..].iter().take(2).cloned().collect()),
            _ if num_retired > 0 => {
                let known = opened.retired[num_retired - 1..].iter().chain(segments);
                Ok(known.take(2).cloned().collect())
            }
            (_, Some(first)) => Err(ReadError::BelowStart { from, start: first.base }),
            (_, None) if from < opened.start => Err(ReadError::BelowStart { from, start: opened.start }),
            (_, None) => Ok(Vec::new()),
        }
    }

    fn opened(&self) -> Result<RwLockReadGuard<'_, Known>, FileError> {
        let known = self.read_known();
        if known.segments.is_some() {
            return Ok(known);
        }
        drop(known);
        waiting::ask().map_err(FileError::io(&self.folder))?;
        self.list_once()?;
        Ok(self.read_known())
    }

    fn list_once(&self) -> Result<(), FileError> {
        let _listing = self.lock_listing();
        let known = self.read_known();
        let (start, end, is_listed) = (known.start, known.end, known.segments.is_some());
        drop(known);
        if !is_listed {
            let Listed { retired, live } = self.list(start, end)?;
            let mut known = self.write();
            known.retired = retired;
            known.segments = Some(live);
        }
        Ok(())
    }

    fn lock_listing(&self) -> MutexGuard<'_, ()> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the files past the end that the replay left.
    pub fn sweep(&self) -> Result<(), FileError> {
        if !self.unswept.swap(false, Ordering::AcqRel) || self.gone.load(Ordering::Acquire) {
            return Ok(());
        }
        let known = self.read_known();
        let last = known.segments.iter().flatten().last().or(known.retired.last()).map(|segment| segment.base);
        let first_past = last.map_or(known.end.segment, |last| last.plus(1));
        drop(known);
        for name in self.shelf.disk.list(&self.folder).map_err(FileError::io(&self.folder))? {
            if base_of(&name).is_some_and(|base| base >= first_past) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Reads the folder. What lies past the known end was written by a group that a crash took back: it is removed. During
    /// a replay it stays until [`Log::sweep`], because the replay may read it.
    fn list(&self, start: Offset, end: LogEnd) -> Result<Listed, FileError> {
        let names = match self.shelf.disk.list(&self.folder) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound && end.position == 0 => return Ok(Default::default()),
            Err(source) => return Err(FileError::Io { path: self.folder.clone(), source }),
        };
        let mut segments = Vec::new();
        for name in names {
            let Some(base) = base_of(&name) else { continue };
            if name.ends_with(".tmp") {
                self.remove(&name)?;
            } else if base > end.segment || (base == end.segment && end.position == 0) {
                if self.shelf.is_replaying() {
                    self.unswept.store(true, Ordering::Release);
                } else {
                    self.remove(&name)?;
                }
            } else if base < end.segment && name.ends_with(".log") {
                segments.push(self.segment(base, WHOLE));
            }
        }
        segments.iter().for_each(|segment| segment.seal());
        // When the log was emptied, all that is left of it waits to be removed.
        let mut num_retired = segments.len();
        if end.position > 0 {
            let active = self.segment(end.segment, end.position);
            active.settle()?;
            segments.push(active);
            num_retired = num_below(&segments, start);
        }
        let live = segments.split_off(num_retired);
        segments.iter().for_each(|segment| segment.retire());
        Ok(Listed { retired: segments, live })
    }

    /// What lies below `start` is not read any more. `emptied`: that is all there is, and the next batch starts a segment.
    pub fn trim(&self, start: Offset, emptied: bool) {
        let _listing = self.lock_listing();
        let mut known = self.write();
        known.start = start;
        let Known { segments, retired, end, .. } = &mut *known;
        match segments {
            Some(segments) => {
                let num = if emptied { segments.len() } else { num_below(segments, start) };
                retired.extend(segments.drain(..num).inspect(|segment| segment.retire()));
            }
            None if emptied => *end = LogEnd { segment: start, position: 0 },
            None => (),
        }
    }

    /// Removes the files below a start at which the log was trimmed before; `names` are those of all files in the folder.
    /// Returns how many went.
    pub fn remove_below(&self, start: Offset, emptied: bool, names: &[String]) -> Result<usize, FileError> {
        let logs = names.iter().filter(|name| name.ends_with(".log"));
        let holds_start = logs.filter_map(|name| base_of(name)).filter(|base| *base <= start).max();
        let limit = if emptied { Some(start) } else { holds_start };
        let below = |name: &&String| base_of(name).is_some_and(|base| limit.is_some_and(|limit| base < limit));
        let mut num_removed = 0;
        for name in names.iter().filter(below) {
            self.remove(name)?;
            num_removed += 1;
        }
        self.write().retired.retain(|segment| {
            let keep = limit.is_none_or(|limit| segment.base >= limit);
            if !keep {
                segment.close();
            }
            keep
        });
        Ok(num_removed)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.folder.join(name);
        self.shelf.disk.remove_file(&path).map_err(FileError::io(&path))?;
        self.shelf.dirty.add_folder(self.folder.clone(), self.gone.clone());
        Ok(())
    }
}

/// How many of the first segments end at or below `start`: each ends where the next one begins.
fn num_below(segments: &[Arc<Segment>], start: Offset) -> usize {
    segments.iter().skip(1).take_while(|next| next.base <= start).count()
}

fn slice_of(segment: &Segment, first: Span, last: Span) -> Result<LogSlice, FileError> {
    Ok(LogSlice {
        bytes: segment.bytes(first.position, last.end())?,
        base_offset: first.base_offset,
        next_offset: last.end_offset,
        segment: segment.base,
        position: first.position,
    })
}

fn record_from(
    segment: &Arc<Segment>,
    span: Span,
    time: Timestamp,
    from: Offset,
    decoded_bytes_max: usize,
) -> Result<Option<RecordTime>, FileError> {
    let damaged = |error: BatchError| FileError::damaged(segment.path(), span.position, error.to_string());
    segment.last_sound(span.base_offset, span, span)?;
    let records = records(&segment.bytes(span.position, span.end())?, decoded_bytes_max).map_err(damaged)?;
    for record in &records {
        let record = record.map_err(damaged)?;
        if record.timestamp >= time.0 && record.offset >= from.0 {
            return Ok(Some(RecordTime { offset: Offset(record.offset), timestamp: Timestamp(record.timestamp) }));
        }
    }
    Ok(None)
}

/// The file name of the segment that starts at `base`.
pub fn log_name(base: Offset) -> String {
    format!("{:020}.log", base.0)
}

/// The base offset in the name of a segment's log, of its index, or of one in the making.
pub fn base_of(name: &str) -> Option<Offset> {
    let (digits, kind) = name.split_once('.')?;
    let ours = digits.len() == 20 && matches!(kind, "log" | "index" | "index.tmp");
    ours.then(|| digits.parse().ok().map(Offset)).flatten()
}

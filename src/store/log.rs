//! A partition's log: segments one after another, the last one written to.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;

use crate::batch::{BatchError, records};
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
    end: LogEnd,
    /// In order of their base offsets; none until the folder was read.
    segments: RwLock<Option<Vec<Arc<Segment>>>>,
}

impl Log {
    /// The log in `folder`; touches nothing.
    pub fn new(shelf: Arc<Shelf>, folder: PathBuf, gone: Arc<AtomicBool>, end: LogEnd) -> Log {
        Log { shelf, folder, gone, end, segments: RwLock::new(None) }
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
                return Ok(slice_of(&segment, first, last)?);
            }
        }
        Ok(LogSlice { bytes: Bytes::new(), base_offset: from, next_offset: from, segment: from, position: 0 })
    }

    /// The first record below `end` with a timestamp of `time` or later. Looks for it as Kafka does: by segment, by index, by
    /// batch, and then among the batch's records, of which at most `decoded_bytes_max` are decompressed.
    pub fn find_time(
        &self,
        time: Timestamp,
        end: Offset,
        decoded_bytes_max: usize,
    ) -> Result<Option<RecordTime>, ReadError> {
        for segment in self.segments()?.iter().filter(|segment| segment.base < end) {
            let mut next = segment.find_time(time, Offset(i64::MIN), end)?;
            while let Some(span) = next {
                let found = record_from(segment, span, time, decoded_bytes_max)?;
                if found.is_some() {
                    return Ok(found);
                }
                // The header's greatest timestamp belongs to no record that is left.
                next = segment.find_time(time, span.end_offset, end)?;
            }
        }
        Ok(None)
    }

    /// The greatest timestamp below `end`.
    pub fn max_timestamp(&self, end: Offset) -> Result<Option<Timestamp>, ReadError> {
        let mut greatest = None;
        for segment in self.segments()?.iter().filter(|segment| segment.base < end) {
            greatest = greatest.max(segment.max_timestamp(end)?);
        }
        Ok(greatest)
    }

    /// The first offset that is stored.
    pub fn start(&self) -> Result<Offset, ReadError> {
        Ok(self.segments()?.first().map_or(Offset(0), |segment| segment.base))
    }

    /// The segments from the first to the last.
    pub fn segments(&self) -> Result<Vec<Arc<Segment>>, FileError> {
        Ok(self.opened()?.iter().flatten().cloned().collect())
    }

    /// Appends batches at `position` of the segment that starts at `segment`, which is new when `position` is 0.
    pub fn append(&self, segment: Offset, position: u64, batches: &[Placed]) -> Result<(), FileError> {
        let last = self.opened()?.iter().flatten().last().cloned();
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
        let mut segments = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        segments.get_or_insert_default().push(segment.clone());
        segment
    }

    fn segment(&self, base: Offset, end: u64) -> Arc<Segment> {
        let path = self.folder.join(format!("{:020}.log", base.0));
        let file = TailFile::new(self.shelf.clone(), path, end, self.gone.clone());
        Segment::new(self.shelf.clone(), base, file)
    }

    fn segments_at(&self, from: Offset) -> Result<Vec<Arc<Segment>>, ReadError> {
        let opened = self.opened()?;
        let segments = opened.as_deref().unwrap_or_default();
        let after = segments.partition_point(|segment| segment.base <= from);
        match after.checked_sub(1) {
            // The next one as well, for an offset that lies in a gap at the end of its segment.
            Some(first) => Ok(segments[first..segments.len().min(first + 2)].to_vec()),
            None => match segments.first() {
                Some(first) => Err(ReadError::BelowStart { from, start: first.base }),
                None => Ok(Vec::new()),
            },
        }
    }

    fn opened(&self) -> Result<RwLockReadGuard<'_, Option<Vec<Arc<Segment>>>>, FileError> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        if segments.is_some() {
            return Ok(segments);
        }
        drop(segments);
        let mut place = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(self.list()?);
        }
        drop(place);
        Ok(self.segments.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the folder. What lies past the known end was written by a group that a crash took back, or is written
    /// again by the replay that runs now: it is removed.
    fn list(&self) -> Result<Vec<Arc<Segment>>, FileError> {
        let names = match self.shelf.disk.list(&self.folder) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.end == LogEnd::default() => {
                return Ok(Vec::new());
            }
            Err(source) => return Err(FileError::Io { path: self.folder.clone(), source }),
        };
        let mut segments = Vec::new();
        for name in names {
            let Some(base) = base_of(&name) else { continue };
            if name.ends_with(".tmp") || base > self.end.segment || self.end.position == 0 {
                self.remove(&name)?;
            } else if base < self.end.segment && name.ends_with(".log") {
                segments.push(self.segment(base, WHOLE));
            }
        }
        segments.iter().for_each(|segment| segment.seal());
        if self.end.position > 0 {
            let active = self.segment(self.end.segment, self.end.position);
            active.settle()?;
            segments.push(active);
        }
        Ok(segments)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.folder.join(name);
        self.shelf.disk.remove_file(&path).map_err(FileError::io(&path))?;
        self.shelf.dirty.add_folder(self.folder.clone(), self.gone.clone());
        Ok(())
    }
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
    segment: &Segment,
    span: Span,
    time: Timestamp,
    decoded_bytes_max: usize,
) -> Result<Option<RecordTime>, FileError> {
    let damaged = |error: BatchError| FileError::damaged(segment.path(), span.position, error.to_string());
    let records = records(&segment.bytes(span.position, span.end())?, decoded_bytes_max).map_err(damaged)?;
    for record in &records {
        let record = record.map_err(damaged)?;
        if record.timestamp >= time.0 {
            return Ok(Some(RecordTime { offset: Offset(record.offset), timestamp: Timestamp(record.timestamp) }));
        }
    }
    Ok(None)
}

/// The base offset in the name of a segment's log, of its index, or of one in the making.
pub fn base_of(name: &str) -> Option<Offset> {
    let (digits, kind) = name.split_once('.')?;
    let ours = digits.len() == 20 && matches!(kind, "log" | "index" | "index.tmp");
    ours.then(|| digits.parse().ok().map(Offset)).flatten()
}

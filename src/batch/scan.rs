//! One pass over the records of a produced batch: checks each and collects what the broker must know. Copies nothing
//! and allocates only to complain or for a label.

use super::attributes::TimestampType;
use super::check::Limits;
use super::error::{BatchError, RecordError};
use super::header::BatchHeader;
use super::raw::{RawRecord, read_header};
use super::varint::Cursor;

/// Header on a stream's first record that names the stream.
pub const STREAM_HEADER: &str = "streamstack-stream";
/// Header on a batch's last record that seals the stream with it.
pub const SEAL_HEADER: &str = "streamstack-seal";

/// Complaints about single records that are collected; a client that gets them all wrong learns nothing from the rest.
const RECORD_ERRORS_MAX: usize = 100;
/// Labels go into manifests and names.
const LABEL_BYTES_MAX: usize = 1024;

/// What was seen in a batch's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The greatest timestamp of a record; -1 when none has one.
    pub max_timestamp: i64,
    /// The least one; -1 when some record has none.
    pub min_timestamp: i64,
    /// Records with a null value.
    pub tombstones: u32,
    /// The value of the first record's header `streamstack-stream`, if it has that header and the value is not empty.
    pub label: Option<String>,
    /// Set when the last record has the header `streamstack-seal`.
    pub seal: Option<Seal>,
}

/// A wish to seal the stream after this batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seal {
    /// The header's value, if it is not empty.
    pub label: Option<String>,
}

/// Scans `records`, decompressed, of a batch with this header.
pub(super) fn scan(header: &BatchHeader, records: &[u8], limits: &Limits) -> Result<Facts, BatchError> {
    let count = header.record_count;
    let mut scan = Scan::new(header, limits);
    let mut input = Cursor::new(records);
    for index in 0..count {
        let record = RawRecord::read(&mut input)
            .and_then(|record| if record.offset_delta == index { Ok(record) } else { Err("its offset is not dense") })
            .map_err(|reason| BatchError::MalformedRecord { index, count, reason })?;
        scan.record(index, &record);
        if record.num_headers > 0 {
            scan.headers(index, &record)?;
        }
    }
    if !input.is_empty() {
        return Err(BatchError::TrailingRecords { bytes: input.rest().len(), count });
    }
    scan.finish()
}

struct Scan<'a> {
    header: &'a BatchHeader,
    limits: &'a Limits,
    /// Timestamps outside are refused.
    timestamp_min: i64,
    timestamp_max: i64,
    facts: Facts,
    missing_keys: Vec<RecordError>,
    bad_timestamps: Vec<RecordError>,
}

impl<'a> Scan<'a> {
    fn new(header: &'a BatchHeader, limits: &'a Limits) -> Scan<'a> {
        let facts = Facts { max_timestamp: NO_TIMESTAMP, min_timestamp: i64::MAX, ..Facts::default() };
        let (timestamp_min, timestamp_max) = limits.timestamps();
        Scan {
            header,
            limits,
            timestamp_min,
            timestamp_max,
            facts,
            missing_keys: Vec::new(),
            bad_timestamps: Vec::new(),
        }
    }

    #[inline(always)]
    fn record(&mut self, index: i32, record: &RawRecord<'_>) {
        let timestamp = self.header.base_timestamp.wrapping_add(record.timestamp_delta);
        self.facts.max_timestamp = self.facts.max_timestamp.max(timestamp);
        self.facts.min_timestamp = self.facts.min_timestamp.min(timestamp);
        self.facts.tombstones += u32::from(record.value.is_none());
        if timestamp < self.timestamp_min || timestamp > self.timestamp_max {
            self.bad_timestamp(index, timestamp);
        }
        if record.key.is_none() && self.limits.compacted {
            complain(&mut self.missing_keys, index, || "a compacted topic takes no record without a key".to_owned());
        }
    }

    #[cold]
    fn bad_timestamp(&mut self, index: i32, timestamp: i64) {
        if timestamp == NO_TIMESTAMP {
            return;
        }
        let (min, max) = (self.timestamp_min, self.timestamp_max);
        complain(&mut self.bad_timestamps, index, || {
            format!("timestamp {timestamp} is out of range: the topic takes {min} to {max} now")
        });
    }

    fn headers(&mut self, index: i32, record: &RawRecord<'_>) -> Result<(), BatchError> {
        if index == 0
            && let Some(value) = last_header(record, STREAM_HEADER)
        {
            self.facts.label = label(index, STREAM_HEADER, value)?;
        }
        if index == self.header.record_count - 1
            && let Some(value) = last_header(record, SEAL_HEADER)
        {
            self.facts.seal = Some(Seal { label: label(index, SEAL_HEADER, value)? });
        }
        Ok(())
    }

    fn finish(self) -> Result<Facts, BatchError> {
        if !self.missing_keys.is_empty() {
            return Err(BatchError::InvalidRecords { errors: self.missing_keys });
        }
        if !self.bad_timestamps.is_empty() {
            return Err(BatchError::InvalidTimestamps { errors: self.bad_timestamps });
        }
        Ok(self.facts)
    }
}

/// What a record without a timestamp carries.
const NO_TIMESTAMP: i64 = -1;

impl Limits {
    /// The least and the greatest timestamp that a producer may give to a record.
    fn timestamps(&self) -> (i64, i64) {
        match self.timestamp_type {
            TimestampType::Create => {
                (self.now_ms.saturating_sub(self.before_max_ms), self.now_ms.saturating_add(self.after_max_ms))
            }
            TimestampType::LogAppend => (i64::MIN, i64::MAX),
        }
    }
}

#[cold]
fn complain(errors: &mut Vec<RecordError>, index: i32, message: impl FnOnce() -> String) {
    if errors.len() < RECORD_ERRORS_MAX {
        errors.push(RecordError { index, message: message() });
    }
}

/// The value of the last header with this key; headers may repeat, and Kafka's clients then take the last.
fn last_header<'a>(record: &RawRecord<'a>, key: &str) -> Option<Option<&'a [u8]>> {
    let mut input = Cursor::new(record.headers);
    let mut found = None;
    while let Ok((header_key, value)) = read_header(&mut input) {
        if header_key == key.as_bytes() {
            found = Some(value);
        }
    }
    found
}

fn label(index: i32, header: &'static str, value: Option<&[u8]>) -> Result<Option<String>, BatchError> {
    let value = value.unwrap_or_default();
    let refuse = |reason| BatchError::Label { index, header, reason };
    if value.len() > LABEL_BYTES_MAX {
        return Err(refuse("is longer than 1024 bytes"));
    }
    let text = std::str::from_utf8(value).map_err(|_| refuse("is not UTF-8"))?;
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

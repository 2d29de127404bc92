//! The sparse index of a segment: about one row a 4 KiB of log, in memory for the segment written to,
//! in a `.index` file for the others. It can always be rebuilt by reading the segment.
//!
//! ```text
//! 0   8  "SSINDEX1"
//! 8   8  base offset of the segment
//! 16  8  bytes of the segment that are covered
//! 24  8  one past the last offset covered
//! 32  8  greatest timestamp covered
//! 40  4  number of rows
//! 44  4  crc32c of everything else
//! 48     rows of 24 bytes: base offset of a batch, greatest timestamp before it, its position
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::model::{Offset, Timestamp};

const MAGIC: &[u8; 8] = b"SSINDEX1";
const HEADER_BYTES: usize = 48;
const CRC_AT: usize = 44;
const ROW_BYTES: usize = 24;
/// A row is added once this much log came since the last one, as in Kafka.
const INTERVAL_BYTES: u64 = 4096;

/// A batch's place: where a scan for an offset, a time or a position may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexRow {
    pub offset: Offset,
    /// The greatest timestamp of all batches before this one.
    pub max_before: Timestamp,
    pub position: u64,
}

/// The index of the first `covered` bytes of a segment.
#[derive(Clone, Debug)]
pub struct Index {
    rows: Rows,
    pub covered: u64,
    /// One past the last offset covered.
    pub next_offset: Offset,
    pub max_timestamp: Timestamp,
    /// Made from batches one of which is damaged.
    pub is_flawed: bool,
}

#[derive(Clone, Debug)]
enum Rows {
    Grown(Vec<IndexRow>),
    Stored(Bytes),
}

impl Index {
    /// The index of an empty segment.
    pub fn new(base_offset: Offset) -> Index {
        Index {
            rows: Rows::Grown(Vec::new()),
            covered: 0,
            next_offset: base_offset,
            max_timestamp: Timestamp(i64::MIN),
            is_flawed: false,
        }
    }

    /// Takes note of the batch `[base_offset, end_offset)` of `num_bytes` bytes that follows what is covered.
    pub fn add(&mut self, base_offset: Offset, end_offset: Offset, max_timestamp: Timestamp, num_bytes: u64) {
        let row = IndexRow { offset: base_offset, max_before: self.max_timestamp, position: self.covered };
        let due = self.last().is_none_or(|last| self.covered - last.position >= INTERVAL_BYTES);
        if let Rows::Grown(rows) = &mut self.rows
            && due
        {
            rows.push(row);
        }
        self.covered += num_bytes;
        self.next_offset = end_offset;
        self.max_timestamp = self.max_timestamp.max(max_timestamp);
    }

    /// The last row whose batch starts at or below `offset`.
    pub fn at_offset(&self, offset: Offset) -> Option<IndexRow> {
        self.last_where(|row| row.offset <= offset)
    }

    /// The last row whose batch starts at or before both `position` and `offset`.
    pub fn at_position(&self, position: u64, offset: Offset) -> Option<IndexRow> {
        self.last_where(|row| row.position <= position && row.offset <= offset)
    }

    /// The last row before which every timestamp is less than `time`.
    pub fn before_time(&self, time: Timestamp) -> Option<IndexRow> {
        self.last_where(|row| row.max_before < time)
    }

    /// True when this index, of a whole segment, has no row that contradicts `row` of another one of the same segment.
    pub fn max_before_is(&self, row: &IndexRow) -> bool {
        self.at_position(row.position, Offset(i64::MAX)).is_none_or(|own| {
            if own.position == row.position {
                own == *row
            } else {
                own.max_before <= row.max_before && own.offset < row.offset
            }
        })
    }

    /// Where a row lies in the file.
    pub fn byte_of_row(number: usize) -> u64 {
        (HEADER_BYTES + number * ROW_BYTES) as u64
    }

    pub fn num_rows(&self) -> usize {
        match &self.rows {
            Rows::Grown(rows) => rows.len(),
            Rows::Stored(bytes) => bytes.len() / ROW_BYTES,
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = IndexRow> + '_ {
        (0..self.num_rows()).map(|number| self.row(number))
    }

    /// The part of this index that speaks of the first `end` bytes, up to its last row: the batch of that
    /// row and those after it must be added again.
    pub fn cut(&self, end: u64, base_offset: Offset) -> Index {
        let mut rows: Vec<IndexRow> = self.rows().filter(|row| row.position < end).collect();
        match rows.pop() {
            None => Index::new(base_offset),
            Some(last) => Index {
                rows: Rows::Grown(rows),
                covered: last.position,
                next_offset: last.offset,
                max_timestamp: last.max_before,
                is_flawed: self.is_flawed,
            },
        }
    }

    pub fn encode(&self, base_offset: Offset) -> Bytes {
        let mut buf = BytesMut::with_capacity(HEADER_BYTES + self.num_rows() * ROW_BYTES);
        buf.put_slice(MAGIC);
        buf.put_i64(base_offset.0);
        buf.put_u64(self.covered);
        buf.put_i64(self.next_offset.0);
        buf.put_i64(self.max_timestamp.0);
        buf.put_u32(self.num_rows() as u32);
        buf.put_u32(0);
        for row in self.rows() {
            buf.put_i64(row.offset.0);
            buf.put_i64(row.max_before.0);
            buf.put_u64(row.position);
        }
        let crc = checksum(&buf);
        buf[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_be_bytes());
        buf.freeze()
    }

    /// The index in `bytes`, or what is wrong with it.
    pub fn decode(bytes: &Bytes, base_offset: Offset) -> Result<Index, &'static str> {
        if bytes.len() < HEADER_BYTES || &bytes[..8] != MAGIC {
            return Err("no index header");
        }
        let mut header = &bytes[8..HEADER_BYTES];
        let base = header.get_i64();
        let (covered, next_offset, max_timestamp) = (header.get_u64(), header.get_i64(), header.get_i64());
        let (num_rows, crc) = (header.get_u32(), header.get_u32());
        if bytes.len() != HEADER_BYTES + num_rows as usize * ROW_BYTES {
            return Err("wrong length");
        }
        if crc != checksum(bytes) {
            return Err("wrong checksum");
        }
        if base != base_offset.0 {
            return Err("index of another segment");
        }
        Ok(Index {
            rows: Rows::Stored(bytes.slice(HEADER_BYTES..)),
            covered,
            next_offset: Offset(next_offset),
            max_timestamp: Timestamp(max_timestamp),
            is_flawed: false,
        })
    }

    fn last(&self) -> Option<IndexRow> {
        self.num_rows().checked_sub(1).map(|number| self.row(number))
    }

    /// The last of the rows for which `holds`, which is true for a first part of them and false for the rest.
    fn last_where(&self, holds: impl Fn(IndexRow) -> bool) -> Option<IndexRow> {
        let (mut low, mut high) = (0, self.num_rows());
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.row(middle)) { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1).map(|number| self.row(number))
    }

    fn row(&self, number: usize) -> IndexRow {
        match &self.rows {
            Rows::Grown(rows) => rows[number],
            Rows::Stored(bytes) => {
                let mut row = &bytes[number * ROW_BYTES..][..ROW_BYTES];
                IndexRow {
                    offset: Offset(row.get_i64()),
                    max_before: Timestamp(row.get_i64()),
                    position: row.get_u64(),
                }
            }
        }
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..CRC_AT]), &bytes[HEADER_BYTES..])
}

//! A record batch (magic 2, no compression, no producer id) to fill a broker with.

use std::time::{SystemTime, UNIX_EPOCH};

use super::buffer::Buffer;

/// `count` records without keys, with values of `size` letters that hardly compress.
pub fn batch(count: usize, size: usize) -> Vec<u8> {
    let mut letters = Letters(0x9E37_79B9_7F4A_7C15);
    let mut records = Buffer::default();
    for index in 0..count {
        let value: Vec<u8> = (0..size).map(|_| letters.next()).collect();
        let mut record = Buffer::default();
        record.i8(0).varint(0).varint(index as i64).varint(-1).varint(size as i64).raw(&value).varint(0);
        records.varint(record.0.len() as i64).raw(&record.0);
    }
    framed(count, &records.0)
}

/// Puts the batch's head in front: base offset, length, leader epoch, magic, crc32c, and what the crc covers.
fn framed(count: usize, records: &[u8]) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64);
    let mut covered = Buffer::default();
    covered.i16(0).i32(count as i32 - 1).i64(now).i64(now).i64(-1).i16(-1).i32(-1).i32(count as i32).raw(records);
    let mut batch = Buffer::default();
    batch.i64(0).i32((4 + 1 + 4 + covered.0.len()) as i32).i32(-1).i8(2);
    batch.i32(crc32c::crc32c(&covered.0) as i32).raw(&covered.0);
    batch.0
}

/// xorshift: the same letters in every run.
struct Letters(u64);

impl Letters {
    fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        b'A' + (self.0 % 26) as u8
    }
}

//! A record batch (magic 2, no compression) to fill a broker with.

use std::time::{SystemTime, UNIX_EPOCH};

use super::buffer::Buffer;

/// The producer of a batch in a transaction, and the sequence of its first record.
#[derive(Clone, Copy)]
pub struct Writer {
    pub producer: i64,
    pub epoch: i16,
    pub sequence: i32,
}

/// `count` records without keys, with values of `size` letters that hardly compress, of no producer in particular.
pub fn batch(count: usize, size: usize) -> Vec<u8> {
    batch_of(None, count, size)
}

/// The same of a producer.
pub fn batch_of(writer: Option<Writer>, count: usize, size: usize) -> Vec<u8> {
    let mut letters = Letters(0x9E37_79B9_7F4A_7C15);
    let mut records = Buffer::default();
    for index in 0..count {
        let value: Vec<u8> = (0..size).map(|_| letters.next()).collect();
        let mut record = Buffer::default();
        record.i8(0).varint(0).varint(index as i64).varint(-1).varint(size as i64).raw(&value).varint(0);
        records.varint(record.0.len() as i64).raw(&record.0);
    }
    framed(writer, count, &records.0)
}

/// A batch of these keys and values, of no producer in particular.
pub fn batch_with<'a>(records: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let (mut count, mut written, mut record) = (0, Buffer::default(), Buffer::default());
    for (key, value) in records {
        record.0.clear();
        record.i8(0).varint(0).varint(count as i64).varint(key.len() as i64).raw(key);
        record.varint(value.len() as i64).raw(value).varint(0);
        written.varint(record.0.len() as i64).raw(&record.0);
        count += 1;
    }
    framed(None, count, &written.0)
}

/// Puts the batch's head in front: base offset, length, leader epoch, magic, crc32c, and what the crc covers.
fn framed(writer: Option<Writer>, count: usize, records: &[u8]) -> Vec<u8> {
    const TRANSACTIONAL: i16 = 1 << 4;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64);
    let mut covered = Buffer::default();
    let attributes = if writer.is_some() { TRANSACTIONAL } else { 0 };
    let Writer { producer, epoch, sequence } = writer.unwrap_or(Writer { producer: -1, epoch: -1, sequence: -1 });
    covered.i16(attributes).i32(count as i32 - 1).i64(now).i64(now).i64(producer).i16(epoch).i32(sequence);
    covered.i32(count as i32).raw(records);
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

//! The records of uncompressed batches.

use super::answer::i32_at;

/// Bytes of a batch before its records.
const HEAD: usize = 61;

/// A record's key and value; empty where it has none.
pub struct Record<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
}

/// Gives each record of the whole batches in `batches` to `visit`.
pub fn records<'a>(batches: &'a [u8], mut visit: impl FnMut(Record<'a>)) {
    let mut at = 0;
    while let (Ok(length), Ok(count)) = (i32_at(batches, at + 8), i32_at(batches, at + 57)) {
        let end = at + 12 + length as usize;
        let Some(batch) = batches.get(at + HEAD..end) else { return };
        let mut rest = Bytes(batch);
        for _ in 0..count {
            rest.varint();
            rest.take(1);
            rest.varint();
            rest.varint();
            let key = rest.field();
            let value = rest.field();
            for _ in 0..rest.varint() {
                rest.field();
                rest.field();
            }
            visit(Record { key, value });
        }
        at = end;
    }
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn varint(&mut self) -> i64 {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.take(1)[0];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return (value >> 1) as i64 ^ -((value & 1) as i64);
            }
        }
    }

    fn field(&mut self) -> &'a [u8] {
        let len = self.varint().max(0) as usize;
        self.take(len)
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }
}

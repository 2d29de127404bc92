//! Zigzag varints, and a cursor that never reads past its end.

/// Reads from a slice, front to back. `None` means that the bytes end too early or that a varint is too long.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline(always)]
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    #[inline(always)]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    #[inline(always)]
    pub fn varint(&mut self) -> Option<i32> {
        match self.short() {
            Some(value) => Some(unzigzag_32(value)),
            None => u32::try_from(self.unsigned(5)?).ok().map(unzigzag_32),
        }
    }

    #[inline(always)]
    pub fn varlong(&mut self) -> Option<i64> {
        match self.short() {
            Some(value) => Some(unzigzag_64(u64::from(value))),
            None => self.unsigned(10).map(unzigzag_64),
        }
    }

    /// A value of one byte or two, as nearly all lengths and deltas are; reads nothing if it is longer.
    #[inline(always)]
    fn short(&mut self) -> Option<u32> {
        match *self.rest {
            [first, ref rest @ ..] if first < 0x80 => {
                self.rest = rest;
                Some(u32::from(first))
            }
            [first, second, ref rest @ ..] if second < 0x80 => {
                self.rest = rest;
                Some(u32::from(first & 0x7f) | u32::from(second) << 7)
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn unsigned(&mut self, bytes_max: usize) -> Option<u64> {
        let mut value = 0u64;
        for (n, &byte) in self.rest.iter().take(bytes_max).enumerate() {
            let bits = u64::from(byte & 0x7f);
            let placed = bits << (7 * n);
            if placed >> (7 * n) != bits {
                return None;
            }
            value |= placed;
            if byte < 0x80 {
                self.rest = &self.rest[n + 1..];
                return Some(value);
            }
        }
        None
    }
}

fn unzigzag_32(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

fn unzigzag_64(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(super) fn put_varint(out: &mut Vec<u8>, value: i32) {
    put_unsigned(out, u64::from(((value << 1) ^ (value >> 31)) as u32));
}

pub(super) fn put_varlong(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_bytes() {
        for (value, bytes) in
            [(0, &[0u8][..]), (-1, &[1]), (1, &[2]), (-64, &[0x7f]), (64, &[0x80, 1]), (300, &[0xd8, 4])]
        {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out, bytes, "{value}");
        }
    }

    #[test]
    fn too_long_and_cut_varints_are_refused() {
        let longer_than_five = [0x80, 0x80, 0x80, 0x80, 0x80, 0];
        let more_than_32_bits = [0xff, 0xff, 0xff, 0xff, 0x1f];
        for bytes in [&longer_than_five[..], &more_than_32_bits, &[0x80], &[]] {
            assert_eq!(Cursor::new(bytes).varint(), None, "{bytes:?}");
        }
        assert_eq!(Cursor::new(&[0xff; 11]).varlong(), None);
        assert_eq!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varlong(), None);
    }

    proptest! {
        #[test]
        fn round_trip(int: i32, long: i64) {
            let mut out = Vec::new();
            put_varint(&mut out, int);
            put_varlong(&mut out, long);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.varint(), Some(int));
            prop_assert_eq!(cursor.varlong(), Some(long));
            prop_assert!(cursor.is_empty());
        }
    }
}

//! Reads Kafka's primitive types from bytes that nobody vouches for. Allocates nothing.

/// What is wrong with bytes from the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{needed} bytes needed, {left} left")]
    Short { needed: usize, left: usize },
    #[error("negative length {0}")]
    NegativeLength(i32),
    #[error("a varint longer than 32 bits")]
    LongVarint,
    #[error("a string of {len} bytes, where 32767 is the most")]
    LongString { len: u32 },
    #[error("null where the protocol has no null")]
    Null,
    #[error("{count} elements in {left} bytes")]
    Count { count: u32, left: usize },
    #[error("not UTF-8")]
    NotUtf8,
    #[error("tag {tag} after tag {before}: tags ascend")]
    TagOrder { tag: u32, before: u32 },
    #[error("tag {tag} says {said} bytes and takes {taken}")]
    TagLength { tag: u32, said: usize, taken: usize },
    #[error("tag {tag} does not belong to this version")]
    TagVersion { tag: u32 },
    #[error("{0} stands for neither null nor a value")]
    Presence(i8),
    #[error("{0} bytes more than the request has")]
    Trailing(usize),
    #[error("it would take {needed} bytes of memory, {max} are allowed")]
    Costly { needed: usize, max: usize },
    #[error("version {0} has no schema")]
    Version(i16),
}

/// A position in bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// How many bytes are read.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// What is not read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let taken = self.bytes.get(self.at..self.at.saturating_add(len));
        let taken = taken.ok_or(Fault::Short { needed: len, left: self.left() })?;
        self.at += len;
        Ok(taken)
    }

    pub fn i8(&mut self) -> Result<i8, Fault> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    pub fn i16(&mut self) -> Result<i16, Fault> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> Result<i32, Fault> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Up to 5 bytes, 7 bits each, the lowest first.
    pub fn varint(&mut self) -> Result<u32, Fault> {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::LongVarint)
    }

    /// The length of a compact string, of bytes or of an array: one more than it is, 0 for null.
    pub fn compact_length(&mut self) -> Result<Option<u32>, Fault> {
        Ok(self.varint()?.checked_sub(1))
    }

    /// The length of a string before flexible versions.
    pub fn short_length(&mut self) -> Result<Option<u32>, Fault> {
        signed_length(self.i16()?.into())
    }

    /// The length of bytes or of an array before flexible versions.
    pub fn long_length(&mut self) -> Result<Option<u32>, Fault> {
        signed_length(self.i32()?)
    }

    /// A string of known length.
    pub fn utf8(&mut self, len: usize) -> Result<&'a str, Fault> {
        std::str::from_utf8(self.take(len)?).map_err(|_| Fault::NotUtf8)
    }

    /// Tagged fields: `known` is asked for each, reads it if it knows it, and says so; others are passed over.
    pub fn tags(&mut self, mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, Fault>) -> Result<u32, Fault> {
        let count = self.varint()?;
        // A tag and a length, a byte each at the least.
        if count as usize > self.left() / 2 {
            return Err(Fault::Count { count, left: self.left() });
        }
        let mut before = None;
        for _ in 0..count {
            let (tag, said) = (self.varint()?, self.varint()? as usize);
            if let Some(before) = before.filter(|before| tag <= *before) {
                return Err(Fault::TagOrder { tag, before });
            }
            before = Some(tag);
            self.tag(tag, said, &mut known)?;
        }
        Ok(count)
    }

    fn tag(
        &mut self,
        tag: u32,
        said: usize,
        known: &mut impl FnMut(u32, &mut Reader<'a>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        if said > self.left() {
            return Err(Fault::Short { needed: said, left: self.left() });
        }
        let start = self.at;
        if !known(tag, self)? {
            self.take(said)?;
        }
        // The decoder reads a field that it knows without looking at the length, and would lose its place.
        let taken = self.at - start;
        if taken == said { Ok(()) } else { Err(Fault::TagLength { tag, said, taken }) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let array = self.bytes[self.at..].first_chunk().ok_or(Fault::Short { needed: N, left: self.left() })?;
        self.at += N;
        Ok(*array)
    }
}

fn signed_length(length: i32) -> Result<Option<u32>, Fault> {
    match length {
        -1 => Ok(None),
        length => u32::try_from(length).map(Some).map_err(|_| Fault::NegativeLength(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_32_bits_and_no_more() {
        let read = |bytes: &[u8]| Reader::new(bytes).varint();
        assert_eq!(read(&[0x00]), Ok(0));
        assert_eq!(read(&[0xac, 0x02]), Ok(300));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f]), Err(Fault::LongVarint));
        assert_eq!(read(&[0x80; 10]), Err(Fault::LongVarint));
        assert_eq!(read(&[0x80]), Err(Fault::Short { needed: 1, left: 0 }));
    }

    #[test]
    fn lengths_and_nulls() {
        assert_eq!(Reader::new(&[0xff, 0xff]).short_length(), Ok(None));
        assert_eq!(Reader::new(&[0xff, 0xfe]).short_length(), Err(Fault::NegativeLength(-2)));
        assert_eq!(Reader::new(&[0x80, 0, 0, 0]).long_length(), Err(Fault::NegativeLength(i32::MIN)));
        assert_eq!(Reader::new(&[0]).compact_length(), Ok(None));
        assert_eq!(Reader::new(&[3]).compact_length(), Ok(Some(2)));
    }

    #[test]
    fn tags_ascend_and_fill_their_lengths() {
        let read = |bytes: &[u8]| Reader::new(bytes).tags(|tag, inner| Ok(tag == 1 && inner.i16().is_ok()));
        assert_eq!(read(&[0]), Ok(0));
        assert_eq!(read(&[2, 0, 1, 9, 1, 2, 9, 9]), Ok(2));
        assert_eq!(read(&[2, 0, 0, 0, 0]), Err(Fault::TagOrder { tag: 0, before: 0 }));
        assert_eq!(read(&[1, 1, 3, 9, 9, 9]), Err(Fault::TagLength { tag: 1, said: 3, taken: 2 }));
        assert_eq!(read(&[1, 5, 4, 9]), Err(Fault::Short { needed: 4, left: 1 }));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1]), Err(Fault::Count { count: u32::MAX, left: 1 }));
    }
}

//! Fields: how numbers, texts, options and maps are put and taken. Every length is checked against the bytes that are there.

use std::collections::BTreeMap;

use bytes::{Buf, BufMut, Bytes};
use uuid::Uuid;

use super::super::feed::HistoryStart;
use super::super::ids::{CommitNumber, Timestamp};
use super::CodecError;

/// Takes fields from bytes, and knows at which byte it is.
pub(in crate::model) struct Reader {
    bytes: Bytes,
    end: usize,
}

impl Reader {
    pub(in crate::model) fn new(bytes: Bytes) -> Reader {
        Reader { end: bytes.len(), bytes }
    }

    pub(in crate::model) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The byte that comes next.
    pub(in crate::model) fn at(&self) -> usize {
        self.end - self.bytes.len()
    }

    /// A reader of the next `len` bytes alone.
    pub(in crate::model) fn part(&mut self, len: usize, what: &'static str) -> Result<Reader, CodecError> {
        let start = self.at();
        let bytes = self.bytes(len, what)?;
        Ok(Reader { end: start + bytes.len(), bytes })
    }

    pub(in crate::model) fn bytes(&mut self, len: usize, what: &'static str) -> Result<Bytes, CodecError> {
        if len > self.bytes.len() {
            return Err(CodecError::Short { at: self.at(), what });
        }
        Ok(self.bytes.split_to(len))
    }

    /// Bytes with their length before them, copied: they are kept, and would keep all that they stand in.
    pub(in crate::model) fn own_bytes(&mut self, what: &'static str) -> Result<Bytes, CodecError> {
        let len = self.u32(what)? as usize;
        Ok(Bytes::copy_from_slice(&self.bytes(len, what)?))
    }

    pub(in crate::model) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes)
    }

    /// The version, which must be this one.
    pub fn version(&mut self, only: u8, what: &'static str) -> Result<(), CodecError> {
        let at = self.at();
        match self.u8(what)? {
            version if version == only => Ok(()),
            version => Err(CodecError::Version { at, what, version }),
        }
    }

    /// Nothing may be left.
    pub(in crate::model) fn finish(self) -> Result<(), CodecError> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(CodecError::Excess { at: self.at(), left }),
        }
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], CodecError> {
        let mut array = [0; N];
        match self.bytes.try_copy_to_slice(&mut array) {
            Ok(()) => Ok(array),
            Err(_) => Err(CodecError::Short { at: self.at(), what }),
        }
    }

    pub(in crate::model) fn u8(&mut self, what: &'static str) -> Result<u8, CodecError> {
        Ok(u8::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn u32(&mut self, what: &'static str) -> Result<u32, CodecError> {
        Ok(u32::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn u64(&mut self, what: &'static str) -> Result<u64, CodecError> {
        Ok(u64::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn i16(&mut self, what: &'static str) -> Result<i16, CodecError> {
        Ok(i16::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn i32(&mut self, what: &'static str) -> Result<i32, CodecError> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn i64(&mut self, what: &'static str) -> Result<i64, CodecError> {
        Ok(i64::from_be_bytes(self.array(what)?))
    }

    pub(in crate::model) fn uuid(&mut self, what: &'static str) -> Result<Uuid, CodecError> {
        Ok(Uuid::from_bytes(self.array(what)?))
    }

    pub(in crate::model) fn bool(&mut self, what: &'static str) -> Result<bool, CodecError> {
        let at = self.at();
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(CodecError::Value { at, what, found: found.into() }),
        }
    }

    pub(in crate::model) fn text(&mut self, what: &'static str) -> Result<String, CodecError> {
        let len = self.u32(what)? as usize;
        let at = self.at();
        let bytes = self.bytes(len, what)?;
        String::from_utf8(bytes.into()).map_err(|_| CodecError::Text { at, what })
    }

    pub(in crate::model) fn option<T>(
        &mut self,
        what: &'static str,
        take: impl FnOnce(&mut Reader, &'static str) -> Result<T, CodecError>,
    ) -> Result<Option<T>, CodecError> {
        if self.bool(what)? { take(self, what).map(Some) } else { Ok(None) }
    }

    /// As many as a count before them says. Room is not made beforehand, for the count may lie.
    pub(in crate::model) fn list<C: Extend<T> + Default, T>(
        &mut self,
        what: &'static str,
        take: impl Fn(&mut Reader) -> Result<T, CodecError>,
    ) -> Result<C, CodecError> {
        let count = self.u32(what)?;
        let mut list = C::default();
        for _ in 0..count {
            list.extend([take(self)?]);
        }
        Ok(list)
    }

    pub(in crate::model) fn map(&mut self, what: &'static str) -> Result<BTreeMap<String, String>, CodecError> {
        self.list(what, |reader| Ok((reader.text(what)?, reader.text(what)?)))
    }
}

pub(in crate::model) fn put_bytes(out: &mut impl BufMut, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.put_slice(bytes);
}

pub(in crate::model) fn put_text(out: &mut impl BufMut, text: &str) {
    put_bytes(out, text.as_bytes());
}

pub(in crate::model) fn put_option<B: BufMut, T>(out: &mut B, value: Option<T>, put: impl FnOnce(&mut B, T)) {
    out.put_u8(value.is_some().into());
    if let Some(value) = value {
        put(out, value);
    }
}

pub(in crate::model) fn put_map(out: &mut impl BufMut, map: &BTreeMap<String, String>) {
    put_count(out, map.len());
    for (name, value) in map {
        put_text(out, name);
        put_text(out, value);
    }
}

pub(in crate::model) fn put_count(out: &mut impl BufMut, count: usize) {
    out.put_u32(u32::try_from(count).expect("what is counted here is bounded far below 2^32"));
}

pub(in crate::model) fn put_history(out: &mut impl BufMut, start: &HistoryStart) {
    out.put_i64(start.commit.0);
    out.put_i64(start.manifest.0);
    out.put_i64(start.manifest_sealed.0);
    out.put_i64(start.event);
    out.put_i64(start.whole.0);
}

pub(in crate::model) fn read_history(r: &mut Reader) -> Result<HistoryStart, CodecError> {
    Ok(HistoryStart {
        commit: CommitNumber(r.i64("a commit")?),
        manifest: CommitNumber(r.i64("a commit")?),
        manifest_sealed: Timestamp(r.i64("a time")?),
        event: r.i64("an event")?,
        whole: CommitNumber(r.i64("a commit")?),
    })
}

//! Checks a request's body against its schema before it is decoded.
//!
//! The decoders of `kafka-protocol` reserve memory for whatever count stands on the wire: 8 bytes can ask for gigabytes, and
//! that ends the process. So every length and count is held against the bytes that are there, and the memory that the
//! decoded request will take is counted first. What passes here decodes, in about the memory that was counted.

use super::reader::{Fault, Reader};
use super::schema::{Field, Kind, Schema};

/// Memory that a decoded request may take whatever its size.
const DECODED_MIN: usize = 16 << 20;

/// ... and for each of its bytes.
const DECODED_PER_BYTE: usize = 8;

/// ... and in all. The largest frames are of records, which are not copied.
const DECODED_MAX: usize = 256 << 20;

/// Longest string, as in the versions whose lengths have two bytes.
const STRING_BYTES_MAX: u32 = i16::MAX as u32;

/// Memory of a string or of bytes: a slice of the frame.
const SLICE_COST: usize = 32;

/// Memory of a tag that no decoder knows: an entry of a map, whose nodes are half full.
const TAG_COST: usize = 96;

/// Why a body is refused, and at which byte of it, in which field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}, field {field}: {fault}")]
pub struct GuardError {
    pub at: usize,
    pub field: &'static str,
    pub fault: Fault,
}

/// Checks that `body` starts with a request of that schema and version, whole and affordable. Tells how many bytes follow it.
///
/// They are passed over, as Kafka does: librdkafka 2.16 writes the null of "all topics" in Metadata 13 as four bytes where
/// the protocol has one, and the rest of its request then stands three bytes too late.
pub fn check(schema: &Schema, version: i16, body: &[u8]) -> Result<usize, GuardError> {
    let max = DECODED_PER_BYTE.saturating_mul(body.len()).saturating_add(DECODED_MIN).min(DECODED_MAX);
    let mut walk =
        Walk { version, flexible: schema.is_flexible(version), reader: Reader::new(body), cost: 0, max, field: "" };
    match walk.fields(schema.fields) {
        Ok(()) => Ok(walk.reader.left()),
        Err(fault) => Err(GuardError { at: walk.reader.at(), field: walk.field, fault }),
    }
}

struct Walk<'a> {
    version: i16,
    flexible: bool,
    reader: Reader<'a>,
    cost: usize,
    max: usize,
    /// The innermost field begun last, for the message.
    field: &'static str,
}

impl Walk<'_> {
    fn fields(&mut self, fields: &'static [Field]) -> Result<(), Fault> {
        let version = self.version;
        for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
            self.field = field.name;
            self.value(&field.kind, field.may_be_null(version))?;
        }
        if self.flexible { self.tags(fields) } else { Ok(()) }
    }

    fn tags(&mut self, fields: &'static [Field]) -> Result<(), Fault> {
        let Walk { version, flexible, max, .. } = *self;
        let mut inner_cost = 0;
        let count = self.reader.tags(|tag, reader| {
            let Some(field) = fields.iter().find(|field| field.tag == Some(tag)) else { return Ok(false) };
            if !field.is_in(version) {
                return Err(Fault::TagVersion { tag });
            }
            // A walk of its own over what is left, so that the field may hold anything that a body may.
            let rest = Reader::new(reader.rest());
            let mut inner = Walk { version, flexible, reader: rest, cost: inner_cost, max, field: field.name };
            inner.value(&field.kind, field.may_be_null(version))?;
            inner_cost = inner.cost;
            reader.take(inner.reader.at())?;
            Ok(true)
        })?;
        self.spend(inner_cost.saturating_add(TAG_COST.saturating_mul(count as usize)))
    }

    fn value(&mut self, kind: &'static Kind, may_be_null: bool) -> Result<(), Fault> {
        match kind {
            Kind::Fixed(len) => self.reader.take(*len).map(drop),
            Kind::String => {
                let len = if self.flexible { self.reader.compact_length()? } else { self.reader.short_length()? };
                let Some(len) = present(len, may_be_null)? else { return Ok(()) };
                // As Kafka: a compact length could say more, but no string of an older version can be that long.
                if len > STRING_BYTES_MAX {
                    return Err(Fault::LongString { len });
                }
                self.reader.utf8(len as usize).map(drop)
            }
            Kind::Bytes => match present(self.long_length()?, may_be_null)? {
                Some(len) => self.reader.take(len as usize).map(drop),
                None => Ok(()),
            },
            Kind::Array(element) => match present(self.long_length()?, may_be_null)? {
                Some(count) => self.elements(element, count),
                None => Ok(()),
            },
            Kind::Struct(fields) if may_be_null => match self.reader.i8()? {
                -1 => Ok(()),
                1 => self.fields(fields),
                other => Err(Fault::Presence(other)),
            },
            Kind::Struct(fields) => self.fields(fields),
        }
    }

    fn long_length(&mut self) -> Result<Option<u32>, Fault> {
        if self.flexible { self.reader.compact_length() } else { self.reader.long_length() }
    }

    fn elements(&mut self, element: &'static Kind, count: u32) -> Result<(), Fault> {
        let left = self.reader.left();
        if (count as usize).saturating_mul(self.len_min(element)) > left {
            return Err(Fault::Count { count, left });
        }
        self.spend((count as usize).saturating_mul(cost(element)))?;
        if let Kind::Fixed(len) = element {
            return self.reader.take(len * count as usize).map(drop);
        }
        (0..count).try_for_each(|_| self.value(element, false))
    }

    /// The fewest bytes that a value takes in this version. Never none, as every struct has a field or tags.
    fn len_min(&self, kind: &Kind) -> usize {
        match kind {
            Kind::Fixed(len) => *len,
            Kind::String if !self.flexible => 2,
            Kind::Bytes | Kind::Array(_) if !self.flexible => 4,
            Kind::String | Kind::Bytes | Kind::Array(_) => 1,
            Kind::Struct(fields) => {
                let here = fields.iter().filter(|field| field.tag.is_none() && field.is_in(self.version));
                here.map(|field| self.len_min(&field.kind)).sum::<usize>() + usize::from(self.flexible)
            }
        }
    }

    fn spend(&mut self, cost: usize) -> Result<(), Fault> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.max { Err(Fault::Costly { needed: self.cost, max: self.max }) } else { Ok(()) }
    }
}

fn present(len: Option<u32>, may_be_null: bool) -> Result<Option<u32>, Fault> {
    if len.is_none() && !may_be_null { Err(Fault::Null) } else { Ok(len) }
}

/// Memory of a decoded value itself: what an array of it reserves for each. All versions share one struct.
fn cost(kind: &Kind) -> usize {
    /// The map of unknown tags that every decoded struct has.
    const TAG_MAP: usize = 24;
    match kind {
        Kind::Fixed(len) => *len,
        Kind::String | Kind::Bytes => SLICE_COST,
        Kind::Array(_) => 24,
        Kind::Struct(fields) => {
            let sum: usize = fields.iter().map(|field| cost(&field.kind)).sum();
            (sum + TAG_MAP).next_multiple_of(8)
        }
    }
}

#[cfg(test)]
mod tests;

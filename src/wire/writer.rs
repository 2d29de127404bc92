//! Writes Kafka's primitive types, in the old or in the flexible encoding, as the version asks.

use bytes::{BufMut, Bytes, BytesMut};
use uuid::Uuid;

use super::response::ResponseHead;

const LENGTH_LEN: usize = 4;

/// A response on its way into a frame.
pub(super) struct Writer {
    bytes: BytesMut,
    flexible: bool,
}

impl Writer {
    /// Begins a frame: room for its length, and the header. The header has tags exactly when the body is flexible.
    pub fn begin(head: ResponseHead, capacity: usize) -> Writer {
        let mut bytes = BytesMut::with_capacity(capacity);
        bytes.put_i32(0);
        bytes.put_i32(head.correlation_id);
        let mut writer = Writer { bytes, flexible: head.tagged };
        writer.no_tags();
        writer
    }

    /// Where the next byte goes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Ends a frame of which `elsewhere` bytes are sent from other places.
    pub fn finish(mut self, elsewhere: usize) -> Bytes {
        let len = i32::try_from(self.bytes.len() - LENGTH_LEN + elsewhere).expect("a response is smaller than 2 GiB");
        self.bytes[..LENGTH_LEN].copy_from_slice(&len.to_be_bytes());
        self.bytes.freeze()
    }

    pub fn i16(&mut self, value: i16) {
        self.bytes.put_i16(value);
    }

    pub fn i32(&mut self, value: i32) {
        self.bytes.put_i32(value);
    }

    pub fn i64(&mut self, value: i64) {
        self.bytes.put_i64(value);
    }

    pub fn uuid(&mut self, value: &Uuid) {
        self.bytes.put_slice(value.as_bytes());
    }

    pub fn string(&mut self, value: &str) {
        self.nullable_string(Some(value));
    }

    pub fn nullable_string(&mut self, value: Option<&str>) {
        let len = value.map(str::len);
        if self.flexible {
            self.compact_length(len);
        } else {
            let len = len.map_or(-1, |len| i16::try_from(len).expect("a string is shorter than 32 KiB"));
            self.bytes.put_i16(len);
        }
        self.bytes.put_slice(value.unwrap_or_default().as_bytes());
    }

    /// The length of an array or of bytes, which the caller writes next; none for null.
    pub fn length(&mut self, len: Option<usize>) {
        if self.flexible {
            self.compact_length(len);
        } else {
            self.bytes.put_i32(len.map_or(-1, |len| i32::try_from(len).expect("a response is smaller than 2 GiB")));
        }
    }

    /// The end of a struct that has no tagged field.
    pub fn no_tags(&mut self) {
        if self.flexible {
            self.bytes.put_u8(0);
        }
    }

    fn compact_length(&mut self, len: Option<usize>) {
        let mut value = len.map_or(0, |len| len + 1);
        while value >= 0x80 {
            self.bytes.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.put_u8(value as u8);
    }
}

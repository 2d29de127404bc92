//! Kafka's primitive types, appended to a buffer.

/// A growing request or batch.
#[derive(Default)]
pub struct Buffer(pub Vec<u8>);

impl Buffer {
    pub fn i8(&mut self, v: i8) -> &mut Buffer {
        self.raw(&v.to_be_bytes())
    }

    pub fn i16(&mut self, v: i16) -> &mut Buffer {
        self.raw(&v.to_be_bytes())
    }

    pub fn i32(&mut self, v: i32) -> &mut Buffer {
        self.raw(&v.to_be_bytes())
    }

    pub fn i64(&mut self, v: i64) -> &mut Buffer {
        self.raw(&v.to_be_bytes())
    }

    pub fn string(&mut self, v: &str) -> &mut Buffer {
        self.i16(v.len() as i16).raw(v.as_bytes())
    }

    pub fn bytes(&mut self, v: &[u8]) -> &mut Buffer {
        self.i32(v.len() as i32).raw(v)
    }

    pub fn raw(&mut self, v: &[u8]) -> &mut Buffer {
        self.0.extend_from_slice(v);
        self
    }

    /// A varint in zigzag form.
    pub fn varint(&mut self, v: i64) -> &mut Buffer {
        let mut rest = ((v << 1) ^ (v >> 63)) as u64;
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
        self
    }
}

//! The head of a request: key, version, correlation id; then the client's name, and tags in flexible versions.
//!
//! The first three are read on their own, so that even a request of an unknown key or version is answered or logged
//! under its correlation id.

use bytes::Bytes;
use kafka_protocol::protocol::StrBytes;

use super::reader::{Fault, Reader};

/// What every request begins with, in every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestStart {
    pub key: i16,
    pub version: i16,
    pub correlation_id: i32,
}

/// Why a head cannot be read, and at which byte of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("request header, byte {at}: {fault}")]
pub struct HeaderError {
    pub at: usize,
    pub fault: Fault,
}

impl RequestStart {
    /// Bytes of the frame that it takes.
    pub const LEN: usize = 8;

    /// Reads the first bytes of a frame.
    pub fn read(frame: &[u8]) -> Result<RequestStart, HeaderError> {
        let mut reader = Reader::new(frame);
        let mut read = || {
            let (key, version) = (reader.i16()?, reader.i16()?);
            Ok(RequestStart { key, version, correlation_id: reader.i32()? })
        };
        read().map_err(|fault| HeaderError { at: reader.at(), fault })
    }
}

/// The client's name and the body that follows it. `flexible`: the request's version has tagged fields.
pub fn split_body(mut frame: Bytes, flexible: bool) -> Result<(Option<StrBytes>, Bytes), HeaderError> {
    let mut reader = Reader::new(&frame);
    let (name, end) = match read_rest(&mut reader, flexible) {
        Ok(name) => (name, reader.at()),
        Err(fault) => return Err(HeaderError { at: reader.at(), fault }),
    };
    let body = frame.split_off(end);
    let client_id = name.map(|name| {
        let start = RequestStart::LEN + 2;
        StrBytes::try_from(frame.slice(start..start + name)).expect("read as UTF-8 above")
    });
    Ok((client_id, body))
}

/// The length of the client's name, which stays a string of the old kind in flexible versions (KIP-482): a broker reads
/// it before it knows the version.
fn read_rest(reader: &mut Reader<'_>, flexible: bool) -> Result<Option<usize>, Fault> {
    reader.take(RequestStart::LEN)?;
    let name = reader.short_length()?.map(|len| len as usize);
    reader.utf8(name.unwrap_or(0))?;
    if flexible {
        reader.tags(|_, _| Ok(false))?;
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(rest: &[u8]) -> Bytes {
        [&[0, 3, 0, 12, 0, 0, 0, 7], rest].concat().into()
    }

    #[test]
    fn the_start_is_read_whatever_follows() {
        let start = RequestStart { key: 3, version: 12, correlation_id: 7 };
        assert_eq!(RequestStart::read(&frame(&[0xff])), Ok(start));
        assert!(RequestStart::read(&[0, 3, 0]).is_err());
    }

    #[test]
    fn names_null_empty_and_given() {
        let split = |rest: &[u8], flexible| split_body(frame(rest), flexible).unwrap();
        assert_eq!(split(&[0xff, 0xff, 9], false), (None, Bytes::from_static(&[9])));
        assert_eq!(split(&[0, 0, 0, 9], true), (Some(StrBytes::default()), Bytes::from_static(&[9])));
        let (name, body) = split(&[0, 2, b'm', b'e', 1, 0, 1, 5, 9], true);
        assert_eq!((name.unwrap().as_str(), body), ("me", Bytes::from_static(&[9])));
    }

    #[test]
    fn hostile_names_and_tags_are_refused() {
        let fault = |rest: &[u8], flexible| split_body(frame(rest), flexible).unwrap_err().fault;
        assert_eq!(fault(&[0xff, 0xfe], false), Fault::NegativeLength(-2));
        assert_eq!(fault(&[0x7f, 0xff, 1], false), Fault::Short { needed: 0x7fff, left: 1 });
        assert_eq!(fault(&[0, 1, 0xff], false), Fault::NotUtf8);
        assert_eq!(fault(&[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f], true), Fault::Count { count: u32::MAX, left: 0 });
    }
}

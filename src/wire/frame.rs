//! Frames: a length of 4 bytes, big-endian, then as many bytes.
//!
//! The length is believed only as far as its bytes have come: a claimed 99 MiB takes no memory until it is sent.

use bytes::{Buf, Bytes, BytesMut};

/// Key, version and correlation id: no request is shorter.
pub const FRAME_LEN_MIN: usize = 8;

/// The length itself.
pub const LENGTH_LEN: usize = 4;

/// Why a connection has to be closed: what follows on it has no known begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("frame of {len} bytes: no request is shorter than {FRAME_LEN_MIN}")]
    TooShort { len: i32 },
    #[error("frame of {len} bytes: socket.request.max.bytes is {max}")]
    TooLong { len: i32, max: usize },
}

/// The next whole frame, without its length; `None` while bytes of it are missing.
pub fn split(inbox: &mut BytesMut, max: usize) -> Result<Option<Bytes>, FrameError> {
    let Some(len) = length(inbox, max)? else { return Ok(None) };
    if inbox.len() < LENGTH_LEN + len {
        return Ok(None);
    }
    inbox.advance(LENGTH_LEN);
    Ok(Some(inbox.split_to(len).freeze()))
}

/// The length of the frame at the start of `inbox`, when its first bytes have come and its last ones have not.
pub fn unfinished(inbox: &[u8], max: usize) -> Result<Option<usize>, FrameError> {
    Ok(length(inbox, max)?.filter(|len| inbox.len() < LENGTH_LEN + len))
}

fn length(inbox: &[u8], max: usize) -> Result<Option<usize>, FrameError> {
    let Some(prefix) = inbox.first_chunk() else { return Ok(None) };
    let len = i32::from_be_bytes(*prefix);
    match usize::try_from(len) {
        Ok(length) if length > max => Err(FrameError::TooLong { len, max }),
        Ok(length) if length >= FRAME_LEN_MIN => Ok(Some(length)),
        _ => Err(FrameError::TooShort { len }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(parts: &[&[u8]]) -> BytesMut {
        parts.concat().as_slice().into()
    }

    #[test]
    fn frames_are_cut_as_they_come() {
        let mut inbox = inbox(&[&8_i32.to_be_bytes(), b"12345678", &9_i32.to_be_bytes(), b"abcd"]);
        assert_eq!(split(&mut inbox, 100).unwrap().unwrap(), "12345678");
        assert_eq!(split(&mut inbox, 100), Ok(None));
        inbox.extend_from_slice(b"efghi\0\0");
        assert_eq!(split(&mut inbox, 100).unwrap().unwrap(), "abcdefghi");
        assert_eq!(split(&mut inbox, 100), Ok(None));
        assert_eq!(inbox.len(), 2);
    }

    #[test]
    fn a_length_that_no_request_has_is_refused_before_its_bytes_come() {
        for len in [i32::MIN, -1, 0, 7] {
            assert_eq!(split(&mut inbox(&[&len.to_be_bytes()]), 100), Err(FrameError::TooShort { len }));
        }
        for len in [101, i32::MAX] {
            assert_eq!(split(&mut inbox(&[&len.to_be_bytes()]), 100), Err(FrameError::TooLong { len, max: 100 }));
        }
        assert_eq!(split(&mut inbox(&[&100_i32.to_be_bytes()]), 100), Ok(None));
    }

    #[test]
    fn a_claimed_length_takes_no_memory() {
        let mut inbox = BytesMut::from(&(99_i32 << 20).to_be_bytes()[..]);
        let capacity = inbox.capacity();
        assert_eq!(split(&mut inbox, 100 << 20), Ok(None));
        assert_eq!(inbox.capacity(), capacity);
    }
}

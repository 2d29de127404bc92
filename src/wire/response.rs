//! Puts a response into a frame: length, header, body.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::protocol::Encodable;

/// What a response is an answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    pub correlation_id: i32,
    pub version: i16,
    /// The header has a (always empty) section of tags: in flexible versions, but never for ApiVersions.
    pub tagged: bool,
}

/// A response that its version has no room for; a fault of ours, not of the client.
#[derive(Debug, thiserror::Error)]
#[error("response cannot be encoded in version {version}: {reason}")]
pub struct EncodeError {
    pub version: i16,
    pub reason: String,
}

/// The frame, ready to be sent.
pub fn encode(head: ResponseHead, body: &impl Encodable) -> Result<Bytes, EncodeError> {
    let error = |reason: String| EncodeError { version: head.version, reason };
    let mut frame = BytesMut::with_capacity(256);
    frame.put_i32(0);
    frame.put_i32(head.correlation_id);
    if head.tagged {
        frame.put_u8(0);
    }
    body.encode(&mut frame, head.version).map_err(|reason| error(reason.to_string()))?;
    let len = i32::try_from(frame.len() - 4).map_err(|_| error("it is longer than a frame can be".to_owned()))?;
    frame[..4].copy_from_slice(&len.to_be_bytes());
    Ok(frame.freeze())
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::CreatePartitionsResponse;

    use super::*;

    #[test]
    fn length_header_and_body() {
        let body = CreatePartitionsResponse::default().with_throttle_time_ms(5);
        let frame = encode(ResponseHead { correlation_id: 7, version: 0, tagged: false }, &body).unwrap();
        assert_eq!(frame[..], [0, 0, 0, 12, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 0]);
        let frame = encode(ResponseHead { correlation_id: 7, version: 2, tagged: true }, &body).unwrap();
        assert_eq!(frame[..], [0, 0, 0, 11, 0, 0, 0, 7, 0, 0, 0, 0, 5, 1, 0]);
    }

    #[test]
    fn a_version_that_does_not_exist_is_an_error_not_a_panic() {
        let body = CreatePartitionsResponse::default();
        assert!(encode(ResponseHead { correlation_id: 7, version: 99, tagged: true }, &body).is_err());
    }
}

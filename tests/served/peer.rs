//! A client that sends what it is told, in any version, and expects answers that decode whole.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

/// Far longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Peer {
    pub stream: TcpStream,
    correlation_id: i32,
}

impl Peer {
    pub fn connect(address: &str) -> Peer {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Peer { stream, correlation_id: 0 }
    }

    /// Sends a request and waits for its answer.
    pub fn ask<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.send(version, request);
        self.answer::<R>(version)
    }

    /// As [`Peer::ask`]; none when the connection breaks off.
    pub fn try_ask<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.try_send(version, request).ok()?;
        self.try_answer::<R>(version)
    }

    pub fn send<R: Request>(&mut self, version: i16, request: &R) {
        self.try_send(version, request).unwrap();
    }

    fn try_send<R: Request>(&mut self, version: i16, request: &R) -> io::Result<()> {
        self.correlation_id += 1;
        self.stream.write_all(&encode(request, version, self.correlation_id))
    }

    /// The next answer, which belongs to the oldest request that has none.
    pub fn answer<R: Request>(&mut self, version: i16) -> R::Response {
        decode::<R>(self.receive().unwrap(), version).1
    }

    /// As [`Peer::answer`]; none when the connection breaks off.
    pub fn try_answer<R: Request>(&mut self, version: i16) -> Option<R::Response> {
        self.receive().ok().map(|frame| decode::<R>(frame, version).1)
    }

    /// The next answer's correlation id.
    pub fn next_correlation_id(&mut self) -> i32 {
        i32::from_be_bytes(*self.receive().unwrap().first_chunk().unwrap())
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Waits until the broker closes the connection (true) or answers (false): it must do one of the two.
    pub fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0; 16]) {
            Ok(answered) => answered == 0,
            Err(error) => {
                let hangs = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                assert!(!hangs, "neither answered nor closed");
                true
            }
        }
    }

    fn receive(&mut self) -> io::Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut answer)?;
        Ok(answer.into())
    }
}

/// A request as a frame.
pub fn encode<R: Request>(request: &R, version: i16, correlation_id: i32) -> BytesMut {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(correlation_id)
        .with_client_id(Some(StrBytes::from_static_str("peer")));
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    header.encode(&mut frame, R::header_version(version)).unwrap();
    request.encode(&mut frame, version).unwrap();
    let length = frame.len() as i32 - 4;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame
}

fn decode<R: Request>(mut answer: Bytes, version: i16) -> (i32, R::Response) {
    let api = ApiKey::try_from(R::KEY).unwrap();
    let header = ResponseHeader::decode(&mut answer, R::Response::header_version(version)).unwrap();
    let response = R::Response::decode(&mut answer, version);
    let response = response.unwrap_or_else(|error| panic!("{api:?} v{version}: {error}"));
    assert!(answer.is_empty(), "{api:?} v{version}: {} bytes behind the answer", answer.len());
    (header.correlation_id, response)
}

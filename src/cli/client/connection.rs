//! Requests and answers over one TCP connection.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

use super::error::ClientError;

/// A length above this is no answer of a broker.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// A blocking connection. After an error it is of no use any more.
pub struct Connection {
    address: String,
    stream: TcpStream,
    correlation_id: i32,
}

impl Connection {
    /// `connect_patience` is for each address that the name stands for, `answer_patience` for each answer.
    pub fn open(
        address: &str,
        connect_patience: Duration,
        answer_patience: Duration,
    ) -> Result<Connection, ClientError> {
        let stream = connect(address, connect_patience).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(answer_patience))?;
            stream.set_write_timeout(Some(answer_patience))?;
            Ok(stream)
        });
        let stream = stream.map_err(|source| ClientError::Unreachable { address: address.to_owned(), source })?;
        Ok(Connection { address: address.to_owned(), stream, correlation_id: 0 })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request and waits for its answer.
    pub fn ask<R: Request>(&mut self, version: i16, request: &R) -> Result<R::Response, ClientError> {
        self.tell(version, request)?;
        self.answer::<R>(version)
    }

    /// The answer to the request that was sent last.
    pub fn answer<R: Request>(&mut self, version: i16) -> Result<R::Response, ClientError> {
        let answer = self.receive().map_err(|source| self.lost::<R>(source))?;
        let (correlation_id, response) = decode::<R>(answer, version).map_err(|reason| self.garbled::<R>(reason))?;
        if correlation_id != self.correlation_id {
            return Err(self.garbled::<R>(format!("answer {correlation_id} to request {}", self.correlation_id)));
        }
        Ok(response)
    }

    /// Sends a request whose answer is not waited for here.
    pub fn tell<R: Request>(&mut self, version: i16, request: &R) -> Result<(), ClientError> {
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let frame = encode(request, version, self.correlation_id).map_err(|reason| self.garbled::<R>(reason))?;
        self.stream.write_all(&frame).map_err(|source| self.lost::<R>(source))
    }

    fn receive(&mut self) -> io::Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > ANSWER_BYTES_MAX {
            return Err(io::Error::other(format!("an answer of {length} bytes")));
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        Ok(answer.into())
    }

    fn lost<R: Request>(&self, source: io::Error) -> ClientError {
        let source = in_words(source);
        ClientError::Lost { address: self.address.clone(), api: api_name(R::KEY), source }
    }

    fn garbled<R: Request>(&self, reason: String) -> ClientError {
        ClientError::Garbled { address: self.address.clone(), api: api_name(R::KEY), reason }
    }
}

/// A socket's timeout is told as "resource temporarily unavailable".
fn in_words(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, "no answer in time")
        }
        io::ErrorKind::UnexpectedEof => io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"),
        _ => error,
    }
}

/// Tries each address that the name stands for.
fn connect(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
    for candidate in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&candidate, patience) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The request with its length and header.
fn encode<R: Request>(request: &R, version: i16, correlation_id: i32) -> Result<BytesMut, String> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(correlation_id)
        .with_client_id(Some(StrBytes::from_static_str("streamstack")));
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    header.encode(&mut frame, R::header_version(version)).map_err(|error| error.to_string())?;
    request.encode(&mut frame, version).map_err(|error| error.to_string())?;
    let length = i32::try_from(frame.len() - 4).map_err(|error| error.to_string())?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

fn decode<R: Request>(mut answer: Bytes, version: i16) -> Result<(i32, R::Response), String> {
    let header = ResponseHeader::decode(&mut answer, R::Response::header_version(version));
    let header = header.map_err(|error| error.to_string())?;
    let response = R::Response::decode(&mut answer, version).map_err(|error| error.to_string())?;
    Ok((header.correlation_id, response))
}

/// Kafka's name of an API, for messages.
pub fn api_name(key: i16) -> &'static str {
    match ApiKey::try_from(key) {
        Ok(ApiKey::ApiVersions) => "ApiVersions",
        Ok(ApiKey::Metadata) => "Metadata",
        Ok(ApiKey::CreateTopics) => "CreateTopics",
        Ok(ApiKey::InitProducerId) => "InitProducerId",
        Ok(ApiKey::Produce) => "Produce",
        Ok(ApiKey::ListOffsets) => "ListOffsets",
        Ok(ApiKey::Fetch) => "Fetch",
        Ok(ApiKey::DescribeConfigs) => "DescribeConfigs",
        Ok(ApiKey::IncrementalAlterConfigs) => "IncrementalAlterConfigs",
        Ok(ApiKey::DeleteTopics) => "DeleteTopics",
        Ok(ApiKey::CreatePartitions) => "CreatePartitions",
        Ok(ApiKey::DescribeLogDirs) => "DescribeLogDirs",
        Ok(ApiKey::DescribeCluster) => "DescribeCluster",
        Ok(ApiKey::ListGroups) => "ListGroups",
        Ok(ApiKey::DeleteGroups) => "DeleteGroups",
        Ok(ApiKey::OffsetCommit) => "OffsetCommit",
        Ok(ApiKey::OffsetFetch) => "OffsetFetch",
        Ok(ApiKey::OffsetDelete) => "OffsetDelete",
        Ok(ApiKey::EndTxn) => "EndTxn",
        Ok(ApiKey::DescribeTransactions) => "DescribeTransactions",
        Ok(ApiKey::DescribeProducers) => "DescribeProducers",
        Ok(ApiKey::WriteTxnMarkers) => "WriteTxnMarkers",
        _ => "a request",
    }
}

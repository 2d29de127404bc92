//! A connection to a broker: writes requests, reads whole answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Fault;

/// A blocking connection; the last answer stays in it until the next.
pub struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    pub fn open(address: &str) -> Result<Connection, Fault> {
        let stream = TcpStream::connect(address).map_err(|e| format!("{address}: {e}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Connection { stream, answer: Vec::new() })
    }

    /// The same connection, for another thread to send on.
    pub fn second(&self) -> Result<Connection, Fault> {
        Ok(Connection { stream: self.stream.try_clone()?, answer: Vec::new() })
    }

    pub fn send(&mut self, request: &[u8]) -> Result<(), Fault> {
        Ok(self.stream.write_all(request)?)
    }

    /// The next answer, without its length.
    pub fn receive(&mut self) -> Result<&[u8], Fault> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(|e| format!("no answer from the broker: {e}"))?;
        self.answer.resize(u32::from_be_bytes(length) as usize, 0);
        self.stream.read_exact(&mut self.answer)?;
        Ok(&self.answer)
    }

    pub fn ask(&mut self, request: &[u8]) -> Result<&[u8], Fault> {
        self.send(request)?;
        self.receive()
    }
}

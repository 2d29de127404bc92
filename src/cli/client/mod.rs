//! A small Kafka client for our own commands: one blocking connection to one broker, one request at a time.
//!
//! It speaks only to the address that it was given and follows no redirections: StreamStack is one broker.

mod connection;
mod error;
mod produce;
mod read;
mod record;
mod topics;
mod versions;

use std::thread;
use std::time::Duration;

use kafka_protocol::protocol::Request;

use crate::disk::{Clock, OsClock};
use connection::Connection;
use versions::Versions;

pub use error::ClientError;
pub use produce::ProducerSession;
pub use read::Bounds;
pub use record::Record;

/// How long a retriable refusal is asked again, unless [`Client::patience`] says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions.
const PAUSE: Duration = Duration::from_millis(20);

/// A connected client.
pub struct Client {
    connection: Connection,
    versions: Versions,
    clock: OsClock,
    patience: Duration,
}

impl Client {
    /// Connects to `host:port` and learns which versions the broker speaks.
    pub fn connect(address: &str) -> Result<Client, ClientError> {
        let mut connection = Connection::open(address)?;
        let versions = Versions::ask(&mut connection)?;
        Ok(Client { connection, versions, clock: OsClock::new(), patience: PATIENCE })
    }

    /// How long to ask again when the broker says "not yet": a topic just made, a commit not sealed yet.
    pub fn patience(mut self, patience: Duration) -> Client {
        self.patience = patience;
        self
    }

    fn ask<R: Request>(&mut self, request: &R) -> Result<R::Response, ClientError> {
        let version = self.versions.pick::<R>(self.connection.address())?;
        self.connection.ask(version, request)
    }

    fn refused(&self, what: String, code: i16, message: Option<&str>) -> ClientError {
        ClientError::refused(self.connection.address(), what, code, message)
    }

    /// Asks again while the refusal is a retriable one and patience lasts.
    fn patiently<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let give_up_at = self.clock.elapsed() + self.patience;
        loop {
            match attempt(self) {
                Err(error) if error.is_retriable() && self.clock.elapsed() < give_up_at => thread::sleep(PAUSE),
                result => return result,
            }
        }
    }
}

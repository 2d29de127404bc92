//! A small Kafka client for our own commands: one blocking connection to one broker, one request at a time.
//!
//! It speaks only to the address that it was given and follows no redirections: StreamStack is one broker.

mod about;
mod admin;
mod configs;
mod connection;
mod error;
mod fetch;
mod groups;
mod membership;
mod offsets;
mod open_transactions;
mod produce;
mod read;
mod record;
mod topics;
mod transactions;
mod versions;

use std::thread;
use std::time::Duration;

use kafka_protocol::protocol::Request;

use crate::disk::{Clock, OsClock};
pub use connection::Connection;
pub use versions::Versions;

pub use about::Told;
pub use admin::{BrokerFacts, ClusterFacts, LogDir, TopicFacts};
pub use configs::ConfigFacts;
pub use error::ClientError;
pub use fetch::{Fetched, Position};
pub use groups::{GroupFacts, GroupPosition};
pub use membership::{GroupMember, Membership};
pub use offsets::{Isolation, OffsetAnswer, OffsetOf};
pub use open_transactions::OpenTransaction;
pub use produce::{Acks, ProducerSession};
pub use read::Bounds;
pub use record::{Header, Record};
pub use transactions::TransactionalProducer;

/// How long to try to connect, and to wait for an answer: longer than any request here asks the broker to wait.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
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
    connect_patience: Duration,
    answer_patience: Duration,
}

impl Client {
    /// Connects to `host:port` and learns which versions the broker speaks.
    pub fn connect(address: &str) -> Result<Client, ClientError> {
        Client::open(address, CONNECT_PATIENCE, ANSWER_PATIENCE)
    }

    /// Connects, and waits no longer than `timeout`: for the connection, for an answer, for a "not yet" to become one.
    pub fn connect_within(address: &str, timeout: Duration) -> Result<Client, ClientError> {
        Client::open(address, timeout, timeout).map(|client| client.patience(timeout))
    }

    fn open(address: &str, connect_patience: Duration, answer_patience: Duration) -> Result<Client, ClientError> {
        let mut connection = Connection::open(address, connect_patience, answer_patience)?;
        let versions = Versions::ask(&mut connection)?;
        let clock = OsClock::new();
        Ok(Client { connection, versions, clock, patience: PATIENCE, connect_patience, answer_patience })
    }

    /// Makes a new connection in place of one that broke off, for as long as patience lasts.
    pub fn reconnect(&mut self) -> Result<(), ClientError> {
        let address = self.connection.address().to_owned();
        let give_up_at = self.clock.elapsed() + self.patience;
        loop {
            match Client::open(&address, self.connect_patience, self.answer_patience) {
                Ok(Client { connection, versions, .. }) => {
                    (self.connection, self.versions) = (connection, versions);
                    return Ok(());
                }
                Err(error) if error.is_disconnect() && self.clock.elapsed() < give_up_at => thread::sleep(PAUSE),
                Err(error) => return Err(error),
            }
        }
    }

    /// `host:port` as it was given.
    pub fn address(&self) -> &str {
        self.connection.address()
    }

    /// Which versions the broker speaks.
    pub fn versions(&self) -> &Versions {
        &self.versions
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

    fn tell<R: Request>(&mut self, request: &R) -> Result<(), ClientError> {
        let version = self.versions.pick::<R>(self.connection.address())?;
        self.connection.tell(version, request)
    }

    fn refused(&self, what: String, code: i16, message: Option<&str>) -> ClientError {
        ClientError::refused(self.connection.address(), what, code, message)
    }

    /// Asks again while the refusal is a retriable one and patience lasts.
    pub fn patiently<T>(
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

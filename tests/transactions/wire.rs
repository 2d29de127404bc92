//! A connection that comes back after kills, of its own side and of the broker's.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kafka_protocol::error::ResponseError;
use kafka_protocol::protocol::Request;
use streamstack::cli::client::{Client, ClientError, Connection};

/// Within so long a broker that was killed is there again.
const AWAY_MAX: Duration = Duration::from_secs(30);
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

/// Where the broker is now.
#[derive(Clone, Default)]
pub struct Address(Arc<Mutex<String>>);

impl Address {
    pub fn set(&self, address: &str) {
        *self.0.lock().unwrap() = address.to_owned();
    }

    fn get(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    /// Connects as soon as there is a broker.
    fn connect<T>(&self, open: impl Fn(&str) -> Result<T, ClientError>) -> T {
        let began = Instant::now();
        loop {
            match open(&self.get()) {
                Ok(connected) => return connected,
                Err(error) if began.elapsed() < AWAY_MAX => assert!(error.is_disconnect(), "{error}"),
                Err(error) => panic!("the broker does not come back: {error}"),
            }
            thread::sleep(PAUSE);
        }
    }

    pub fn client(&self) -> Client {
        self.connect(Client::connect)
    }
}

/// Why there is no answer to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The connection broke off: what was asked may have been done or not.
    Gone,
    Refused(ResponseError),
}

impl Trouble {
    /// Nothing for 0.
    pub fn of(code: i16) -> Result<(), Trouble> {
        match code {
            0 => Ok(()),
            _ => Err(Trouble::Refused(ResponseError::try_from_code(code).unwrap_or(ResponseError::Unknown(code)))),
        }
    }
}

pub struct Wire {
    address: Address,
    connection: Option<Connection>,
    /// The next request is sent, and its answer not waited for.
    pub breaks_off: bool,
}

impl Wire {
    pub fn new(address: Address) -> Wire {
        Wire { address, connection: None, breaks_off: false }
    }

    pub fn ask<R: Request>(&mut self, version: i16, request: &R) -> Result<R::Response, Trouble> {
        let open = |address: &str| Connection::open(address, CONNECT_PATIENCE, ANSWER_PATIENCE);
        let mut connection = self.connection.take().unwrap_or_else(|| self.address.connect(open));
        if std::mem::take(&mut self.breaks_off) {
            // Sent or not: the outcome is unknown.
            let _ = connection.tell(version, request);
            return Err(Trouble::Gone);
        }
        match connection.ask(version, request) {
            Ok(answer) => {
                self.connection = Some(connection);
                Ok(answer)
            }
            Err(error) => {
                assert!(error.is_disconnect(), "{error}");
                Err(Trouble::Gone)
            }
        }
    }
}

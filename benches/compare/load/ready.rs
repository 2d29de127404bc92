//! Waits for a broker to serve.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::wire::{self, Connection};

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);

/// How long it took until a Metadata answer named a broker.
pub fn ready(address: &str) -> Result<Duration, Fault> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let answered = Connection::open(address)
            .and_then(|mut connection| Ok(wire::names_a_broker(connection.ask(&wire::metadata())?)));
        if answered.unwrap_or(false) {
            return Ok(start.elapsed());
        }
        thread::sleep(PAUSE);
    }
    Err(format!("{address}: no broker answered within {} s", PATIENCE.as_secs()).into())
}

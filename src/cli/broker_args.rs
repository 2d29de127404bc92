//! The flags of every command that talks to a running broker.

use std::time::Duration;

use super::client::{Client, ClientError};

const KAFKA_PORT: u16 = 9092;

/// Which broker, and how long to wait for it.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Broker")]
pub(super) struct BrokerArgs {
    /// Address of the broker: HOST, HOST:PORT, or several with commas, of which the first that answers is taken
    #[arg(
        long,
        short,
        global = true,
        value_name = "ADDR",
        default_value = "127.0.0.1:9092",
        env = "STREAMSTACK_BOOTSTRAP"
    )]
    pub bootstrap: String,
    /// How long to wait for the broker, as 500ms, 10s or 2m
    #[arg(long, global = true, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

impl BrokerArgs {
    pub fn connect(&self) -> Result<Client, ClientError> {
        let mut last = None;
        for address in self.addresses() {
            match Client::connect_within(&address, self.timeout) {
                Ok(client) => return Ok(client),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("a list has one element at least"))
    }

    /// Each with its port.
    pub fn addresses(&self) -> Vec<String> {
        self.bootstrap.split(',').map(|address| with_port(address.trim())).collect()
    }
}

/// `host` to `host:9092`; an IPv6 address has its colons in brackets.
fn with_port(address: &str) -> String {
    let after_brackets = address.rsplit_once(']').map_or(address, |(_, rest)| rest);
    if after_brackets.contains(':') { address.to_owned() } else { format!("{address}:{KAFKA_PORT}") }
}

/// `250ms`, `10s`, `2m`, `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time as 500ms, 10s, 2m or 1h");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    match number.checked_mul(ms) {
        Some(ms) if ms > 0 => Ok(Duration::from_millis(ms)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_may_be_left_out() {
        assert_eq!(with_port("broker"), "broker:9092");
        assert_eq!(with_port("broker:1"), "broker:1");
        assert_eq!(with_port("[::1]"), "[::1]:9092");
        assert_eq!(with_port("[::1]:7"), "[::1]:7");
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["10", "s", "0s", "1.5s", "-1s", "1d", "99999999999999999999s", "9999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

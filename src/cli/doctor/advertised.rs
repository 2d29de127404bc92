//! The address that clients are told: a client connects to one address and is sent to another, and that is where setups
//! go wrong.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use super::finding::Finding;
use crate::cli::client::{BrokerFacts, Client};
use crate::config::is_every_interface;

const CHECK: &str = "advertised";

/// How the broker was reached, and how patient to be.
pub struct Reached<'a> {
    pub address: &'a str,
    pub cluster_id: Option<&'a str>,
    pub timeout: Duration,
}

/// What comes of the address that a broker sends its clients to.
pub fn check(broker: &BrokerFacts, reached: &Reached<'_>) -> Finding {
    let told = told(broker);
    if broker.host.is_empty() || is_every_interface(&broker.host) {
        return Finding::problem(CHECK, format!("clients are sent to {told}, which names no machine"), set(reached));
    }
    let Ok(addresses) = resolve(&told) else {
        let finding = format!("clients are sent to {told}, and {} is not known here", broker.host);
        return Finding::problem(CHECK, finding, format!("make the name known here, or {}", set(reached)));
    };
    let (is_local, came_locally) = (all_loopback(&addresses), is_loopback(reached.address));
    if is_local && !came_locally {
        let finding = format!(
            "clients are sent to {told}: each to its own machine, though the broker was reached at {}",
            reached.address
        );
        return Finding::problem(CHECK, finding, set(reached));
    }
    match Client::connect_within(&told, reached.timeout).and_then(|mut client| client.cluster()) {
        Err(error) => {
            let finding = format!("clients are sent to {told}, where they get nothing: {error}");
            Finding::problem(CHECK, finding, format!("let {told} be reached from here, or {}", set(reached)))
        }
        Ok(cluster) if cluster.id.as_deref() != reached.cluster_id => {
            let finding = format!("clients are sent to {told}, where another cluster answers");
            Finding::problem(CHECK, finding, set(reached))
        }
        Ok(_) if is_local => Finding::note(
            CHECK,
            format!("clients are sent to {told}, which answers, and which only clients on this machine can reach"),
            "for clients elsewhere: listeners=PLAINTEXT://:PORT and advertised.listeners=PLAINTEXT://NAME:PORT with a \
             name that they know",
        ),
        Ok(_) => Finding::good(CHECK, format!("clients are sent to {told}, which answers here")),
    }
}

/// `host:port` as an address to connect to.
fn told(broker: &BrokerFacts) -> String {
    let (open, close) = if broker.host.contains(':') { ("[", "]") } else { ("", "") };
    format!("{open}{}{close}:{}", broker.host, broker.port)
}

fn set(reached: &Reached<'_>) -> String {
    format!("set advertised.listeners=PLAINTEXT://{}, or another address that every client can reach", reached.address)
}

pub fn resolve(address: &str) -> std::io::Result<Vec<SocketAddr>> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    match addresses.is_empty() {
        true => Err(std::io::Error::new(std::io::ErrorKind::NotFound, "the name stands for no address")),
        false => Ok(addresses),
    }
}

fn is_loopback(address: &str) -> bool {
    resolve(address).is_ok_and(|addresses| all_loopback(&addresses))
}

fn all_loopback(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|address| IpAddr::is_loopback(&address.ip().to_canonical()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn checked(host: &str, port: i32, address: &str) -> Finding {
        let broker = BrokerFacts { id: 1, host: host.to_owned(), port };
        check(&broker, &Reached { address, cluster_id: None, timeout: Duration::from_millis(200) })
    }

    #[test]
    fn addresses_that_lead_nowhere_are_problems() {
        let anywhere = checked("0.0.0.0", 9092, "127.0.0.1:9092");
        assert_eq!(anywhere.level, Level::Problem);
        assert_eq!(anywhere.finding, "clients are sent to 0.0.0.0:9092, which names no machine");
        let unknown = checked("no-such-host.invalid", 9092, "127.0.0.1:9092");
        assert!(unknown.finding.ends_with("no-such-host.invalid is not known here"), "{unknown:?}");
        // Port 1 of the loopback: nothing listens there.
        let nothing = checked("127.0.0.1", 1, "127.0.0.1:9092");
        assert!(nothing.finding.contains("where they get nothing: no broker at 127.0.0.1:1"), "{nothing:?}");
    }

    #[test]
    fn localhost_is_a_trap_for_who_comes_from_elsewhere() {
        // From the block that is set aside for documentation.
        let trap = checked("localhost", 9092, "192.0.2.7:9092");
        assert_eq!(trap.level, Level::Problem);
        assert!(trap.finding.contains("each to its own machine"), "{trap:?}");
        let remedy = trap.remedy.unwrap();
        assert!(remedy.starts_with("set advertised.listeners=PLAINTEXT://192.0.2.7:9092"), "{remedy}");
    }

    #[test]
    fn an_address_of_the_newer_kind_has_brackets() {
        let broker = BrokerFacts { id: 1, host: "::1".to_owned(), port: 9 };
        assert_eq!(told(&broker), "[::1]:9");
    }
}

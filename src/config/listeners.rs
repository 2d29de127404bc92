//! Listeners: `NAME://host:port` lists, their protocols, and the address that a client is told.

use std::net::IpAddr;

use super::value::list;

/// One address to listen on or to advertise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    pub name: String,
    /// `None` means every interface.
    pub host: Option<String>,
    pub port: u16,
}

/// Why a list of listeners is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenersError {
    #[error("{text} is not a listener, expected NAME://host:port")]
    Malformed { text: String },
    #[error("listener {name} stands twice")]
    Repeated { name: String },
    #[error("listener {name} has protocol {protocol}, which is not built yet: only PLAINTEXT is")]
    Protocol { name: String, protocol: String },
    #[error("listener {name} is not in listener.security.protocol.map")]
    NoProtocol { name: String },
    #[error("{text} cannot be advertised: no client can reach that host")]
    Unreachable { text: String },
    #[error("listener {name} is advertised but not listened on")]
    NotListened { name: String },
    #[error("no listener for clients is left")]
    None,
}

/// The listeners to open: all of `listeners` but the controller's.
pub fn to_open(listeners: &str, controllers: &str, protocols: &str) -> Result<Vec<Listener>, ListenersError> {
    let controllers = list(controllers);
    let mut open = parse(listeners)?;
    open.retain(|listener| !controllers.contains(&listener.name.as_str()));
    for listener in &open {
        check_protocol(&listener.name, protocols)?;
    }
    if open.is_empty() { Err(ListenersError::None) } else { Ok(open) }
}

/// The listeners that clients are told of, each one of those that are open.
pub fn to_advertise(advertised: &str, controllers: &str, open: &[Listener]) -> Result<Vec<Listener>, ListenersError> {
    let controllers = list(controllers);
    let mut advertised = parse(advertised)?;
    advertised.retain(|listener| !controllers.contains(&listener.name.as_str()));
    for listener in &advertised {
        let unreachable = || ListenersError::Unreachable { text: listener.to_string() };
        if listener.host.as_deref().is_none_or(is_every_interface) {
            return Err(unreachable());
        }
        if !open.iter().any(|other| other.name == listener.name) {
            return Err(ListenersError::NotListened { name: listener.name.clone() });
        }
    }
    Ok(advertised)
}

/// A list of listeners with different names.
pub fn parse(text: &str) -> Result<Vec<Listener>, ListenersError> {
    let mut listeners: Vec<Listener> = Vec::new();
    for text in list(text) {
        let listener = parse_one(text).ok_or_else(|| ListenersError::Malformed { text: text.to_owned() })?;
        if listeners.iter().any(|other| other.name == listener.name) {
            return Err(ListenersError::Repeated { name: listener.name });
        }
        listeners.push(listener);
    }
    Ok(listeners)
}

/// True for the hosts that mean every interface and so name no reachable one.
pub fn is_every_interface(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified())
}

impl std::fmt::Display for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = self.host.as_deref().unwrap_or_default();
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{}://{open}{host}{close}:{}", self.name, self.port)
    }
}

fn parse_one(text: &str) -> Option<Listener> {
    let (name, address) = text.split_once("://")?;
    let (host, port) = address.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(word) || host.contains([' ', '/', '[', ']']) {
        return None;
    }
    let host = (!host.is_empty()).then(|| host.to_owned());
    Some(Listener { name: name.to_ascii_uppercase(), host, port: port.parse().ok()? })
}

fn check_protocol(name: &str, protocols: &str) -> Result<(), ListenersError> {
    let pairs = list(protocols).into_iter().filter_map(|pair| pair.split_once(':'));
    let protocol = pairs
        .into_iter()
        .find(|(listener, _)| listener.trim().eq_ignore_ascii_case(name))
        .map(|(_, protocol)| protocol.trim())
        .ok_or_else(|| ListenersError::NoProtocol { name: name.to_owned() })?;
    if protocol.eq_ignore_ascii_case("PLAINTEXT") {
        return Ok(());
    }
    Err(ListenersError::Protocol { name: name.to_owned(), protocol: protocol.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "PLAINTEXT:PLAINTEXT,SSL:SSL,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT";

    fn shown(listeners: &[Listener]) -> Vec<String> {
        listeners.iter().map(Listener::to_string).collect()
    }

    #[test]
    fn listeners_of_containers_open_without_the_controllers() {
        let open = to_open("PLAINTEXT://:9092, INSIDE://[::1]:0,CONTROLLER://:9093", "CONTROLLER", MAP).unwrap();
        assert_eq!(shown(&open), ["PLAINTEXT://:9092", "INSIDE://[::1]:0"]);
        assert_eq!(open[0].host, None);
        let told = to_advertise("PLAINTEXT://broker.example:9092,CONTROLLER://h:1", "CONTROLLER", &open).unwrap();
        assert_eq!(shown(&told), ["PLAINTEXT://broker.example:9092"]);
    }

    #[test]
    fn what_cannot_be_opened_is_told() {
        let refusal = |text| to_open(text, "", MAP).unwrap_err().to_string();
        assert_eq!(refusal("localhost:9092"), "localhost:9092 is not a listener, expected NAME://host:port");
        assert_eq!(refusal("PLAINTEXT://h:99999"), "PLAINTEXT://h:99999 is not a listener, expected NAME://host:port");
        assert_eq!(refusal("PLAINTEXT://a:1,plaintext://b:2"), "listener PLAINTEXT stands twice");
        assert_eq!(refusal("SSL://:9093"), "listener SSL has protocol SSL, which is not built yet: only PLAINTEXT is");
        assert_eq!(refusal("OUTSIDE://:9093"), "listener OUTSIDE is not in listener.security.protocol.map");
        assert_eq!(refusal(""), "no listener for clients is left");
    }

    #[test]
    fn no_client_is_sent_to_every_interface() {
        let open = parse("PLAINTEXT://:9092").unwrap();
        for text in ["PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://[::]:9092", "PLAINTEXT://:9092"] {
            assert!(matches!(to_advertise(text, "", &open), Err(ListenersError::Unreachable { .. })), "{text}");
        }
        assert!(matches!(to_advertise("OTHER://h:1", "", &open), Err(ListenersError::NotListened { .. })));
    }
}

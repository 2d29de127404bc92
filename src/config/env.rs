//! Environment variables that are configs, named as Kafka's container images name them: the prefix is
//! dropped, `_` is a dot, `__` an underscore, `___` a dash.

use super::server::{find, rows};
use super::suggest::{did_you_mean, nearest_is};

/// What a variable with our prefix or Kafka's is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// The config of this name; it may be one that is refused.
    Config(String),
    /// Read by the command line itself.
    Ours,
    /// Used by Kafka's scripts, images or an orchestrator for something else.
    Tooling,
    Unknown {
        suggestion: String,
    },
}

/// Kafka's scripts, its container images, and what orchestrators set for a service called "kafka".
const TOOLING: &[&str] = &[
    "ADDRESS",
    "ADVERTISED_HOST_NAME",
    "BIN",
    "CLUSTER_ID",
    "CONF",
    "CONFIG",
    "DATA",
    "DEBUG",
    "GC_LOG_OPTS",
    "GROUP",
    "HEAP_OPTS",
    "HOME",
    "HOST",
    "JMX_HOSTNAME",
    "JMX_OPTS",
    "JMX_PORT",
    "JVM_PERFORMANCE_OPTS",
    "LOGS",
    "MODE",
    "OPTS",
    "PORT",
    "RELEASE",
    "TOOLS_LOG4J_LOGLEVEL",
    "URL",
    "USER",
    "VERSION",
];
const TOOLING_FAMILIES: &[&str] = &["LOG4J_", "JMX_", "PEER_", "PORT_", "SERVICE_"];

/// Flags of the command line that also have a variable.
const OURS: &[&str] = &["BOOTSTRAP", "CONFIG", "LOG_FORMAT", "LOG_LEVEL"];

/// Says what a variable `KAFKA_*` or `STREAMSTACK_*` is.
pub fn read(variable: &str) -> Variable {
    match variable.strip_prefix("STREAMSTACK_") {
        Some(rest) if OURS.contains(&rest) => Variable::Ours,
        Some(rest) => config(rest),
        None => {
            let rest = variable.strip_prefix("KAFKA_").unwrap_or(variable);
            match config(rest) {
                Variable::Unknown { .. } if is_tooling(rest) => Variable::Tooling,
                other => other,
            }
        }
    }
}

/// Our own configs may leave out their `streamstack.`, which the prefix already says.
fn config(rest: &str) -> Variable {
    let name = config_name(rest);
    let own = format!("streamstack.{name}");
    match (find(&name), find(&own)) {
        (None, Some(_)) => Variable::Config(own),
        (Some(_), _) => Variable::Config(name),
        // Refused with its reason where values are checked.
        _ if ["ssl.", "sasl.", "listener.name."].iter().any(|family| name.starts_with(family)) => {
            Variable::Config(name)
        }
        _ => {
            let names = || rows().map(|server| server.row.name);
            let ours = Some(did_you_mean(&own, names())).filter(|ours| ours.contains("streamstack."));
            let near = ours.unwrap_or_else(|| did_you_mean(&name, names()));
            Variable::Unknown { suggestion: if near.is_empty() { nearest_is(&name, names()) } else { near } }
        }
    }
}

fn is_tooling(rest: &str) -> bool {
    TOOLING.contains(&rest) || TOOLING_FAMILIES.iter().any(|family| rest.starts_with(family))
}

/// `ADVERTISED_LISTENERS` to `advertised.listeners`.
fn config_name(rest: &str) -> String {
    rest.to_ascii_lowercase().replace("___", "-").replace("__", "\0").replace('_', ".").replace('\0', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_translated_as_in_kafkas_images() {
        assert_eq!(config_name("ADVERTISED_LISTENERS"), "advertised.listeners");
        assert_eq!(config_name("A__B___C_D"), "a_b-c.d");
    }

    #[test]
    fn our_configs_may_leave_out_their_prefix() {
        let ours = Variable::Config("streamstack.seal.ms".to_owned());
        assert_eq!(read("STREAMSTACK_SEAL_MS"), ours);
        assert_eq!(read("STREAMSTACK_STREAMSTACK_SEAL_MS"), ours);
        assert_eq!(read("KAFKA_STREAMSTACK_SEAL_MS"), ours);
        assert_eq!(read("STREAMSTACK_LOG_DIRS"), Variable::Config("log.dirs".to_owned()));
        assert_eq!(read("STREAMSTACK_LOG_FORMAT"), Variable::Ours);
        assert_eq!(read("STREAMSTACK_BOOTSTRAP"), Variable::Ours);
    }

    #[test]
    fn variables_of_other_programs_are_known_as_such() {
        for variable in
            ["KAFKA_HEAP_OPTS", "KAFKA_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_SERVICE_HOST", "KAFKA_PORT_9092_TCP"]
        {
            assert_eq!(read(variable), Variable::Tooling, "{variable}");
        }
        assert!(matches!(read("KAFKA_NUM_PARTITONS"), Variable::Unknown { .. }));
        let Variable::Unknown { suggestion } = read("KAFKA_MY_TOPIC_LIST") else { panic!("a config") };
        assert!(suggestion.starts_with(" (the nearest is "), "{suggestion}");
        assert_eq!(read("KAFKA_SASL_ENABLED_MECHANISMS"), Variable::Config("sasl.enabled.mechanisms".to_owned()));
    }
}

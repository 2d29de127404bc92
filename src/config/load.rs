//! Where the broker's configs come from, and which source wins: a flag or `--override`, then
//! `STREAMSTACK_*`, then `KAFKA_*`, then the file of `--config`, then the default.

use std::collections::BTreeMap;
use std::fmt;

use super::env::{self, Variable};
use super::listeners::ListenersError;
use super::properties::{self, PropertiesError};
use super::server::{self, ServerValueError, rows};
use super::settings::Settings;

/// Everything that `ServerConfig::load` reads, as text.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file's name, for messages, and its text.
    pub file: Option<(String, String)>,
    /// The environment; other variables are passed over.
    pub env: Vec<(String, String)>,
    /// `key=value`, in order; the last one counts.
    pub overrides: Vec<String>,
    /// Configs set by a flag of their own: flag, key, value. They win over `--override`.
    pub flags: Vec<(&'static str, &'static str, String)>,
}

/// Where a value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag(&'static str),
    Override,
    Env(String),
    File { file: String, line: usize },
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Override => f.write_str("--override"),
            Origin::Env(variable) => write!(f, "environment {variable}"),
            Origin::File { file, line } => write!(f, "{file}:{line}"),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A value that some source gave, in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub value: String,
    pub origin: Origin,
}

/// The values that sources gave, over the defaults.
#[derive(Clone, Debug, Default)]
pub struct Values {
    given: BTreeMap<&'static str, Given>,
}

/// The broker's static configs: the values, and the typed settings that follow from them.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    values: Values,
    pub settings: Settings,
    /// Things to tell the operator that are no error.
    pub warnings: Vec<String>,
}

/// One thing wrong with the configs, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{origin}: {error}")]
    Value { origin: Origin, error: ServerValueError },
    #[error("{file}: {error}")]
    File { file: String, error: PropertiesError },
    #[error("--override {text}: expected key=value")]
    Override { text: String },
    #[error(
        "environment {variable}: no config has this name{suggestion}; correct it, or unset it for the broker \
         (`env -u {variable} streamstack serve`)"
    )]
    Variable { variable: String, suggestion: String },
    #[error("{origin}: {name}: {error}")]
    Listeners { origin: Origin, name: &'static str, error: ListenersError },
    #[error("{origin}: log.dirs: one data folder is supported, not {count}")]
    DataDirs { origin: Origin, count: usize },
    #[error("group.consumer.assignors={value}: write uniform, range or both")]
    Assignors { value: String },
    #[error("{name}={value} is not between {min_name}={min} and {max_name}={max}: change one of them")]
    Bounds { name: &'static str, value: i32, min_name: &'static str, min: i32, max_name: &'static str, max: i32 },
}

/// Everything that is wrong, one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl ServerConfig {
    /// Reads all sources. All that is wrong is told at once.
    pub fn load(sources: &Sources) -> Result<ServerConfig, ConfigErrors> {
        let mut reader = Reader::default();
        // The weakest first: a later source replaces what an earlier one gave.
        reader.file(sources);
        reader.variables(sources, "KAFKA_");
        reader.variables(sources, "STREAMSTACK_");
        reader.overrides(sources);
        let Reader { values, mut errors, warnings } = reader;
        match Settings::read(&values) {
            Ok(settings) if errors.is_empty() => Ok(ServerConfig { values, settings, warnings }),
            Ok(_) => Err(ConfigErrors(errors)),
            Err(more) => {
                errors.extend(more);
                Err(ConfigErrors(errors))
            }
        }
    }
}

impl std::ops::Deref for ServerConfig {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl Values {
    /// What a source gave for this config.
    pub fn given(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// The value in force at the start: given, or else the default.
    pub fn value(&self, name: &str) -> Option<&str> {
        match self.given.get(name) {
            Some(given) => Some(&given.value),
            None => server::find(name).and_then(|server| server.row.default),
        }
    }

    /// Where the value in force comes from.
    pub fn origin(&self, name: &str) -> Origin {
        self.given.get(name).map_or(Origin::Default, |given| given.origin.clone())
    }
}

/// The static configs without any source: all defaults.
impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig::load(&Sources::default()).expect("the defaults are valid, as a test checks")
    }
}

#[derive(Default)]
struct Reader {
    values: Values,
    errors: Vec<ConfigError>,
    warnings: Vec<String>,
}

impl Reader {
    fn file(&mut self, sources: &Sources) {
        let Some((file, text)) = &sources.file else { return };
        let properties = match properties::parse(text) {
            Ok(properties) => properties,
            Err(error) => return self.errors.push(ConfigError::File { file: file.clone(), error }),
        };
        for duplicate in properties::duplicates(&properties) {
            let properties::Duplicate { key, line, again } = duplicate;
            self.warnings.push(format!("{file}:{again}: {key} was already given in line {line}; the later one counts"));
        }
        for property in properties {
            let origin = Origin::File { file: file.clone(), line: property.line };
            self.take(&property.key, &property.value, origin);
        }
    }

    fn variables(&mut self, sources: &Sources, prefix: &str) {
        for (variable, value) in sources.env.iter().filter(|(variable, _)| variable.starts_with(prefix)) {
            match env::read(variable) {
                Variable::Config(name) => self.take(&name, value, Origin::Env(variable.clone())),
                Variable::Ours => {}
                Variable::Tooling => {
                    self.warnings.push(format!("environment {variable} is for Kafka's own scripts and is passed over"));
                }
                Variable::Unknown { suggestion } => {
                    self.errors.push(ConfigError::Variable { variable: variable.clone(), suggestion });
                }
            }
        }
    }

    fn overrides(&mut self, sources: &Sources) {
        for text in &sources.overrides {
            match text.split_once('=') {
                Some((name, value)) => self.take(name.trim(), value, Origin::Override),
                None => self.errors.push(ConfigError::Override { text: text.clone() }),
            }
        }
        for (flag, name, value) in &sources.flags {
            self.take(name, value, Origin::Flag(flag));
        }
    }

    fn take(&mut self, name: &str, value: &str, origin: Origin) {
        // As in Kafka's files, a config that has no default may be left empty.
        let unset =
            value.trim().is_empty() && rows().any(|server| server.row.name == name && server.row.default.is_none());
        if unset {
            return;
        }
        match server::check_value(name, value) {
            Ok((server, value)) => {
                self.values.given.insert(server.row.name, Given { value, origin });
            }
            Err(error) => self.errors.push(ConfigError::Value { origin, error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::listeners::Listener;
    use super::*;

    fn file(text: &str) -> Sources {
        Sources { file: Some(("server.properties".to_owned(), text.to_owned())), ..Sources::default() }
    }

    fn errors(sources: &Sources) -> String {
        ServerConfig::load(sources).unwrap_err().to_string()
    }

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_stronger_source_wins_and_is_remembered() {
        let mut sources =
            file("num.partitions=2\nbroker.rack=a\nlog.segment.bytes=2000000\nnode.id=7\nfetch.max.bytes=9999");
        sources.env = env(&[
            ("KAFKA_NUM_PARTITIONS", "3"),
            ("STREAMSTACK_NUM_PARTITIONS", "4"),
            ("KAFKA_BROKER_RACK", "b"),
            ("PATH", "/bin"),
        ]);
        sources.overrides = vec!["node.id = 8".to_owned(), "log.dirs=/a".to_owned()];
        sources.flags = vec![("--data", "log.dirs", "/b".to_owned())];
        let config = ServerConfig::load(&sources).unwrap();
        let seen = |name| format!("{} from {}", config.value(name).unwrap(), config.origin(name));
        assert_eq!(seen("num.partitions"), "4 from environment STREAMSTACK_NUM_PARTITIONS");
        assert_eq!(seen("broker.rack"), "b from environment KAFKA_BROKER_RACK");
        assert_eq!(seen("log.segment.bytes"), "2000000 from server.properties:3");
        assert_eq!(seen("node.id"), "8 from --override");
        assert_eq!(seen("log.dirs"), "/b from --data");
        assert_eq!(seen("streamstack.durability"), "fsync from default");
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_its_place() {
        let mut sources = file("# mine\nnum.partition=2\nnum.partitions=0\n");
        sources.env = env(&[("STREAMSTACK_DURABILTY", "os"), ("KAFKA_NUM_PARTITOINS", "1")]);
        sources.overrides = vec!["nonsense".to_owned()];
        assert_eq!(
            errors(&sources),
            "server.properties:2: unknown config num.partition (did you mean num.partitions?)\n\
             server.properties:3: Invalid value 0 for configuration num.partitions: Value must be at least 1\n\
             environment KAFKA_NUM_PARTITOINS: no config has this name (did you mean num.partitions?); correct it, or unset it for \
             the broker (`env -u KAFKA_NUM_PARTITOINS streamstack serve`)\n\
             environment STREAMSTACK_DURABILTY: no config has this name (did you mean streamstack.durability?); correct it, or \
             unset it for the broker (`env -u STREAMSTACK_DURABILTY streamstack serve`)\n\
             --override nonsense: expected key=value"
        );
    }

    #[test]
    fn repeated_keys_and_the_variables_of_kafkas_scripts_only_warn() {
        let mut sources = file("num.partitions=2\nnum.partitions=3\n");
        sources.env = env(&[("KAFKA_HEAP_OPTS", "-Xmx1G")]);
        let config = ServerConfig::load(&sources).unwrap();
        assert_eq!(config.value("num.partitions"), Some("3"));
        assert_eq!(config.warnings.len(), 2, "{:?}", config.warnings);
    }

    #[test]
    fn an_empty_value_leaves_a_config_unset() {
        let config = ServerConfig::load(&file("advertised.listeners=\nlog.retention.ms=\nbroker.rack")).unwrap();
        assert_eq!(config.value("log.retention.ms"), None);
        assert!(config.settings.advertised.is_empty());
    }

    #[test]
    fn a_properties_file_written_for_kafka_loads() {
        let sources = file(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.bootstrap.servers=localhost:9093\n\
             listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ninter.broker.listener.name=PLAINTEXT\n\
             advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n\
             controller.listener.names=CONTROLLER\nnum.network.threads=3\nnum.io.threads=8\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT\n\
             socket.send.buffer.bytes=102400\nsocket.request.max.bytes=104857600\nlog.dirs=/tmp/kraft-combined-logs\n\
             num.partitions=1\nnum.recovery.threads.per.data.dir=1\noffsets.topic.replication.factor=1\n\
             transaction.state.log.min.isr=1\nlog.retention.hours=168\nlog.retention.check.interval.ms=300000\n",
        );
        let config = ServerConfig::load(&sources).unwrap();
        let shown = |listeners: &[Listener]| listeners.iter().map(Listener::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&config.settings.listeners), ["PLAINTEXT://:9092"]);
        assert_eq!(shown(&config.settings.advertised), ["PLAINTEXT://localhost:9092"]);
        assert_eq!(config.warnings, Vec::<String>::new());
    }

    #[test]
    fn the_environment_of_a_kafka_container_loads() {
        let env = env(&[
            ("CLUSTER_ID", "x"),
            ("KAFKA_NODE_ID", "2"),
            ("KAFKA_PROCESS_ROLES", "broker,controller"),
            ("KAFKA_CONTROLLER_QUORUM_VOTERS", "2@localhost:9093"),
            ("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER"),
            ("KAFKA_LISTENERS", "PLAINTEXT_HOST://:9092,CONTROLLER://:9093,PLAINTEXT://:19092"),
            ("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT_HOST://localhost:9092,PLAINTEXT://broker:19092"),
            (
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
            ),
            ("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0"),
            ("KAFKA_LOG_DIRS", "/var/lib/kafka/data"),
        ]);
        let config = ServerConfig::load(&Sources { env, ..Sources::default() }).unwrap();
        assert_eq!(config.settings.listeners.len(), 2);
        assert_eq!(config.settings.node_id, 2);
    }
}

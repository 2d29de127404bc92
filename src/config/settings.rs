//! The broker's static configs as typed values, read once at the start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::consumer_groups::ConsumerGroupConfig;
use super::listeners::{self, Listener, ListenersError};
use super::load::{ConfigError, Values};
use super::value::{boolean, list};

/// When an acknowledged record is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// After a sync: it survives power loss.
    #[default]
    Fsync,
    /// When the kernel has it: it survives a crash of the process.
    Os,
}

impl Durability {
    pub fn name(self) -> &'static str {
        match self {
            Durability::Fsync => "fsync",
            Durability::Os => "os",
        }
    }
}

/// See the doc lines of `server::TABLE`.
#[derive(Clone, Debug)]
pub struct Settings {
    pub node_id: i32,
    pub rack: Option<String>,
    pub data_dir: PathBuf,
    pub listeners: Vec<Listener>,
    pub advertised: Vec<Listener>,
    pub num_partitions: u32,
    pub default_replication_factor: i32,
    pub replication_factor_clamp: bool,
    pub auto_create_topics: bool,
    pub delete_topics: bool,
    pub request_bytes_max: usize,
    /// `None`: connections are never closed for being idle.
    pub connection_idle_max: Option<Duration>,
    pub num_connections_max: usize,
    /// `None`: as the broker sees fit.
    pub queued_request_bytes_max: Option<usize>,
    pub fetch_bytes_max: usize,
    pub described_partitions_max: usize,
    pub producer_id_expiration_ms: i64,
    pub transaction_timeout_max_ms: i32,
    pub transactional_id_expiration_ms: i64,
    pub transactional_ids_check_interval: Duration,
    pub group_session_ms_min: i64,
    pub group_session_ms_max: i64,
    pub group_initial_rebalance_delay_ms: i64,
    pub group_members_max: usize,
    pub consumer_groups: ConsumerGroupConfig,
    pub retention_check_interval: Duration,
    pub offset_metadata_max: usize,
    pub offsets_retention: Duration,
    pub offsets_check_interval: Duration,
    pub durability: Durability,
    pub disk_free_bytes_min: u64,
    pub journal_file_bytes: u64,
    pub checkpoint_bytes: u64,
    pub views_memory_bytes: usize,
    pub views_selections_bytes: usize,
}

impl Settings {
    /// Reads the values, which are already checked one by one, and checks those that must agree.
    pub(super) fn read(config: &Values) -> Result<Settings, Vec<ConfigError>> {
        let mut errors = Vec::new();
        let data_dir = data_dir(config).unwrap_or_else(|error| {
            errors.push(error);
            PathBuf::new()
        });
        let (listeners, advertised) = read_listeners(config).unwrap_or_else(|error| {
            errors.push(error);
            (Vec::new(), Vec::new())
        });
        errors.extend(ConsumerGroupConfig::check(config));
        if !errors.is_empty() {
            return Err(errors);
        }
        let get = Get { config };
        Ok(Settings {
            node_id: node_id(config),
            rack: config.value("broker.rack").map(str::to_owned),
            data_dir,
            listeners,
            advertised,
            num_partitions: get.number("num.partitions"),
            default_replication_factor: get.number("default.replication.factor"),
            replication_factor_clamp: get.flag("streamstack.replication.factor.clamp"),
            auto_create_topics: get.flag("auto.create.topics.enable"),
            delete_topics: get.flag("delete.topic.enable"),
            request_bytes_max: get.number("socket.request.max.bytes"),
            connection_idle_max: get.positive("connections.max.idle.ms").map(Duration::from_millis),
            num_connections_max: get.number("max.connections"),
            queued_request_bytes_max: get.positive("queued.max.request.bytes"),
            fetch_bytes_max: get.number("fetch.max.bytes"),
            described_partitions_max: get.number("max.request.partition.size.limit"),
            producer_id_expiration_ms: get.number("producer.id.expiration.ms"),
            transaction_timeout_max_ms: get.number("transaction.max.timeout.ms"),
            transactional_id_expiration_ms: get.number("transactional.id.expiration.ms"),
            transactional_ids_check_interval: Duration::from_millis(
                get.number("transaction.remove.expired.transaction.cleanup.interval.ms"),
            ),
            group_session_ms_min: get.number("group.min.session.timeout.ms"),
            group_session_ms_max: get.number("group.max.session.timeout.ms"),
            group_initial_rebalance_delay_ms: get.number::<i64>("group.initial.rebalance.delay.ms").max(0),
            group_members_max: get.number("group.max.size"),
            consumer_groups: ConsumerGroupConfig::read(config),
            retention_check_interval: Duration::from_millis(get.number("log.retention.check.interval.ms")),
            // Kafka takes negative ones, which then hold for every text that is not empty.
            offset_metadata_max: get.positive("offset.metadata.max.bytes").unwrap_or(0),
            offsets_retention: Duration::from_secs(60 * get.number::<u64>("offsets.retention.minutes")),
            offsets_check_interval: Duration::from_millis(get.number("offsets.retention.check.interval.ms")),
            durability: match config.value("streamstack.durability") {
                Some("os") => Durability::Os,
                _ => Durability::Fsync,
            },
            disk_free_bytes_min: get.number("streamstack.disk.free.min.bytes"),
            journal_file_bytes: get.number("streamstack.journal.file.bytes"),
            checkpoint_bytes: get.number("streamstack.checkpoint.bytes"),
            views_memory_bytes: get.number("streamstack.views.memory.bytes"),
            views_selections_bytes: get.number("streamstack.views.selections.bytes"),
        })
    }

    /// The host and port that a client of `listener` is told: the advertised ones, or else those it reached.
    pub fn advertised_address(&self, listener: &str, reached: SocketAddr) -> (String, u16) {
        match self.advertised.iter().find(|advertised| advertised.name == listener) {
            Some(Listener { host: Some(host), port, .. }) => {
                // Port 0 stands for the one that was free.
                (host.clone(), if *port == 0 { reached.port() } else { *port })
            }
            _ => (reached.ip().to_canonical().to_string(), reached.port()),
        }
    }
}

/// Reads checked values; what cannot be is a fault in the table.
struct Get<'a> {
    config: &'a Values,
}

impl Get<'_> {
    fn number<T: TryFrom<i64>>(&self, name: &str) -> T {
        let value: i64 = self.text(name).parse().expect("a number, as the table checked");
        T::try_from(value).ok().expect("in range, as the table checked")
    }

    /// `None` for the negative numbers that mean "no limit".
    fn positive<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        T::try_from(self.number::<i64>(name)).ok()
    }

    fn flag(&self, name: &str) -> bool {
        boolean(self.text(name)).expect("a boolean, as the table checked")
    }

    fn text(&self, name: &str) -> &str {
        self.config.value(name).expect("a config with a default")
    }
}

/// `node.id` wins over its old name.
fn node_id(config: &Values) -> i32 {
    let old = config.given("broker.id").and_then(|given| given.value.parse().ok()).filter(|id: &i32| *id >= 0);
    match (config.given("node.id"), old) {
        (None, Some(old)) => old,
        _ => Get { config }.number("node.id"),
    }
}

fn data_dir(config: &Values) -> Result<PathBuf, ConfigError> {
    let name = if config.given("log.dirs").is_some() { "log.dirs" } else { "log.dir" };
    let dirs = list(config.value(name).unwrap_or_default());
    match dirs[..] {
        [dir] => Ok(PathBuf::from(dir)),
        _ => Err(ConfigError::DataDirs { origin: config.origin(name), count: dirs.len() }),
    }
}

fn read_listeners(config: &Values) -> Result<(Vec<Listener>, Vec<Listener>), ConfigError> {
    let text = |name| config.value(name).unwrap_or_default();
    let wrong = |name: &'static str| {
        move |error: ListenersError| ConfigError::Listeners { origin: config.origin(name), name, error }
    };
    let (controllers, protocols) = (text("controller.listener.names"), text("listener.security.protocol.map"));
    let open = listeners::to_open(text("listeners"), controllers, protocols).map_err(wrong("listeners"))?;
    let advertised = listeners::to_advertise(text("advertised.listeners"), controllers, &open)
        .map_err(wrong("advertised.listeners"))?;
    Ok((open, advertised))
}

#[cfg(test)]
mod tests {
    use super::super::load::{ServerConfig, Sources};
    use super::*;

    fn load(overrides: &[&str]) -> Result<ServerConfig, String> {
        let overrides = overrides.iter().map(|text| (*text).to_owned()).collect();
        ServerConfig::load(&Sources { overrides, ..Sources::default() }).map_err(|errors| errors.to_string())
    }

    fn settings(overrides: &[&str]) -> Settings {
        load(overrides).unwrap().settings
    }

    #[test]
    fn the_defaults_serve_this_machine_from_this_folder() {
        let defaults = settings(&[]);
        assert_eq!(defaults.listeners[0].to_string(), "PLAINTEXT://127.0.0.1:9092");
        assert_eq!(defaults.data_dir, PathBuf::from("./streamstack-data"));
        assert_eq!(defaults.durability, Durability::Fsync);
        assert_eq!(defaults.connection_idle_max, Some(Duration::from_secs(600)));
        assert_eq!(defaults.queued_request_bytes_max, None);
        assert!(defaults.auto_create_topics && defaults.replication_factor_clamp);
    }

    #[test]
    fn old_names_give_way_to_new_ones() {
        assert_eq!(settings(&["broker.id=4"]).node_id, 4);
        assert_eq!(settings(&["broker.id=4", "node.id=5"]).node_id, 5);
        assert_eq!(settings(&["broker.id=-1"]).node_id, 1);
        assert_eq!(settings(&["log.dir=/a", "log.dirs=/b"]).data_dir, PathBuf::from("/b"));
        assert_eq!(settings(&["log.dir=/a"]).data_dir, PathBuf::from("/a"));
        let two = load(&["log.dirs=/a,/b"]).unwrap_err();
        assert_eq!(two, "--override: log.dirs: one data folder is supported, not 2");
    }

    #[test]
    fn a_client_is_told_what_is_advertised_or_else_what_it_reached() {
        let reached: SocketAddr = "10.0.0.7:9092".parse().unwrap();
        let open = "listeners=PLAINTEXT://0.0.0.0:9092";
        assert_eq!(settings(&[open]).advertised_address("PLAINTEXT", reached), ("10.0.0.7".to_owned(), 9092));
        let told = settings(&[open, "advertised.listeners=PLAINTEXT://broker.example:0"]);
        assert_eq!(told.advertised_address("PLAINTEXT", reached), ("broker.example".to_owned(), 9092));
        let mapped: SocketAddr = "[::ffff:10.0.0.7]:9092".parse().unwrap();
        assert_eq!(settings(&[open]).advertised_address("PLAINTEXT", mapped), ("10.0.0.7".to_owned(), 9092));
        assert_eq!(
            load(&[open, "advertised.listeners=PLAINTEXT://0.0.0.0:9092"]).unwrap_err(),
            "--override: advertised.listeners: PLAINTEXT://0.0.0.0:9092 cannot be advertised: no client can reach that host"
        );
    }
}

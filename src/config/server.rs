//! THE table of the broker's configs: those that do something here. `accepted` has Kafka's others.

use super::accepted;
use super::suggest::did_you_mean;
use super::table::Effect::{self, Accepted, Works};
use super::table::{Refused, Row};
use super::value::Allowed::{Any, AtLeast, OneOf, OneOfAnyCase, SomeOf};
use super::value::ConfigType::{Boolean, Double, Int, List, Long, String as Text};
use super::value::{Allowed, ConfigType, InvalidValue};

/// A broker config; `dynamic` when it may be altered while the broker runs.
#[derive(Clone, Copy, Debug)]
pub struct ServerRow {
    pub row: Row,
    pub dynamic: bool,
}

/// Read once, when the broker starts.
const fn fixed(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    allowed: Allowed,
    effect: Effect,
    doc: &'static str,
) -> ServerRow {
    ServerRow { row: Row { name, kind, default: Some(default), allowed, effect, doc }, dynamic: false }
}

/// As `fixed`, without a default.
const fn unset(name: &'static str, kind: ConfigType, allowed: Allowed, effect: Effect, doc: &'static str) -> ServerRow {
    ServerRow { row: Row { name, kind, default: None, allowed, effect, doc }, dynamic: false }
}

/// The default of a topic config, and like it alterable at any time. What it does, `topic` says.
const fn topics(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    allowed: Allowed,
    effect: Effect,
    doc: &'static str,
) -> ServerRow {
    ServerRow { row: Row { name, kind, default: Some(default), allowed, effect, doc }, dynamic: true }
}

const MAX: &str = "9223372036854775807";
const BY_TOPIC: Effect = Accepted("see the topic config that it gives the default of");

/// What works, by subject; then the defaults of topic configs.
#[rustfmt::skip]
pub const TABLE: &[ServerRow] = &[
    // Where it listens and what it keeps.
    fixed("listeners", List, "PLAINTEXT://127.0.0.1:9092", Any, Works,
        "Addresses to listen on, NAME://host:port; port 0 takes a free one, no host means every interface."),
    unset("advertised.listeners", List, Any, Works,
        "Addresses that clients are told; without it, the address that the client reached."),
    fixed("listener.security.protocol.map", Text, "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", Any, Works,
        "The protocol behind each listener's name; only PLAINTEXT is built."),
    unset("controller.listener.names", List, Any, Works,
        "Listeners named here are Kafka's controller's and are not opened."),
    unset("log.dirs", List, Any, Works, "The data folder; one only. Wins over log.dir."),
    fixed("log.dir", List, "./streamstack-data", Any, Works, "The data folder, when log.dirs is not set."),
    fixed("node.id", Int, "1", AtLeast(0), Works, "The broker's number. Kept in the data folder, so it cannot change later."),
    fixed("broker.id", Int, "-1", Any, Works, "The old name of node.id, which wins over it."),
    unset("broker.rack", Text, Any, Works, "The broker's rack, told to clients."),
    // Sockets.
    fixed("socket.request.max.bytes", Int, "104857600", AtLeast(1), Works, "Largest request frame; a larger one closes its connection."),
    fixed("connections.max.idle.ms", Long, "600000", Any, Works, "Idle time after which a connection is closed; negative means never."),
    fixed("max.connections", Int, "2147483647", AtLeast(0), Works, "Connections open at one time; more are closed at once."),
    fixed("queued.max.request.bytes", Long, "-1", Any, Works, "Bytes of requests in work at one time before reading pauses; -1 leaves it to the broker."),
    fixed("fetch.max.bytes", Int, "57671680", AtLeast(1024), Works, "Most bytes that one Fetch answers, whatever the client asks."),
    fixed("max.request.partition.size.limit", Int, "2000", AtLeast(1), Works, "Most partitions in one answer of DescribeTopicPartitions."),
    // Topics.
    fixed("num.partitions", Int, "1", AtLeast(1), Works, "Partitions of a topic that is created without a count."),
    fixed("default.replication.factor", Int, "1", Any, Works, "Replication factor of a topic that is created without one."),
    fixed("auto.create.topics.enable", Boolean, "true", Any, Works, "Whether a topic is created when a client first asks for it."),
    fixed("delete.topic.enable", Boolean, "true", Any, Works, "Whether topics may be deleted."),
    fixed("producer.id.expiration.ms", Int, "86400000", AtLeast(1), Works, "Idle time after which an idempotent producer's last batches are forgotten."),
    // Transactions.
    fixed("transaction.max.timeout.ms", Int, "86400000", AtLeast(1), Works, "Longest time that a producer may ask to keep a transaction open; feed readers do not wait for it."),
    fixed("transactional.id.expiration.ms", Int, "604800000", AtLeast(1), Works, "Idle time after which a transactional id without an open transaction is forgotten."),
    fixed("transaction.remove.expired.transaction.cleanup.interval.ms", Int, "3600000", AtLeast(1), Works, "How often it is looked at which transactional ids are to be forgotten."),
    // Consumer groups.
    fixed("group.min.session.timeout.ms", Int, "6000", Any, Works, "Shortest session timeout that a member may ask for; a client that asks for less is refused."),
    fixed("group.max.session.timeout.ms", Int, "1800000", Any, Works, "Longest session timeout that a member may ask for."),
    fixed("group.initial.rebalance.delay.ms", Int, "3000", Any, Works, "How long the first members of an empty group wait for others; each that comes puts it off, up to the rebalance timeout."),
    fixed("group.max.size", Int, "2147483647", AtLeast(1), Works, "Most members of a group; one more is refused."),
    // Positions of consumer groups.
    fixed("offset.metadata.max.bytes", Int, "4096", Any, Works, "Longest metadata of a group's position, in characters."),
    fixed("offsets.retention.minutes", Int, "10080", AtLeast(1), Works,
        "Time after which positions are forgotten: those of a group without members, counted from when it lost the last one, and those in topics that no member subscribes to any more, counted from the commit."),
    fixed("offsets.retention.check.interval.ms", Long, "600000", AtLeast(1), Works, "How often it is looked at which positions are to be forgotten."),
    fixed("group.consumer.session.timeout.ms", Int, "45000", AtLeast(1), Works, "Time without a heartbeat after which a member of the consumer protocol is out."),
    fixed("group.consumer.min.session.timeout.ms", Int, "45000", AtLeast(1), Works, "Shortest group.consumer.session.timeout.ms that may be set."),
    fixed("group.consumer.max.session.timeout.ms", Int, "60000", AtLeast(1), Works, "Longest group.consumer.session.timeout.ms that may be set."),
    fixed("group.consumer.heartbeat.interval.ms", Int, "5000", AtLeast(1), Works, "How often members of the consumer protocol are told to be heard of."),
    fixed("group.consumer.min.heartbeat.interval.ms", Int, "5000", AtLeast(1), Works, "Shortest group.consumer.heartbeat.interval.ms that may be set."),
    fixed("group.consumer.max.heartbeat.interval.ms", Int, "15000", AtLeast(1), Works, "Longest group.consumer.heartbeat.interval.ms that may be set."),
    fixed("group.consumer.max.size", Int, "2147483647", AtLeast(1), Works, "Most members of a group of the consumer protocol; one more is refused."),
    fixed("group.consumer.assignors", List, "uniform,range", Any, Works,
        "Assignors that members may ask for, of uniform and range; the first is taken where none does."),
    fixed("group.consumer.migration.policy", Text, "bidirectional", OneOfAnyCase(&["DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"]), Works,
        "Whether a group with members may go from the classic to the consumer protocol (upgrade), back (downgrade), or both."),
    // Ours.
    fixed("streamstack.durability", Text, "fsync", OneOf(&["fsync", "os"]), Works,
        "fsync: an acknowledged record survives power loss; os: it survives a crash of the process only, as with Kafka's default."),
    fixed("streamstack.disk.free.min.bytes", Long, "268435456", AtLeast(0), Works, "With less free space than this, produce is refused; reads go on."),
    fixed("streamstack.replication.factor.clamp", Boolean, "true", Any, Works, "Takes a replication factor above 1 as 1; when false it is refused, as Kafka does with one node."),
    fixed("streamstack.journal.file.bytes", Long, "67108864", AtLeast(1048576), Works, "Size of one journal file."),
    fixed("streamstack.checkpoint.bytes", Long, "268435456", AtLeast(1048576), Works, "Bytes of journal after which a checkpoint is written; bounds the time of a restart."),
    fixed("streamstack.views.memory.bytes", Long, "268435456", AtLeast(1048576), Works, "Memory that the indexes of dedup, latest and changed views may take, of all feeds together; what does not fit lies on disk."),
    fixed("streamstack.views.selections.bytes", Long, "134217728", AtLeast(1048576), Works, "Memory for which records dedup, latest and changed views show: a bit a record of a range that is read. Views that are read at the same time may take twice as much."),
    fixed("log.retention.check.interval.ms", Long, "300000", AtLeast(1), Works, "How often it is looked at what retention lets go; deleted files go then too."),
    // Defaults of topic configs.
    topics("compression.gzip.level", Int, "-1", Allowed::BetweenOr(1, 9, -1), BY_TOPIC, "Default of compression.gzip.level."),
    topics("compression.lz4.level", Int, "9", Allowed::Between(1, 17), BY_TOPIC, "Default of compression.lz4.level."),
    topics("compression.type", Text, "producer", OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), BY_TOPIC, "Default of compression.type."),
    topics("compression.zstd.level", Int, "3", Allowed::Between(-131072, 22), BY_TOPIC, "Default of compression.zstd.level."),
    topics("log.cleaner.delete.retention.ms", Long, "86400000", AtLeast(0), BY_TOPIC, "Default of delete.retention.ms."),
    topics("log.cleaner.max.compaction.lag.ms", Long, MAX, AtLeast(1), BY_TOPIC, "Default of max.compaction.lag.ms."),
    topics("log.cleaner.min.cleanable.ratio", Double, "0.5", Allowed::Ratio(0.0, 1.0), BY_TOPIC, "Default of min.cleanable.dirty.ratio."),
    topics("log.cleaner.min.compaction.lag.ms", Long, "0", AtLeast(0), BY_TOPIC, "Default of min.compaction.lag.ms."),
    topics("log.cleanup.policy", List, "delete", SomeOf(&["compact", "delete"]), BY_TOPIC, "Default of cleanup.policy."),
    topics("log.flush.interval.messages", Long, MAX, AtLeast(1), BY_TOPIC, "Default of flush.messages."),
    ServerRow { dynamic: true, ..unset("log.flush.interval.ms", Long, Any, BY_TOPIC, "Default of flush.ms.") },
    fixed("log.flush.scheduler.interval.ms", Long, MAX, Any, BY_TOPIC, "Default of flush.ms when log.flush.interval.ms is not set."),
    topics("log.index.interval.bytes", Int, "4096", AtLeast(0), BY_TOPIC, "Default of index.interval.bytes."),
    topics("log.index.size.max.bytes", Int, "10485760", AtLeast(4), BY_TOPIC, "Default of segment.index.bytes."),
    topics("log.local.retention.bytes", Long, "-2", AtLeast(-2), BY_TOPIC, "Default of local.retention.bytes."),
    topics("log.local.retention.ms", Long, "-2", AtLeast(-2), BY_TOPIC, "Default of local.retention.ms."),
    topics("log.message.timestamp.after.max.ms", Long, "3600000", AtLeast(0), Works, "Default of message.timestamp.after.max.ms."),
    topics("log.message.timestamp.before.max.ms", Long, MAX, AtLeast(0), Works, "Default of message.timestamp.before.max.ms."),
    topics("log.message.timestamp.type", Text, "CreateTime", OneOf(&["CreateTime", "LogAppendTime"]), Works, "Default of message.timestamp.type."),
    topics("log.preallocate", Boolean, "false", Any, BY_TOPIC, "Default of preallocate."),
    topics("log.retention.bytes", Long, "-1", Any, Works, "Default of retention.bytes."),
    ServerRow { dynamic: true, ..unset("log.retention.ms", Long, Any, Works, "Default of retention.ms.") },
    unset("log.retention.minutes", Int, Any, Works, "Default of retention.ms when log.retention.ms is not set."),
    fixed("log.retention.hours", Int, "168", Any, Works, "Default of retention.ms when neither log.retention.ms nor log.retention.minutes is set."),
    ServerRow { dynamic: true, ..unset("log.roll.jitter.ms", Long, Any, BY_TOPIC, "Default of segment.jitter.ms.") },
    fixed("log.roll.jitter.hours", Int, "0", AtLeast(0), BY_TOPIC, "Default of segment.jitter.ms when log.roll.jitter.ms is not set."),
    ServerRow { dynamic: true, ..unset("log.roll.ms", Long, Any, Works, "Default of segment.ms.") },
    fixed("log.roll.hours", Int, "168", AtLeast(1), Works, "Default of segment.ms when log.roll.ms is not set."),
    topics("log.segment.bytes", Int, "1073741824", AtLeast(1048576), Works, "Default of segment.bytes."),
    topics("log.segment.delete.delay.ms", Long, "60000", AtLeast(0), BY_TOPIC, "Default of file.delete.delay.ms."),
    topics("message.max.bytes", Int, "1048588", AtLeast(0), Works, "Default of max.message.bytes."),
    topics("min.insync.replicas", Int, "1", AtLeast(1), BY_TOPIC, "Default of min.insync.replicas."),
    topics("streamstack.retention.commits", Long, "-1", AtLeast(-1), Works, "Default of streamstack.retention.commits."),
    topics("streamstack.retention.manifests.bytes", Long, "67108864", AtLeast(-1), Works, "Default of streamstack.retention.manifests.bytes."),
    topics("streamstack.seal.bytes", Long, "1073741824", AtLeast(1), Works, "Default of streamstack.seal.bytes."),
    topics("streamstack.seal.ms", Long, "5000", AtLeast(1), Works, "Default of streamstack.seal.ms."),
    topics("streamstack.seal.records", Long, "1000000", AtLeast(1), Works, "Default of streamstack.seal.records."),
    topics("unclean.leader.election.enable", Boolean, "false", Any, BY_TOPIC, "Default of unclean.leader.election.enable."),
];

/// Kafka's names whose beginning says that they are about something not built yet.
const UNBUILT_FAMILIES: &[(&str, &str)] = &[
    ("ssl.", "TLS is not built yet"),
    ("sasl.", "SASL is not built yet"),
    ("listener.name.", "settings of one listener are about TLS and SASL, which are not built yet"),
    ("delegation.token.", "delegation tokens are not built yet"),
];

/// All rows, those that work first.
pub fn rows() -> impl Iterator<Item = ServerRow> {
    TABLE.iter().copied().chain(accepted::rows())
}

/// The row of a name.
pub fn find(name: &str) -> Option<ServerRow> {
    rows().find(|server| server.row.name == name)
}

/// Why a broker config is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerValueError {
    #[error("unknown config {name}{suggestion}")]
    Unknown { name: String, suggestion: String },
    #[error("{name} is refused: {why}")]
    UnbuiltFamily { name: String, why: &'static str },
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("Cannot update these configs dynamically: [{name}]")]
    Fixed { name: String },
}

/// Checks a value and gives its row and canonical text.
pub fn check_value(name: &str, value: &str) -> Result<(ServerRow, String), ServerValueError> {
    let server = find(name).ok_or_else(|| unknown(name))?;
    // Kafka reads an empty value of a config without a default as not set.
    let value = server.row.check(value)?;
    match server.row.refusal(&value) {
        Some(refused) => Err(refused.into()),
        None => Ok((server, value)),
    }
}

/// As `check_value`, for a change while the broker runs.
pub fn check_dynamic(name: &str, value: &str) -> Result<String, ServerValueError> {
    match check_value(name, value)? {
        (ServerRow { dynamic: true, .. }, value) => Ok(value),
        _ => Err(ServerValueError::Fixed { name: name.to_owned() }),
    }
}

fn unknown(name: &str) -> ServerValueError {
    if let Some((_, why)) = UNBUILT_FAMILIES.iter().find(|(family, _)| name.starts_with(family)) {
        return ServerValueError::UnbuiltFamily { name: name.to_owned(), why };
    }
    let suggestion = did_you_mean(name, rows().map(|server| server.row.name));
    ServerValueError::Unknown { name: name.to_owned(), suggestion }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        check_value(name, value).unwrap_err().to_string()
    }

    #[test]
    fn wrong_configs_are_told_clearly() {
        assert_eq!(refusal("num.partition", "3"), "unknown config num.partition (did you mean num.partitions?)");
        assert_eq!(refusal("ssl.keystore.location", "/x"), "ssl.keystore.location is refused: TLS is not built yet");
        assert_eq!(
            refusal("streamstack.durability", "none"),
            "Invalid value none for configuration streamstack.durability: String must be one of: fsync, os"
        );
        assert!(refusal("authorizer.class.name", "org.example.A").contains("is refused"));
    }

    #[test]
    fn only_dynamic_configs_change_while_running() {
        assert_eq!(check_dynamic("log.segment.bytes", "5000000").unwrap(), "5000000");
        assert_eq!(
            check_dynamic("node.id", "4").unwrap_err().to_string(),
            "Cannot update these configs dynamically: [node.id]"
        );
    }

    #[test]
    fn names_are_unique_and_defaults_canonical() {
        let mut names = std::collections::BTreeSet::new();
        for ServerRow { row, .. } in rows() {
            assert!(names.insert(row.name), "{} stands twice", row.name);
            if let Some(default) = row.default {
                assert_eq!(row.check(default).unwrap(), default, "{}", row.name);
            }
        }
    }
}

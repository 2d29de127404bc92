//! THE table of a feed's configs: every topic config of Kafka 4.3 and ours, and the check of overrides.

use std::collections::BTreeMap;

use super::suggest::did_you_mean;
use super::table::Effect::{Accepted, Refused, Works};
use super::table::{self, Effect, Row};
use super::value::Allowed::{Any, AtLeast, Between, BetweenOr, Identity, OneOf, Ratio, Replicas, SomeOf};
use super::value::ConfigType::{Boolean, Double, Int, List, Long, String as Text};
use super::value::{Allowed, ConfigType, InvalidValue};

/// A topic config and the broker configs that give its default, first of them first.
#[derive(Clone, Copy, Debug)]
pub struct TopicRow {
    pub row: Row,
    pub synonyms: &'static [Synonym],
}

/// A broker config, and how many of the topic config's units one of its own is (hours to ms).
#[derive(Clone, Copy, Debug)]
pub struct Synonym {
    pub name: &'static str,
    pub factor: i64,
}

/// A broker config of the same unit.
const fn same(name: &'static str) -> Synonym {
    Synonym { name, factor: 1 }
}

const fn hours(name: &'static str) -> Synonym {
    Synonym { name, factor: 3_600_000 }
}

const fn minutes(name: &'static str) -> Synonym {
    Synonym { name, factor: 60_000 }
}

const fn row(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    allowed: Allowed,
    synonyms: &'static [Synonym],
    effect: Effect,
    doc: &'static str,
) -> TopicRow {
    TopicRow { row: Row { name, kind, default: Some(default), allowed, effect, doc }, synonyms }
}

const MAX: &str = "9223372036854775807";
const CODECS: Allowed = OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]);
const AS_SENT: Effect = Accepted("batches are kept byte for byte as the producer compressed them");
const COMPACTION: Effect = Accepted("nothing is compacted yet; it takes effect when compaction is built");
const JOURNAL: Effect = Accepted("durability is the journal's: see streamstack.durability");
const ONE_NODE: Effect = Accepted("one node holds every partition");
const NO_TIERS: Effect = Accepted("there is no tiered storage");
const NOT_TIERED: Effect = Refused("there is no tiered storage");
const DELETED_AT_ONCE: Effect = Accepted("files go at once, open reads keep theirs");
const INDEX: Effect = Accepted("the sparse index has its own fixed step and size");

/// In the order of names.
#[rustfmt::skip]
pub const TABLE: &[TopicRow] = &[
    row("cleanup.policy", List, "delete", SomeOf(&["compact", "delete"]), &[same("log.cleanup.policy")],
        Accepted("delete works; nothing is compacted yet, and compact takes effect when compaction is built"),
        "What becomes of old records: delete them after retention, compact them by key, or both."),
    row("compression.gzip.level", Int, "-1", BetweenOr(1, 9, -1), &[same("compression.gzip.level")], AS_SENT,
        "Level used when the broker compresses with gzip."),
    row("compression.lz4.level", Int, "9", Between(1, 17), &[same("compression.lz4.level")], AS_SENT,
        "Level used when the broker compresses with lz4."),
    row("compression.type", Text, "producer", CODECS, &[same("compression.type")], AS_SENT,
        "Codec of stored batches; `producer` keeps what was sent."),
    row("compression.zstd.level", Int, "3", Between(-131072, 22), &[same("compression.zstd.level")], AS_SENT,
        "Level used when the broker compresses with zstd."),
    row("delete.retention.ms", Long, "86400000", AtLeast(0), &[same("log.cleaner.delete.retention.ms")], COMPACTION,
        "How long a compacted feed keeps tombstones."),
    row("file.delete.delay.ms", Long, "60000", AtLeast(0), &[same("log.segment.delete.delay.ms")], DELETED_AT_ONCE,
        "Wait before the file of a deleted segment is removed."),
    row("flush.messages", Long, MAX, AtLeast(1), &[same("log.flush.interval.messages")], JOURNAL,
        "Records after which Kafka forces a sync."),
    row("flush.ms", Long, MAX, AtLeast(0), &[same("log.flush.interval.ms"), same("log.flush.scheduler.interval.ms")], JOURNAL,
        "Time after which Kafka forces a sync."),
    row("follower.replication.throttled.replicas", List, "", Replicas, &[], ONE_NODE,
        "Replicas whose replication is throttled on the follower's side."),
    row("index.interval.bytes", Int, "4096", AtLeast(0), &[same("log.index.interval.bytes")], INDEX,
        "Bytes of log between two rows of the index."),
    row("leader.replication.throttled.replicas", List, "", Replicas, &[], ONE_NODE,
        "Replicas whose replication is throttled on the leader's side."),
    row("local.retention.bytes", Long, "-2", AtLeast(-2), &[same("log.local.retention.bytes")], NO_TIERS,
        "Bytes kept locally when older segments are on remote storage."),
    row("local.retention.ms", Long, "-2", AtLeast(-2), &[same("log.local.retention.ms")], NO_TIERS,
        "Time that segments are kept locally when older ones are on remote storage."),
    row("max.compaction.lag.ms", Long, MAX, AtLeast(1), &[same("log.cleaner.max.compaction.lag.ms")], COMPACTION,
        "Longest time that a record stays out of compaction."),
    row("max.message.bytes", Int, "1048588", AtLeast(0), &[same("message.max.bytes")], Works,
        "Largest record batch taken, as sent (compressed)."),
    row("message.timestamp.after.max.ms", Long, "3600000", AtLeast(0), &[same("log.message.timestamp.after.max.ms")], Works,
        "How far a record's own time may lie after the broker's."),
    row("message.timestamp.before.max.ms", Long, MAX, AtLeast(0), &[same("log.message.timestamp.before.max.ms")], Works,
        "How far a record's own time may lie before the broker's."),
    row("message.timestamp.type", Text, "CreateTime", OneOf(&["CreateTime", "LogAppendTime"]), &[same("log.message.timestamp.type")], Works,
        "Whether records carry the producer's time or the time of the append."),
    row("min.cleanable.dirty.ratio", Double, "0.5", Ratio(0.0, 1.0), &[same("log.cleaner.min.cleanable.ratio")], COMPACTION,
        "Part of the log that must be new before it is compacted."),
    row("min.compaction.lag.ms", Long, "0", AtLeast(0), &[same("log.cleaner.min.compaction.lag.ms")], COMPACTION,
        "Shortest time that a record stays out of compaction."),
    row("min.insync.replicas", Int, "1", AtLeast(1), &[same("min.insync.replicas")], ONE_NODE,
        "Replicas that must have a record before acks=all is answered."),
    row("preallocate", Boolean, "false", Any, &[same("log.preallocate")], Accepted("segments grow as they are written"),
        "Whether a new segment's file gets its full size at once."),
    row("remote.log.copy.disable", Boolean, "false", Any, &[], NO_TIERS,
        "Stops copying to remote storage."),
    row("remote.log.delete.on.disable", Boolean, "false", Any, &[], NO_TIERS,
        "Deletes what is on remote storage when it is switched off."),
    row("remote.storage.enable", Boolean, "false", Any, &[], NOT_TIERED,
        "Whether older segments go to remote storage."),
    row("retention.bytes", Long, "-1", Any, &[same("log.retention.bytes")], Works,
        "Bytes of a partition above which the feed's oldest commits are dropped whole; -1 keeps all."),
    row("retention.ms", Long, "604800000", AtLeast(-1),
        &[same("log.retention.ms"), minutes("log.retention.minutes"), hours("log.retention.hours")], Works,
        "Time after its seal when a commit is dropped with its records; -1 keeps all."),
    row("segment.bytes", Int, "1073741824", AtLeast(1048576), &[same("log.segment.bytes")], Works,
        "Size at which a new segment file starts."),
    row("segment.index.bytes", Int, "10485760", AtLeast(4), &[same("log.index.size.max.bytes")], INDEX,
        "Largest size of a segment's index."),
    row("segment.jitter.ms", Long, "0", AtLeast(0), &[same("log.roll.jitter.ms"), hours("log.roll.jitter.hours")],
        Accepted("segments of one node need not be spread"),
        "Random time taken off segment.ms so that segments do not all roll at once."),
    row("segment.ms", Long, "604800000", AtLeast(1), &[same("log.roll.ms"), hours("log.roll.hours")], Works,
        "Age at which a new segment file starts."),
    row("streamstack.dedup.identity", Text, "key+value", Identity, &[], Works,
        "What makes two records the same for dedup views: key+value, key, value, or header:NAME (the last header of that name). A record that lacks it is the same as no other one. A change makes the feed's index anew."),
    row("streamstack.retain", List, "", Any, &[], Works,
        "Consumer groups whose unread history is kept: neither retention nor compaction takes a commit that one of them has yet to read, up to streamstack.retain.max.ms."),
    row("streamstack.retain.max.ms", Long, "-1", AtLeast(-1), &[], Works,
        "Time after its seal up to which a commit is kept for the groups of streamstack.retain; -1: however long they take."),
    row("streamstack.retention.commits", Long, "-1", AtLeast(-1), &[same("streamstack.retention.commits")], Works,
        "Number of commits kept; older ones are dropped with their records. -1 keeps all."),
    row("streamstack.retention.manifests.bytes", Long, "67108864", AtLeast(-1), &[same("streamstack.retention.manifests.bytes")], Works,
        "Bytes of manifests kept of dropped commits, for ..commits and ..streams; -1 keeps all."),
    row("streamstack.seal.bytes", Long, "1073741824", AtLeast(1), &[same("streamstack.seal.bytes")], Works,
        "Bytes after which the implicit stream is sealed into a commit."),
    row("streamstack.seal.ms", Long, "5000", AtLeast(1), &[same("streamstack.seal.ms")], Works,
        "Time after its first record when the implicit stream is sealed into a commit."),
    row("streamstack.seal.records", Long, "1000000", AtLeast(1), &[same("streamstack.seal.records")], Works,
        "Records after which the implicit stream is sealed into a commit."),
    row("streamstack.view", Text, "", Any, &[], Works,
        "Makes the topic, which must be empty, a read-only name of this view of another feed (orders..latest)."),
    row("streamstack.views.listed", List, "", Any, &[], Works,
        "Views of the feed that stand in lists of all topics, as internal ones: what comes after '..' in their names (latest,commits)."),
    row("unclean.leader.election.enable", Boolean, "false", Any, &[same("unclean.leader.election.enable")], ONE_NODE,
        "Whether a replica that lags may become leader."),
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static TopicRow> {
    TABLE.iter().find(|topic| topic.row.name == name)
}

/// Why an override is refused; the text goes to the client with INVALID_CONFIG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    #[error("Unknown topic config name: {name}{suggestion}")]
    Unknown { name: String, suggestion: String },
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    #[error(transparent)]
    Refused(#[from] table::Refused),
}

/// Checks one override and gives its canonical value.
pub fn check_override(name: &str, value: &str) -> Result<String, OverrideError> {
    let TopicRow { row, .. } = find(name).ok_or_else(|| unknown(name))?;
    let value = row.check(value)?;
    match row.refusal(&value) {
        Some(refused) => Err(refused.into()),
        None => Ok(value),
    }
}

/// Checks overrides and gives their canonical values; the first that is wrong is told.
pub fn check_overrides<'a>(
    overrides: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<BTreeMap<String, String>, OverrideError> {
    overrides.into_iter().map(|(name, value)| Ok((name.to_owned(), check_override(name, value)?))).collect()
}

fn unknown(name: &str) -> OverrideError {
    let suggestion = did_you_mean(name, TABLE.iter().map(|topic| topic.row.name));
    OverrideError::Unknown { name: name.to_owned(), suggestion }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        check_override(name, value).unwrap_err().to_string()
    }

    #[test]
    fn a_good_override_becomes_canonical() {
        assert_eq!(check_override("cleanup.policy", "compact, delete").unwrap(), "compact,delete");
        assert_eq!(check_override("segment.bytes", " 1048577 ").unwrap(), "1048577");
        assert_eq!(check_override("remote.storage.enable", "false").unwrap(), "false");
        assert_eq!(check_override("streamstack.dedup.identity", "header:ce_id").unwrap(), "header:ce_id");
    }

    #[test]
    fn a_bad_override_is_told_as_kafka_tells_it_and_better() {
        assert_eq!(
            refusal("retention.sm", "1"),
            "Unknown topic config name: retention.sm (did you mean retention.ms?)"
        );
        assert_eq!(refusal("message.format.version", "3.0"), "Unknown topic config name: message.format.version");
        assert_eq!(
            refusal("segment.bytes", "5"),
            "Invalid value 5 for configuration segment.bytes: Value must be at least 1048576"
        );
        assert_eq!(
            refusal("remote.storage.enable", "true"),
            "remote.storage.enable=true is refused: there is no tiered storage"
        );
        assert_eq!(
            refusal("streamstack.dedup.identity", "header:"),
            "Invalid value header: for configuration streamstack.dedup.identity: String must be key+value, key, value, or \
             header:NAME with a name of 1 to 255 bytes"
        );
    }

    #[test]
    fn connect_and_streams_may_create_their_topics() {
        let asked = [("cleanup.policy", "compact,delete"), ("retention.ms", "-1"), ("min.compaction.lag.ms", "60000")];
        assert_eq!(check_overrides(asked).unwrap().len(), 3);
        assert!(check_overrides([("segment.bytes", "52428800"), ("message.timestamp.type", "CreateTime")]).is_ok());
    }

    #[test]
    fn the_table_is_sorted_and_its_defaults_are_canonical() {
        for topic in TABLE {
            let default = topic.row.default.unwrap();
            assert_eq!(topic.row.check(default).unwrap(), default, "{}", topic.row.name);
        }
        assert!(TABLE.iter().map(|topic| topic.row.name).is_sorted());
    }
}

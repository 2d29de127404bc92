//! THE table of a consumer group's configs: every group config of Kafka 4.3, the check of overrides, and what is shown.

use std::collections::BTreeMap;

use super::effective::{ConfigSource, ConfigSynonym, ConfigValue, DynamicConfigs, broker_synonyms};
use super::load::ServerConfig;
use super::suggest::did_you_mean;
use super::table::Effect::{Accepted, Refused, Works};
use super::table::{self, Effect, Row};
use super::value::Allowed::{Any, AtLeast, OneOf};
use super::value::ConfigType::{Boolean, Int, String as Text};
use super::value::{Allowed, ConfigType, InvalidValue};

/// A group's config, and the broker's config that gives its default.
#[derive(Clone, Copy, Debug)]
pub struct GroupRow {
    pub row: Row,
    pub synonym: Option<&'static str>,
}

const fn row(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    allowed: Allowed,
    synonym: &'static str,
    effect: Effect,
    doc: &'static str,
) -> GroupRow {
    GroupRow { row: Row { name, kind, default: Some(default), allowed, effect, doc }, synonym: Some(synonym) }
}

/// Of which the broker knows no default.
const fn own(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    allowed: Allowed,
    effect: Effect,
    doc: &'static str,
) -> GroupRow {
    GroupRow { row: Row { name, kind, default: Some(default), allowed, effect, doc }, synonym: None }
}

const AT_ONCE: Effect = Accepted("partitions are shared out as soon as members or topics change");
const SHARE: Effect = Refused("share groups (KIP-932) are not served");
const STREAMS: Effect = Refused("Streams groups (KIP-1071) are not served");

/// In the order of names.
#[rustfmt::skip]
pub const TABLE: &[GroupRow] = &[
    row("consumer.assignment.interval.ms", Int, "1000", AtLeast(0), "group.consumer.assignment.interval.ms", AT_ONCE,
        "Time between two assignments of the group's partitions."),
    row("consumer.heartbeat.interval.ms", Int, "5000", AtLeast(1), "group.consumer.heartbeat.interval.ms", Works,
        "How often the group's members of the consumer protocol are told to be heard of."),
    row("consumer.session.timeout.ms", Int, "45000", AtLeast(1), "group.consumer.session.timeout.ms", Works,
        "Time without a heartbeat after which a member of the consumer protocol is out of the group."),
    row("share.assignment.interval.ms", Int, "1000", AtLeast(0), "group.share.assignment.interval.ms", SHARE,
        "Time between two assignments of a share group's partitions."),
    own("share.auto.offset.reset", Text, "latest", Any, SHARE,
        "Where a share group begins to read."),
    row("share.delivery.count.limit", Int, "5", AtLeast(2), "group.share.delivery.count.limit", SHARE,
        "How often a record is delivered to a share group at most."),
    row("share.heartbeat.interval.ms", Int, "5000", AtLeast(1), "group.share.heartbeat.interval.ms", SHARE,
        "How often members of a share group are told to be heard of."),
    own("share.isolation.level", Text, "read_uncommitted", OneOf(&["read_committed", "read_uncommitted"]), SHARE,
        "Which records of transactions a share group reads."),
    row("share.partition.max.record.locks", Int, "2000", AtLeast(100), "group.share.partition.max.record.locks", SHARE,
        "How many records of a partition a share group may hold."),
    row("share.record.lock.duration.ms", Int, "30000", AtLeast(1000), "group.share.record.lock.duration.ms", SHARE,
        "How long a member of a share group may hold a record."),
    own("share.renew.acknowledge.enable", Boolean, "true", Any, SHARE,
        "Whether a member of a share group may hold a record for longer."),
    row("share.session.timeout.ms", Int, "45000", AtLeast(1), "group.share.session.timeout.ms", SHARE,
        "Time without a heartbeat after which a member of a share group is out."),
    row("streams.assignment.interval.ms", Int, "1000", AtLeast(0), "group.streams.assignment.interval.ms", STREAMS,
        "Time between two assignments of a Streams group's tasks."),
    row("streams.heartbeat.interval.ms", Int, "5000", AtLeast(1), "group.streams.heartbeat.interval.ms", STREAMS,
        "How often members of a Streams group are told to be heard of."),
    row("streams.initial.rebalance.delay.ms", Int, "3000", AtLeast(0), "group.streams.initial.rebalance.delay.ms", STREAMS,
        "How long the first members of a Streams group wait for others."),
    row("streams.num.standby.replicas", Int, "0", AtLeast(0), "group.streams.num.standby.replicas", STREAMS,
        "Standby replicas of each task of a Streams group."),
    row("streams.session.timeout.ms", Int, "45000", AtLeast(1), "group.streams.session.timeout.ms", STREAMS,
        "Time without a heartbeat after which a member of a Streams group is out."),
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static GroupRow> {
    TABLE.iter().find(|group| group.row.name == name)
}

/// Why an override is refused, in Kafka's words where it has some; the text goes to the client with INVALID_CONFIG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupConfigError {
    #[error("Unknown group config name: {name}{suggestion}")]
    Unknown { name: String, suggestion: String },
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    #[error(transparent)]
    Refused(#[from] table::Refused),
    #[error("{name} must be greater than or equal to {min_name}")]
    TooLow { name: &'static str, min_name: &'static str },
    #[error("{name} must be less than or equal to {max_name}")]
    TooHigh { name: &'static str, max_name: &'static str },
    #[error("consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms")]
    SessionTooShort,
}

/// Checks one override by itself and gives its canonical value.
pub fn check_override(name: &str, value: &str) -> Result<String, GroupConfigError> {
    let GroupRow { row, .. } = find(name).ok_or_else(|| unknown(name))?;
    let value = row.check(value)?;
    match row.refusal(&value) {
        Some(refused) => Err(refused.into()),
        None => Ok(value),
    }
}

/// All configs of a group, in the order of their names.
pub fn group_configs(
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> Vec<ConfigValue> {
    TABLE.iter().map(|group| group_config(group, overrides, dynamic, server)).collect()
}

fn group_config(
    GroupRow { row, synonym }: &GroupRow,
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> ConfigValue {
    let synonym_at = |value: &str, source| ConfigSynonym { name: row.name, value: value.to_owned(), source };
    let mut synonyms = match synonym {
        Some(name) => broker_synonyms(&[*name], dynamic, server),
        None => row.default.map(|default| synonym_at(default, ConfigSource::Default)).into_iter().collect(),
    };
    if let Some(value) = overrides.get(row.name) {
        synonyms.insert(0, synonym_at(value, ConfigSource::DynamicGroup));
    }
    ConfigValue {
        name: row.name,
        kind: row.kind,
        value: synonyms.first().map(|synonym| synonym.value.clone()),
        source: synonyms.first().map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only: false,
        synonyms,
        row: *row,
    }
}

fn unknown(name: &str) -> GroupConfigError {
    let suggestion = did_you_mean(name, TABLE.iter().map(|group| group.row.name));
    GroupConfigError::Unknown { name: name.to_owned(), suggestion }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        check_override(name, value).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_served_is_refused_by_name() {
        assert_eq!(check_override("consumer.session.timeout.ms", " 50000 ").unwrap(), "50000");
        assert_eq!(
            refusal("share.session.timeout.ms", "50000"),
            "share.session.timeout.ms=50000 is refused: share groups (KIP-932) are not served"
        );
        assert_eq!(
            refusal("streams.num.standby.replicas", "1"),
            "streams.num.standby.replicas=1 is refused: Streams groups (KIP-1071) are not served"
        );
        assert_eq!(
            refusal("consumer.session.timeout", "1"),
            "Unknown group config name: consumer.session.timeout (did you mean consumer.session.timeout.ms?)"
        );
        assert_eq!(
            refusal("consumer.session.timeout.ms", "0"),
            "Invalid value 0 for configuration consumer.session.timeout.ms: Value must be at least 1"
        );
    }

    #[test]
    fn the_table_is_sorted_and_its_defaults_are_canonical() {
        for GroupRow { row, .. } in TABLE {
            let default = row.default.unwrap();
            assert_eq!(row.check(default).unwrap(), default, "{}", row.name);
        }
        assert!(TABLE.iter().map(|group| group.row.name).is_sorted());
    }

    #[test]
    fn what_is_set_on_the_group_goes_before_what_the_broker_says() {
        let server = ServerConfig::default();
        let overrides = BTreeMap::from([("consumer.session.timeout.ms".to_owned(), "50000".to_owned())]);
        let all = group_configs(&overrides, DynamicConfigs::none(), &server);
        let told = |name: &str| {
            let config = all.iter().find(|config| config.name == name).unwrap();
            let synonyms = config.synonyms.iter().map(|s| format!("{}={} {:?}", s.name, s.value, s.source));
            format!("{} [{}]", config.value.as_deref().unwrap(), synonyms.collect::<Vec<_>>().join(", "))
        };
        assert_eq!(
            told("consumer.session.timeout.ms"),
            "50000 [consumer.session.timeout.ms=50000 DynamicGroup, group.consumer.session.timeout.ms=45000 Default]"
        );
        assert_eq!(told("consumer.heartbeat.interval.ms"), "5000 [group.consumer.heartbeat.interval.ms=5000 Default]");
        assert_eq!(told("share.auto.offset.reset"), "latest [share.auto.offset.reset=latest Default]");
    }
}

//! The value of a config in force, its source and its synonyms, looked up in Kafka's order.

use std::collections::BTreeMap;

use super::load::ServerConfig;
use super::server::{self, ServerRow};
use super::table::Row;
use super::topic::{self, Synonym, TopicRow};
use super::value::ConfigType;

/// The dynamic configs of the broker and of the cluster default, as they stand in the state.
#[derive(Clone, Copy, Debug)]
pub struct DynamicConfigs<'a> {
    pub broker: &'a BTreeMap<String, String>,
    pub cluster: &'a BTreeMap<String, String>,
}

static NO_OVERRIDES: BTreeMap<String, String> = BTreeMap::new();

impl DynamicConfigs<'_> {
    /// None are set.
    pub fn none() -> DynamicConfigs<'static> {
        DynamicConfigs { broker: &NO_OVERRIDES, cluster: &NO_OVERRIDES }
    }
}

/// Kafka's sources. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigSource {
    DynamicTopic = 1,
    DynamicBroker = 2,
    DynamicDefaultBroker = 3,
    StaticBroker = 4,
    Default = 5,
    DynamicGroup = 8,
}

impl ConfigSource {
    /// The number that DescribeConfigs gives.
    pub fn code(self) -> i8 {
        self as i8
    }
}

/// One value of a config or of a config that it takes its default from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSynonym {
    pub name: &'static str,
    pub value: String,
    pub source: ConfigSource,
}

/// A config as DescribeConfigs shows it.
#[derive(Clone, Debug)]
pub struct ConfigValue {
    pub name: &'static str,
    pub kind: ConfigType,
    pub value: Option<String>,
    pub source: ConfigSource,
    pub read_only: bool,
    pub synonyms: Vec<ConfigSynonym>,
    pub row: Row,
}

impl ConfigValue {
    /// As DescribeConfigs gives it when asked for documentation.
    pub fn documentation(&self) -> String {
        self.row.documentation()
    }
}

/// The value of a topic config; `None` when there is no such name.
pub fn effective(
    name: &str,
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> Option<ConfigValue> {
    topic::find(name).map(|topic| topic_config(topic, overrides, dynamic, server))
}

/// All topic configs, in the order of their names.
pub fn topic_configs(
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> Vec<ConfigValue> {
    topic::TABLE.iter().map(|topic| topic_config(topic, overrides, dynamic, server)).collect()
}

/// All configs of the broker, in the order of their names.
pub fn broker_configs(dynamic: DynamicConfigs<'_>, server: &ServerConfig) -> Vec<ConfigValue> {
    let mut all: Vec<ConfigValue> = server::rows().map(|row| broker_config(row, dynamic, server)).collect();
    all.sort_by_key(|config| config.name);
    all
}

/// The dynamic configs of the cluster default alone: what Kafka shows for the broker named "".
pub fn cluster_configs(dynamic: DynamicConfigs<'_>) -> Vec<ConfigValue> {
    let shown = |(name, value): (&String, &String)| {
        let ServerRow { row, .. } = server::find(name)?;
        let source = ConfigSource::DynamicDefaultBroker;
        let synonyms = vec![ConfigSynonym { name: row.name, value: value.clone(), source }];
        let value = Some(value.clone());
        Some(ConfigValue { name: row.name, kind: row.kind, value, source, read_only: false, synonyms, row })
    };
    dynamic.cluster.iter().filter_map(shown).collect()
}

/// The value alone, for `TopicSettings`.
pub(super) fn topic_value(
    topic: &TopicRow,
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> String {
    if let Some(value) = overrides.get(topic.row.name) {
        return value.clone();
    }
    let found = topic.synonyms.iter().find_map(|synonym| broker_default(synonym, dynamic, server));
    found.unwrap_or_else(|| topic.row.default.unwrap_or_default().to_owned())
}

fn topic_config(
    topic: &TopicRow,
    overrides: &BTreeMap<String, String>,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> ConfigValue {
    let row = &topic.row;
    let names: Vec<&'static str> = topic.synonyms.iter().map(|synonym| synonym.name).collect();
    let mut synonyms = broker_synonyms(&names, dynamic, server);
    if let Some(value) = overrides.get(row.name) {
        let own = ConfigSynonym { name: row.name, value: value.clone(), source: ConfigSource::DynamicTopic };
        synonyms.insert(0, own);
    }
    ConfigValue {
        name: row.name,
        kind: row.kind,
        value: Some(topic_value(topic, overrides, dynamic, server)),
        source: synonyms.first().map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only: false,
        synonyms,
        row: *row,
    }
}

fn broker_config(
    ServerRow { row, dynamic: alterable }: ServerRow,
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> ConfigValue {
    let synonyms = broker_synonyms(family(row.name), dynamic, server);
    let synonyms = if synonyms.is_empty() { broker_synonyms(&[row.name], dynamic, server) } else { synonyms };
    let first = synonyms.first();
    // The number in force is the broker's, whichever of its two names gave it.
    let value = match row.name {
        "node.id" | "broker.id" => Some(server.settings.node_id.to_string()),
        _ => first.map(|synonym| synonym.value.clone()),
    };
    ConfigValue {
        name: row.name,
        kind: row.kind,
        value: if row.kind == ConfigType::Password { None } else { value },
        source: first.map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only: !alterable,
        synonyms,
        row,
    }
}

/// Broker configs that stand for each other in other units, as Kafka lists them for the first of them.
fn family(name: &str) -> &'static [&'static str] {
    match name {
        "log.retention.ms" => &["log.retention.ms", "log.retention.minutes", "log.retention.hours"],
        "log.roll.ms" => &["log.roll.ms", "log.roll.hours"],
        "log.roll.jitter.ms" => &["log.roll.jitter.ms", "log.roll.jitter.hours"],
        "log.flush.interval.ms" => &["log.flush.interval.ms", "log.flush.scheduler.interval.ms"],
        _ => &[],
    }
}

/// What is set for these names, source by source. As in Kafka nothing is listed unless the first name is
/// set somewhere: with `log.retention.hours` alone, `retention.ms` has its value but no synonyms.
pub(super) fn broker_synonyms(
    names: &[&'static str],
    dynamic: DynamicConfigs<'_>,
    server: &ServerConfig,
) -> Vec<ConfigSynonym> {
    let mut found = Vec::new();
    for source in [
        ConfigSource::DynamicBroker,
        ConfigSource::DynamicDefaultBroker,
        ConfigSource::StaticBroker,
        ConfigSource::Default,
    ] {
        for &name in names {
            if let Some(value) = value_at(source, name, dynamic, server) {
                found.push(ConfigSynonym { name, value: value.to_owned(), source });
            }
        }
    }
    let start = found.iter().position(|synonym| Some(&synonym.name) == names.first()).unwrap_or(found.len());
    found.split_off(start)
}

fn value_at<'a>(
    source: ConfigSource,
    name: &str,
    dynamic: DynamicConfigs<'a>,
    server: &'a ServerConfig,
) -> Option<&'a str> {
    match source {
        ConfigSource::DynamicTopic | ConfigSource::DynamicGroup => None,
        ConfigSource::DynamicBroker => dynamic.broker.get(name).map(String::as_str),
        ConfigSource::DynamicDefaultBroker => dynamic.cluster.get(name).map(String::as_str),
        ConfigSource::StaticBroker => server.given(name).map(|given| given.value.as_str()),
        ConfigSource::Default => server::find(name).and_then(|server| server.row.default),
    }
}

/// The broker config's value in the units of the topic config.
fn broker_default(synonym: &Synonym, dynamic: DynamicConfigs<'_>, server: &ServerConfig) -> Option<String> {
    let set = dynamic.broker.get(synonym.name).or_else(|| dynamic.cluster.get(synonym.name));
    let text = set.map(String::as_str).or_else(|| server.value(synonym.name))?;
    if synonym.factor == 1 {
        return Some(text.to_owned());
    }
    let number: i64 = text.parse().ok()?;
    // Any negative number of hours means "without limit".
    Some(if number < 0 { -1 } else { number.saturating_mul(synonym.factor) }.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::load::Sources;
    use super::*;

    fn server(overrides: &[&str]) -> ServerConfig {
        let overrides = overrides.iter().map(|text| (*text).to_owned()).collect();
        ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap()
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// `value SOURCE [synonym=value SOURCE, ...]`
    fn told(config: &ConfigValue) -> String {
        let synonyms: Vec<String> = config
            .synonyms
            .iter()
            .map(|synonym| format!("{}={} {:?}", synonym.name, synonym.value, synonym.source))
            .collect();
        format!("{} {:?} [{}]", config.value.as_deref().unwrap_or("null"), config.source, synonyms.join(", "))
    }

    #[test]
    fn sources_and_synonyms_come_in_kafkas_order() {
        // As Kafka 4.3.1 answered for the same settings.
        let broker = map(&[("log.segment.bytes", "6000000")]);
        let cluster = map(&[("log.segment.bytes", "5000000"), ("log.retention.ms", "77")]);
        let dynamic = DynamicConfigs { broker: &broker, cluster: &cluster };
        let server = server(&["log.retention.hours=5"]);
        let topic = |name: &str, overrides: &BTreeMap<String, String>| {
            told(&effective(name, overrides, dynamic, &server).unwrap())
        };
        assert_eq!(
            topic("segment.bytes", &map(&[])),
            "6000000 DynamicBroker [log.segment.bytes=6000000 DynamicBroker, \
             log.segment.bytes=5000000 DynamicDefaultBroker, log.segment.bytes=1073741824 Default]"
        );
        assert_eq!(
            topic("retention.ms", &map(&[])),
            "77 DynamicDefaultBroker [log.retention.ms=77 DynamicDefaultBroker, \
             log.retention.hours=5 StaticBroker, log.retention.hours=168 Default]"
        );
        assert_eq!(
            topic("retention.bytes", &map(&[("retention.bytes", "9")])),
            "9 DynamicTopic [retention.bytes=9 DynamicTopic, log.retention.bytes=-1 Default]"
        );
        let broker = |name| told(broker_configs(dynamic, &server).iter().find(|config| config.name == name).unwrap());
        assert_eq!(
            broker("log.retention.hours"),
            "5 StaticBroker [log.retention.hours=5 StaticBroker, log.retention.hours=168 Default]"
        );
        assert_eq!(
            broker("log.retention.ms"),
            "77 DynamicDefaultBroker [log.retention.ms=77 DynamicDefaultBroker, \
             log.retention.hours=5 StaticBroker, log.retention.hours=168 Default]"
        );
        assert_eq!(cluster_configs(dynamic).len(), 2);
    }

    #[test]
    fn coarser_units_give_values_but_no_synonyms() {
        let server = server(&["log.retention.hours=5", "log.flush.scheduler.interval.ms=3000", "log.roll.hours=3"]);
        let topic = |name| told(&effective(name, &map(&[]), DynamicConfigs::none(), &server).unwrap());
        assert_eq!(topic("retention.ms"), "18000000 Default []");
        assert_eq!(topic("flush.ms"), "3000 Default []");
        assert_eq!(topic("segment.ms"), "10800000 Default []");
        let broker = broker_configs(DynamicConfigs::none(), &server);
        let retention = broker.iter().find(|config| config.name == "log.retention.ms").unwrap();
        assert_eq!(told(retention), "null Default []");
    }

    #[test]
    fn minutes_go_before_hours_and_negative_means_for_ever() {
        let value = |overrides: &[&str]| {
            effective("retention.ms", &map(&[]), DynamicConfigs::none(), &server(overrides)).unwrap().value.unwrap()
        };
        assert_eq!(value(&["log.retention.hours=5", "log.retention.minutes=7"]), "420000");
        assert_eq!(value(&["log.retention.hours=-1"]), "-1");
        assert_eq!(value(&[]), "604800000");
    }
}

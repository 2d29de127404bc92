//! What the broker needs of a feed's configs, typed. Cheap enough to compute at every change of a
//! feed's or the broker's configs, and to be kept until the next.

use std::collections::BTreeMap;

use super::effective::{DynamicConfigs, topic_value};
use super::identity::Identity;
use super::load::ServerConfig;
use super::topic;
use super::value::list;

/// Whose time a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampType {
    Create,
    LogAppend,
}

/// See the doc lines of `topic::TABLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSettings {
    pub segment_bytes: u64,
    pub segment_ms: i64,
    pub max_message_bytes: usize,
    pub timestamp_type: TimestampType,
    pub timestamp_before_max_ms: i64,
    pub timestamp_after_max_ms: i64,
    /// `cleanup.policy` holds `compact`: records must have keys.
    pub compact: bool,
    /// `cleanup.policy` holds `delete`: history may be deleted.
    pub delete: bool,
    /// Negative: no limit, in all four.
    pub retention_ms: i64,
    pub retention_bytes: i64,
    pub retention_commits: i64,
    pub retention_manifests_bytes: i64,
    /// Groups whose unread history is kept, and how long; negative: no limit.
    pub retain: Vec<String>,
    pub retain_max_ms: i64,
    pub seal_ms: i64,
    pub seal_records: i64,
    pub seal_bytes: i64,
    /// The view that the topic is a name of; empty: it is a feed.
    pub view: String,
    /// Views shown in lists of topics, by what comes after `..` in their names.
    pub views_listed: Vec<String>,
    /// What makes two records the same for dedup views.
    pub dedup_identity: Identity,
}

impl TopicSettings {
    /// The settings that follow from a feed's overrides, the dynamic configs and the broker's own.
    pub fn of(
        overrides: &BTreeMap<String, String>,
        dynamic: DynamicConfigs<'_>,
        server: &ServerConfig,
    ) -> TopicSettings {
        let text = |name: &str| {
            let topic = topic::find(name).expect("a name of the table");
            topic_value(topic, overrides, dynamic, server)
        };
        let number = |name: &str| -> i64 { text(name).parse().expect("a number, as it was checked when it was set") };
        TopicSettings {
            segment_bytes: number("segment.bytes").unsigned_abs(),
            segment_ms: number("segment.ms"),
            max_message_bytes: usize::try_from(number("max.message.bytes")).unwrap_or(0),
            timestamp_type: match text("message.timestamp.type").as_str() {
                "LogAppendTime" => TimestampType::LogAppend,
                _ => TimestampType::Create,
            },
            timestamp_before_max_ms: number("message.timestamp.before.max.ms"),
            timestamp_after_max_ms: number("message.timestamp.after.max.ms"),
            compact: list(&text("cleanup.policy")).contains(&"compact"),
            delete: list(&text("cleanup.policy")).contains(&"delete"),
            retention_ms: number("retention.ms"),
            retention_bytes: number("retention.bytes"),
            retention_commits: number("streamstack.retention.commits"),
            retention_manifests_bytes: number("streamstack.retention.manifests.bytes"),
            retain: list(&text("streamstack.retain")).into_iter().map(str::to_owned).collect(),
            retain_max_ms: number("streamstack.retain.max.ms"),
            seal_ms: number("streamstack.seal.ms"),
            seal_records: number("streamstack.seal.records"),
            seal_bytes: number("streamstack.seal.bytes"),
            view: text("streamstack.view"),
            views_listed: list(&text("streamstack.views.listed")).into_iter().map(str::to_owned).collect(),
            dedup_identity: Identity::parse(&text("streamstack.dedup.identity")).unwrap_or_default(),
        }
    }
}

/// All defaults.
impl Default for TopicSettings {
    fn default() -> TopicSettings {
        TopicSettings::of(&BTreeMap::new(), DynamicConfigs::none(), &ServerConfig::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::Sources;
    use super::*;

    #[test]
    fn overrides_go_before_dynamic_before_static_before_default() {
        let sources = Sources {
            overrides: vec!["streamstack.seal.ms=100".to_owned(), "log.cleanup.policy=compact".to_owned()],
            ..Sources::default()
        };
        let server = ServerConfig::load(&sources).unwrap();
        let cluster = BTreeMap::from([("message.max.bytes".to_owned(), "5000".to_owned())]);
        let dynamic = DynamicConfigs { cluster: &cluster, ..DynamicConfigs::none() };
        let overrides = BTreeMap::from([("segment.bytes".to_owned(), "2000000".to_owned())]);
        let settings = TopicSettings::of(&overrides, dynamic, &server);
        let expected = TopicSettings {
            segment_bytes: 2_000_000,
            max_message_bytes: 5000,
            seal_ms: 100,
            compact: true,
            delete: false,
            ..TopicSettings::default()
        };
        assert_eq!(settings, expected);
        assert_eq!(settings.segment_ms, 604_800_000);
        assert_eq!(settings.timestamp_type, TimestampType::Create);
    }
}

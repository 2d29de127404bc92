//! The configuration in force: the server's own, and what clients set on the broker while it runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

use super::aliases;
use super::handles::FeedConfig;
use crate::config::{DynamicConfigs, GroupTimes, ServerConfig, Settings, TopicSettings};
use crate::model::{FeedSettings, Overrides};

/// Static and dynamic configuration together.
pub struct LiveSettings {
    server: ServerConfig,
    dynamic: RwLock<Arc<Dynamic>>,
    /// Those of consumer groups, of which few have any.
    groups: RwLock<HashMap<String, GroupConfig>>,
}

/// What clients set on a consumer group, and the times that follow.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    pub overrides: Overrides,
    pub times: GroupTimes,
}

/// What clients set on this broker, and on the cluster for all brokers.
#[derive(Clone, Debug, Default)]
pub struct Dynamic {
    pub broker: BTreeMap<String, String>,
    pub cluster: BTreeMap<String, String>,
}

impl Dynamic {
    /// As the config tables take it.
    pub fn configs(&self) -> DynamicConfigs<'_> {
        DynamicConfigs { broker: &self.broker, cluster: &self.cluster }
    }
}

impl LiveSettings {
    /// What the server was started with, and the dynamic configs that the journal keeps.
    pub fn new(server: ServerConfig, dynamic: Dynamic) -> LiveSettings {
        LiveSettings { server, dynamic: RwLock::new(Arc::new(dynamic)), groups: RwLock::default() }
    }

    /// The configuration that the server was started with.
    pub fn server(&self) -> &ServerConfig {
        &self.server
    }

    /// The same, as typed values.
    pub fn typed(&self) -> &Settings {
        &self.server.settings
    }

    /// What clients set on the broker.
    pub fn dynamic(&self) -> Arc<Dynamic> {
        self.dynamic.read().expect("no code panics while it holds the dynamic configs").clone()
    }

    /// A feed's configuration, given what was set on the feed itself.
    pub fn feed_config(&self, overrides: BTreeMap<String, String>) -> FeedConfig {
        let settings = TopicSettings::of(&overrides, self.dynamic().configs(), &self.server);
        let model = FeedSettings {
            segment_bytes: settings.segment_bytes,
            segment_ms: settings.segment_ms,
            seal_ms: settings.seal_ms,
            seal_records: settings.seal_records,
            seal_bytes: settings.seal_bytes,
            producer_expiration_ms: self.typed().producer_id_expiration_ms,
        };
        // Checked when it was set.
        let alias = aliases::view_named(&settings.view).ok().map(Arc::new);
        FeedConfig { overrides: Arc::new(overrides), settings, alias, model }
    }

    /// What clients set on the consumer group of that name, if anything.
    pub fn group(&self, group: &str) -> Option<GroupConfig> {
        self.groups.read().expect("no code panics while it holds the configs of groups").get(group).cloned()
    }

    /// The consumer groups on which something is set, by name.
    pub fn configured_groups(&self) -> Vec<String> {
        let groups = self.groups.read().expect("no code panics while it holds the configs of groups");
        let mut names: Vec<String> = groups.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    pub(super) fn set_group(&self, group: &str, overrides: Overrides) {
        let mut groups = self.groups.write().expect("no code panics while it holds the configs of groups");
        if overrides.is_empty() {
            groups.remove(group);
        } else {
            let times = GroupTimes::of(&overrides, &self.server);
            groups.insert(group.to_owned(), GroupConfig { overrides, times });
        }
    }

    pub(super) fn set_dynamic(&self, broker: Option<i32>, overrides: BTreeMap<String, String>) {
        let mut dynamic = self.dynamic.write().expect("no code panics while it holds the dynamic configs");
        let mut changed = Dynamic::clone(&dynamic);
        match broker {
            Some(_) => changed.broker = overrides,
            None => changed.cluster = overrides,
        }
        *dynamic = Arc::new(changed);
    }
}

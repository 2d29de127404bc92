//! The configuration in force: the server's own, and what clients set on the broker while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use super::handles::FeedConfig;
use crate::config::{DynamicConfigs, ServerConfig, Settings, TopicSettings};
use crate::model::FeedSettings;

/// Static and dynamic configuration together.
pub struct LiveSettings {
    server: ServerConfig,
    dynamic: RwLock<Arc<Dynamic>>,
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
        LiveSettings { server, dynamic: RwLock::new(Arc::new(dynamic)) }
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
        FeedConfig { overrides: Arc::new(overrides), settings, model }
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

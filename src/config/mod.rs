//! Configs with Kafka's names: the tables, where values come from, and typed settings.
//!
//! `topic`, `group` and `server` (with `accepted`) are the tables; `load` reads the broker's static configs from
//! flags, environment and file; `effective` and `topic_settings` look up what holds for a feed;
//! `alter` changes overrides. A new config is one row, and a field of `Settings` or `TopicSettings`.

mod accepted;
pub mod alter;
mod consumer_groups;
pub mod effective;
mod env;
pub mod group;
mod group_times;
pub mod identity;
pub mod listeners;
pub mod load;
pub mod properties;
pub mod reference;
pub mod server;
pub mod settings;
mod suggest;
pub mod table;
pub mod topic;
pub mod topic_settings;
pub mod value;

pub use alter::{AlterError, AlterOp, Alteration, alter_broker, alter_group, alter_topic};
pub use effective::{
    ConfigSource, ConfigSynonym, ConfigValue, DynamicConfigs, broker_configs, cluster_configs, effective, topic_configs,
};
pub use group::{GroupConfigError, group_configs};
pub use group_times::GroupTimes;
pub use identity::Identity;
pub use listeners::{Listener, is_every_interface};
pub use load::{ConfigErrors, Origin, ServerConfig, Sources};
pub use settings::{Durability, Settings};
pub use topic::{OverrideError, check_override, check_overrides};
pub use topic_settings::{TimestampType, TopicSettings};
pub use value::ConfigType;

//! The configs of groups of the consumer protocol as typed values, and the bounds that they must keep to.

use super::load::{ConfigError, Values};
use super::value::list;

/// See the doc lines of `server::TABLE`.
#[derive(Clone, Debug)]
pub struct ConsumerGroupConfig {
    pub session_timeout_ms: i32,
    pub heartbeat_interval_ms: i32,
    pub members_max: usize,
    pub assignors: Vec<String>,
    /// Classic groups with members may go over to the consumer protocol.
    pub upgrade: bool,
    /// And come back.
    pub downgrade: bool,
}

impl ConsumerGroupConfig {
    pub(super) fn read(config: &Values) -> ConsumerGroupConfig {
        ConsumerGroupConfig {
            session_timeout_ms: number(config, SESSION.value),
            heartbeat_interval_ms: number(config, HEARTBEAT.value),
            members_max: usize::try_from(number(config, "group.consumer.max.size")).unwrap_or(usize::MAX),
            assignors: assignors(config).into_iter().map(|name| short(name).to_owned()).collect(),
            upgrade: migrates(config, "upgrade"),
            downgrade: migrates(config, "downgrade"),
        }
    }

    /// What does not lie between its bounds.
    pub(super) fn check(config: &Values) -> Vec<ConfigError> {
        let bounded = [SESSION, HEARTBEAT].into_iter().filter_map(|bounded| bounded.check(config).err());
        bounded.chain(check_assignors(config).err()).collect()
    }
}

fn migrates(config: &Values, way: &str) -> bool {
    let policy = text(config, "group.consumer.migration.policy");
    policy.eq_ignore_ascii_case("bidirectional") || policy.eq_ignore_ascii_case(way)
}

fn assignors(config: &Values) -> Vec<&str> {
    list(text(config, "group.consumer.assignors"))
}

/// Kafka takes the names of its classes too.
fn short(name: &str) -> &str {
    match name {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor" => "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor" => "range",
        name => name,
    }
}

fn check_assignors(config: &Values) -> Result<(), ConfigError> {
    let names = assignors(config);
    let known = |name: &&str| matches!(short(name), "uniform" | "range");
    match !names.is_empty() && names.iter().all(known) {
        true => Ok(()),
        false => Err(ConfigError::Assignors { value: names.join(",") }),
    }
}

/// A config with a least and a most that are configs too.
struct Bounded {
    value: &'static str,
    min: &'static str,
    max: &'static str,
}

const SESSION: Bounded = Bounded {
    value: "group.consumer.session.timeout.ms",
    min: "group.consumer.min.session.timeout.ms",
    max: "group.consumer.max.session.timeout.ms",
};

const HEARTBEAT: Bounded = Bounded {
    value: "group.consumer.heartbeat.interval.ms",
    min: "group.consumer.min.heartbeat.interval.ms",
    max: "group.consumer.max.heartbeat.interval.ms",
};

impl Bounded {
    fn check(&self, config: &Values) -> Result<(), ConfigError> {
        let [value, min, max] = [self.value, self.min, self.max].map(|name| number(config, name));
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(ConfigError::Bounds { name: self.value, value, min_name: self.min, min, max_name: self.max, max })
    }
}

fn number(config: &Values, name: &str) -> i32 {
    text(config, name).parse().expect("a number, as the table checked")
}

fn text<'a>(config: &'a Values, name: &str) -> &'a str {
    config.value(name).expect("a config with a default")
}

#[cfg(test)]
mod tests {
    use super::super::load::{ServerConfig, Sources};
    use super::*;

    fn load(overrides: &[&str]) -> Result<ConsumerGroupConfig, String> {
        let overrides = overrides.iter().map(|text| (*text).to_owned()).collect();
        let loaded = ServerConfig::load(&Sources { overrides, ..Sources::default() });
        loaded.map(|config| config.settings.consumer_groups).map_err(|errors| errors.to_string())
    }

    #[test]
    fn the_defaults_are_kafkas() {
        let config = load(&[]).unwrap();
        assert_eq!((config.session_timeout_ms, config.heartbeat_interval_ms), (45_000, 5_000));
        assert_eq!(config.members_max, i32::MAX as usize);
        assert_eq!(config.assignors, ["uniform", "range"]);
    }

    #[test]
    fn a_timeout_out_of_its_bounds_is_refused_until_the_bounds_are_moved() {
        let short = "group.consumer.session.timeout.ms=1000";
        assert_eq!(
            load(&[short]).unwrap_err(),
            "group.consumer.session.timeout.ms=1000 is not between group.consumer.min.session.timeout.ms=45000 and \
             group.consumer.max.session.timeout.ms=60000: change one of them"
        );
        let moved = load(&[short, "group.consumer.min.session.timeout.ms=1000"]).unwrap();
        assert_eq!(moved.session_timeout_ms, 1_000);
        load(&["group.consumer.heartbeat.interval.ms=15001"]).unwrap_err();
    }

    #[test]
    fn groups_may_migrate_as_the_policy_says() {
        let migrates = |policy: &[&str]| load(policy).map(|config| (config.upgrade, config.downgrade));
        assert_eq!(migrates(&[]), Ok((true, true)));
        for (policy, allowed) in
            [("disabled", (false, false)), ("Upgrade", (true, false)), ("DOWNGRADE", (false, true))]
        {
            assert_eq!(migrates(&[&format!("group.consumer.migration.policy={policy}")]), Ok(allowed));
        }
        migrates(&["group.consumer.migration.policy=both"]).unwrap_err();
    }

    #[test]
    fn assignors_are_named_as_kafka_names_them() {
        let classes = "group.consumer.assignors=org.apache.kafka.coordinator.group.assignor.RangeAssignor,uniform";
        assert_eq!(load(&[classes]).unwrap().assignors, ["range", "uniform"]);
        for wrong in ["group.consumer.assignors=range,other", "group.consumer.assignors="] {
            let value = wrong.split_once('=').unwrap().1;
            let error = format!("group.consumer.assignors={value}: write uniform, range or both");
            assert_eq!(load(&[wrong]).unwrap_err(), error);
        }
    }
}

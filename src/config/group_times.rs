//! The times by which a consumer group goes: the broker's, or those set on the group itself, within the broker's bounds.

use std::collections::BTreeMap;

use super::group::GroupConfigError;
use super::load::ServerConfig;

/// See the doc lines of `group::TABLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTimes {
    pub session_timeout_ms: i32,
    pub heartbeat_interval_ms: i32,
}

/// A group's config with a least and a most that are the broker's configs.
struct Bounded {
    name: &'static str,
    default_name: &'static str,
    min_name: &'static str,
    max_name: &'static str,
}

const HEARTBEAT: Bounded = Bounded {
    name: "consumer.heartbeat.interval.ms",
    default_name: "group.consumer.heartbeat.interval.ms",
    min_name: "group.consumer.min.heartbeat.interval.ms",
    max_name: "group.consumer.max.heartbeat.interval.ms",
};

const SESSION: Bounded = Bounded {
    name: "consumer.session.timeout.ms",
    default_name: "group.consumer.session.timeout.ms",
    min_name: "group.consumer.min.session.timeout.ms",
    max_name: "group.consumer.max.session.timeout.ms",
};

const ASSIGNMENT: Bounded = Bounded {
    name: "consumer.assignment.interval.ms",
    default_name: "group.consumer.assignment.interval.ms",
    min_name: "group.consumer.min.assignment.interval.ms",
    max_name: "group.consumer.max.assignment.interval.ms",
};

impl GroupTimes {
    /// The times of a group with these overrides. The broker's bounds may have moved since they were set: what lies outside
    /// is taken to the nearest bound.
    pub fn of(overrides: &BTreeMap<String, String>, server: &ServerConfig) -> GroupTimes {
        let times = GroupTimes {
            session_timeout_ms: SESSION.within_bounds(overrides, server),
            heartbeat_interval_ms: HEARTBEAT.within_bounds(overrides, server),
        };
        match times.session_timeout_ms > times.heartbeat_interval_ms {
            true => times,
            false => GroupTimes::of_broker(server),
        }
    }

    fn of_broker(server: &ServerConfig) -> GroupTimes {
        let groups = &server.settings.consumer_groups;
        GroupTimes {
            session_timeout_ms: groups.session_timeout_ms,
            heartbeat_interval_ms: groups.heartbeat_interval_ms,
        }
    }

    /// Whether a group may have these overrides, each right by itself. Told one by one, in Kafka's order.
    pub fn check(overrides: &BTreeMap<String, String>, server: &ServerConfig) -> Result<(), GroupConfigError> {
        for bounded in [HEARTBEAT, SESSION, ASSIGNMENT] {
            bounded.check(overrides, server)?;
        }
        match SESSION.value(overrides, server) > HEARTBEAT.value(overrides, server) {
            true => Ok(()),
            false => Err(GroupConfigError::SessionTooShort),
        }
    }
}

impl Bounded {
    fn value(&self, overrides: &BTreeMap<String, String>, server: &ServerConfig) -> i32 {
        match overrides.get(self.name) {
            Some(text) => text.parse().expect("a number, as it was checked when it was set"),
            None => number(server, self.default_name),
        }
    }

    fn within_bounds(&self, overrides: &BTreeMap<String, String>, server: &ServerConfig) -> i32 {
        // In this order bounds that cross are no panic.
        self.value(overrides, server).min(number(server, self.max_name)).max(number(server, self.min_name))
    }

    fn check(&self, overrides: &BTreeMap<String, String>, server: &ServerConfig) -> Result<(), GroupConfigError> {
        let &Bounded { name, min_name, max_name, .. } = self;
        match self.value(overrides, server) {
            value if value < number(server, min_name) => Err(GroupConfigError::TooLow { name, min_name }),
            value if value > number(server, max_name) => Err(GroupConfigError::TooHigh { name, max_name }),
            _ => Ok(()),
        }
    }
}

fn number(server: &ServerConfig, name: &str) -> i32 {
    let text = server.value(name).expect("a config with a default");
    text.parse().expect("a number, as the table checked")
}

#[cfg(test)]
mod tests {
    use super::super::load::Sources;
    use super::*;

    fn server(overrides: &[&str]) -> ServerConfig {
        let overrides = overrides.iter().map(|text| (*text).to_owned()).collect();
        ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap()
    }

    fn set(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_value_out_of_the_brokers_bounds_is_refused_as_kafka_refuses_it() {
        let server = server(&[]);
        let refusal = |pairs| GroupTimes::check(&set(pairs), &server).unwrap_err().to_string();
        assert_eq!(
            refusal(&[("consumer.session.timeout.ms", "44999")]),
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms"
        );
        assert_eq!(
            refusal(&[("consumer.heartbeat.interval.ms", "15001"), ("consumer.session.timeout.ms", "1")]),
            "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms"
        );
        assert_eq!(
            refusal(&[("consumer.assignment.interval.ms", "15001")]),
            "consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms"
        );
        GroupTimes::check(&set(&[("consumer.session.timeout.ms", "60000")]), &server).unwrap();
    }

    #[test]
    fn a_session_is_longer_than_the_time_between_two_heartbeats() {
        let server = server(&["group.consumer.min.session.timeout.ms=1"]);
        let short = set(&[("consumer.session.timeout.ms", "5000")]);
        assert_eq!(GroupTimes::check(&short, &server), Err(GroupConfigError::SessionTooShort));
        // As it may have been set while the heartbeats were closer together.
        assert_eq!(GroupTimes::of(&short, &server), GroupTimes::of_broker(&server));
    }

    #[test]
    fn what_was_set_before_the_bounds_moved_is_taken_to_the_nearest() {
        let own = set(&[("consumer.session.timeout.ms", "60000"), ("consumer.heartbeat.interval.ms", "7000")]);
        let times = GroupTimes::of(&own, &server(&["group.consumer.max.session.timeout.ms=50000"]));
        assert_eq!(times, GroupTimes { session_timeout_ms: 50_000, heartbeat_interval_ms: 7_000 });
        let none = GroupTimes::of(&set(&[]), &server(&[]));
        assert_eq!(none, GroupTimes { session_timeout_ms: 45_000, heartbeat_interval_ms: 5_000 });
    }
}

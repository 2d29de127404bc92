//! What a heartbeat must say, by itself: the rules that need no group.

use super::fault::Fault;
use super::heartbeat::{Heartbeat, JOIN, LEAVE};
use super::member::LEFT_FOR_A_WHILE;
use super::settings::Settings;

impl Heartbeat {
    /// Whether the request may be looked at.
    pub(super) fn check(&self, settings: &Settings) -> Result<(), Fault> {
        let empty = |text: &Option<String>| text.as_deref() == Some("");
        match self {
            _ if self.member.is_empty() => invalid("MemberId can't be empty."),
            _ if empty(&self.instance) => invalid("InstanceId can't be empty."),
            _ if empty(&self.rack) => invalid("RackId can't be empty."),
            _ if self.epoch == JOIN => self.check_join(),
            _ if self.epoch < LEFT_FOR_A_WHILE => invalid("MemberEpoch is invalid."),
            _ if self.epoch == LEFT_FOR_A_WHILE && self.instance.is_none() => invalid("InstanceId can't be null."),
            _ => Ok(()),
        }?;
        match &self.assignor {
            Some(name) if self.epoch > LEAVE && settings.assignor(name).is_none() => {
                let known = settings.assignors.iter().map(|assignor| assignor.name()).collect::<Vec<_>>().join(", ");
                Err(Fault::UnsupportedAssignor { found: name.clone(), known })
            }
            _ => Ok(()),
        }
    }

    /// Whoever joins says all of itself, and holds nothing.
    fn check_join(&self) -> Result<(), Fault> {
        match self {
            _ if self.rebalance_timeout_ms.is_none() => {
                invalid("RebalanceTimeoutMs must be provided in first request.")
            }
            _ if self.owned.as_ref().is_none_or(|owned| !owned.is_empty()) => {
                invalid("TopicPartitions must be empty when (re-)joining.")
            }
            _ if self.topics.is_none() && self.regex.is_none() => {
                invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
            }
            _ => Ok(()),
        }
    }
}

fn invalid(what: &str) -> Result<(), Fault> {
    Err(Fault::Invalid(what.to_owned()))
}

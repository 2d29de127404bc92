//! Positions that a group loses: at an operator's wish, or because nobody used them for long. Decided under the group's
//! lock, so that none goes that a member has just begun to read.

use std::collections::BTreeSet;
use std::convert::Infallible;

use super::super::{Broker, Gated};
use crate::model::group::GroupError;
use crate::model::{Decision, PartitionId, Readers, Timestamp};

impl Broker {
    /// Forgets positions of a group, but for those in topics that members read, which the outcome names.
    pub fn forget_positions(
        &self,
        group: &str,
        positions: Vec<(String, PartitionId)>,
    ) -> Gated<Result<BTreeSet<String>, GroupError>> {
        if group.is_empty() {
            return Gated { value: Err(GroupError::NoName), durable_at: self.core.next() };
        }
        let worked = self.groups.with(self, group, |_, running| {
            let machine = &running.machine;
            let topics: BTreeSet<&str> = positions.iter().map(|(topic, _)| topic.as_str()).collect();
            let read: BTreeSet<String> =
                topics.into_iter().filter(|topic| machine.subscribes_to(topic)).map(str::to_owned).collect();
            self.submit(|state| {
                let known = state.subscription(group).is_some() || !machine.is_at_rest();
                if !known {
                    return Err(GroupError::UnknownGroup { group: group.to_owned() });
                }
                if !machine.is_empty() && !machine.tells_topics() {
                    return Err(GroupError::NotEmpty);
                }
                let unread = positions.into_iter().filter(|(topic, _)| !read.contains(topic)).collect();
                Ok(state.decide_forget_positions(group, unread).map(|_| read))
            })
        });
        worked.unwrap_or_else(|error| Gated { value: Err(error), durable_at: self.core.next() })
    }

    /// Forgets the positions that nobody used for so long, and the group itself when it has no members and none is left.
    /// Returns how many there were.
    pub(in super::super) fn forget_unused(&self, group: &str, retention_ms: i64) -> Result<usize, GroupError> {
        let now = self.now();
        self.groups.with(self, group, |_, running| {
            let machine = &running.machine;
            let topics = self.look_at_positions(group, |subscription| {
                subscription.into_iter().flat_map(|known| known.topics()).map(str::to_owned).collect::<Vec<_>>()
            });
            let read: BTreeSet<String> =
                topics.value.into_iter().filter(|topic| machine.subscribes_to(topic)).collect();
            let forgotten = self.submit(|state| {
                let Some(subscription) = state.subscription(group) else { return Ok(Decision::nothing((0, false))) };
                let kept_at = subscription.kept().map_or(Timestamp(i64::MIN), |kept| kept.at);
                let readers = machine.readers(kept_at);
                let expired = subscription.expired(readers, |topic| read.contains(topic), retention_ms, now);
                let num_expired = expired.len();
                // As in Kafka, a group without members that has no position left is gone.
                let is_unused =
                    num_expired == subscription.positions().count() && matches!(readers, Readers::LeftAt(_));
                if is_unused {
                    return Ok::<_, Infallible>(state.decide_delete_group(group).map(|_| (num_expired, true)));
                }
                Ok(state.decide_forget_positions(group, expired).map(|num| (num, false)))
            });
            let (num_forgotten, is_deleted) = forgotten.value.unwrap_or_else(|never| match never {});
            if is_deleted {
                running.replace(self.groups.machine_of(None, now));
            }
            num_forgotten
        })
    }
}

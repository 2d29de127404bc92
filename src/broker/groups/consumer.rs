//! Groups of the consumer protocol (KIP-848): their heartbeats, and a look at them.

use std::collections::BTreeSet;

use super::super::{Broker, Gated};
use crate::model::group::consumer::{ConsumerGroup, Heartbeat, Settings, Told, Topics};
use crate::model::group::{Group, GroupError};

impl Broker {
    /// Takes a member's heartbeat. The group is made when its first member joins, and a classic one goes over.
    pub fn consumer_heartbeat(
        &self,
        group: &str,
        beat: &Heartbeat,
        topics: &dyn Topics,
    ) -> Gated<Result<Told, GroupError>> {
        let settings = self.groups.settings_of(group);
        let around = settings.around(topics);
        self.groups.answer(self, group, |running| {
            let value = running.heartbeat(group, beat, &around, self.group_time());
            running.carry_out(self, group);
            Gated { value, durable_at: running.kept_at }
        })
    }

    /// The views that members of the group subscribe to by name, with those of a heartbeat. To be looked up before the group's
    /// lock is taken, since that may have to wait for the disk.
    pub fn subscribed_views(&self, group: &str, beat: &Heartbeat) -> Vec<String> {
        let mut views = match self.groups.running(group) {
            Some(slot) => slot.with(|running| running.machine.views()),
            None => BTreeSet::new(),
        };
        views.extend(beat.views().map(str::to_owned));
        views.into_iter().collect()
    }

    /// Whether who asks for the group's positions as a member is one, at its present epoch. Anyone else may ask.
    pub fn check_fetch(&self, group: &str, member: Option<&str>, epoch: i32) -> Result<(), GroupError> {
        if epoch < 0 && member.is_none_or(str::is_empty) {
            return Ok(());
        }
        self.groups.with(self, group, |_, running| match &running.machine {
            Group::Consumer(machine) => machine.check_fetch(member, epoch).map_err(GroupError::from),
            Group::Classic(_) => Ok(()),
        })?
    }

    /// Looks at a group of this protocol.
    pub fn look_at_consumer_group<T>(
        &self,
        group: &str,
        look: impl FnOnce(&ConsumerGroup, &Settings) -> T,
    ) -> Gated<Result<T, GroupError>> {
        let settings = &self.groups.settings.consumer;
        self.groups.answer(self, group, |running| {
            let value = match &running.machine {
                Group::Consumer(machine) => Ok(look(machine, settings)),
                machine if !self.knows_group(group, machine) => Err(GroupError::unknown_group(group)),
                Group::Classic(_) => Err(GroupError::NotConsumer { group: group.to_owned() }),
            };
            Gated { value, durable_at: self.core.next() }
        })
    }
}

//! Live migration: a group with members goes from one protocol to the other.
//!
//! ```text
//! classic --a member joins by the consumer protocol--> consumer, its old members go on by the classic protocol
//!    ^                                                    |
//!    +--only members of the classic protocol are left-----+   (group.consumer.migration.policy may forbid either)
//! ```
//!
//! Both ways all members have to join again, and until they have each of them holds what it may still read, so that
//! nothing gets a second owner. Epochs and generations are one row of numbers: what comes is above all that was told. A
//! group without members goes over with nothing but that number.

use super::classic::ClassicGroup;
use super::consumer::{Around, ConsumerGroup, Heartbeat, JOIN, Told};
use super::{Effect, Event, Group, GroupError, Join};
use crate::model::{GroupKind, Timestamp};

impl Group {
    /// Takes a heartbeat of the consumer protocol. A group of the other kind goes over if a member joins.
    pub fn heartbeat(
        &mut self,
        name: &str,
        beat: &Heartbeat,
        around: &Around<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Result<Told, GroupError> {
        let told = match self {
            Group::Consumer(group) => group.heartbeat(beat, around, now).map_err(GroupError::from),
            Group::Classic(_) if beat.epoch != JOIN => Err(GroupError::NotConsumer { group: name.to_owned() }),
            Group::Classic(group) => {
                let mut next = go_over(group, name, around, now)?;
                let told = next.heartbeat(beat, around, now)?;
                next.keep(effects);
                group.send_all_back(effects);
                if !group.is_empty() {
                    effects.push(Effect::Event(Event::Migrated { to: GroupKind::Consumer }));
                }
                *self = Group::Consumer(next);
                Ok(told)
            }
        };
        self.keep_or_come_back(around, now, effects);
        told
    }

    /// A group that this join makes one of the classic protocol is one before it takes the join.
    pub(super) fn await_join(&mut self, join: &Join, around: &Around<'_>, now: Timestamp, effects: &mut Vec<Effect>) {
        let Group::Consumer(group) = self else { return };
        if group.is_empty() {
            *self = Group::Classic(ClassicGroup::after(around.classic, group.epoch()));
            return;
        }
        let Some(changing) = group.changes_protocol(join) else { return };
        let is_last = group.is_classic_but_for(Some(changing));
        if is_last && may_come_back(group, around) && group.check_join(join, around).is_ok() {
            self.come_back(Some(join), around, now, effects);
        }
    }

    /// Has kept what changed. A consumer group that has no members of its own protocol left comes back first.
    pub(super) fn keep_or_come_back(&mut self, around: &Around<'_>, now: Timestamp, effects: &mut Vec<Effect>) {
        let Group::Consumer(group) = self else { return };
        match group.is_classic_but_for(None) && may_come_back(group, around) {
            true => self.come_back(None, around, now, effects),
            false => group.keep(effects),
        }
    }

    fn come_back(&mut self, joining: Option<&Join>, around: &Around<'_>, now: Timestamp, effects: &mut Vec<Effect>) {
        let Group::Consumer(group) = self else { return };
        group.tell(effects);
        effects.push(Effect::Event(Event::Migrated { to: GroupKind::Classic }));
        let crossing = group.crossing(joining, around.topics);
        *self = Group::Classic(ClassicGroup::come_back(around.classic, crossing, now, effects));
    }
}

/// The group as it is under the consumer protocol, without the member for which it goes over.
fn go_over(group: &ClassicGroup, name: &str, around: &Around<'_>, now: Timestamp) -> Result<ConsumerGroup, GroupError> {
    if group.is_empty() {
        return Ok(ConsumerGroup::after(group.last_generation()));
    }
    let gone_over = ConsumerGroup::come_over(&group.crossing(), around, now);
    gone_over.map_err(|why| GroupError::NoUpgrade { group: name.to_owned(), why })
}

fn may_come_back(group: &ConsumerGroup, around: &Around<'_>) -> bool {
    around.settings.migration.downgrade && group.members().len() <= around.classic.num_members_max
}

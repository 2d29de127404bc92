//! How members go: by their own word, or because time ran out. What they held is free at once.

use super::super::{Event, Reason};
use super::ConsumerGroup;
use super::fault::Fault;
use super::heartbeat::{Heartbeat, Told};
use super::member::{Holdings, LEFT_FOR_A_WHILE, Member};
use crate::model::ids::Timestamp;

impl ConsumerGroup {
    pub(super) fn leave(&mut self, beat: &Heartbeat) -> Result<Told, Fault> {
        let id = match &beat.instance {
            Some(instance) => self.static_member(instance, &beat.member)?,
            None if self.members.contains_key(&beat.member) => beat.member.clone(),
            None => return Err(Fault::UnknownMember { member: beat.member.clone() }),
        };
        if beat.epoch == LEFT_FOR_A_WHILE && beat.instance.is_some() {
            self.leave_for_a_while(&id);
        } else {
            self.fence(vec![id], |members| Reason::Left { members, client: None });
        }
        Ok(Told { member: beat.member.clone(), epoch: beat.epoch, heartbeat_interval_ms: 0, assignment: None })
    }

    /// A static member keeps its partitions until its session ends, for whoever comes back under its instance id.
    fn leave_for_a_while(&mut self, id: &str) {
        let member = Member { epoch: LEFT_FOR_A_WHILE, revoking: Holdings::new(), ..self.members[id].clone() };
        self.put(id, member);
        self.deadlines.entry(id.to_owned()).or_default().revoked_by = None;
    }

    /// Takes members out. Their partitions find new owners at the next heartbeats.
    pub(super) fn fence(&mut self, ids: Vec<String>, reason: impl FnOnce(Vec<String>) -> Reason) {
        if ids.is_empty() {
            return;
        }
        ids.iter().for_each(|id| self.remove(id));
        self.raise_epoch(reason(ids));
        self.subscribed.forget();
        self.topics_hash = None;
        if self.members.is_empty() {
            self.events.push(Event::Emptied { generation: self.epoch });
        }
    }

    /// Takes out the members whose session ended, and those that did not do in time what they were asked to.
    pub fn expire(&mut self, now: Timestamp) -> Vec<String> {
        let late = self.deadlines.iter().filter(|(_, deadlines)| deadlines.soonest() <= now);
        let late: Vec<String> = late.map(|(id, _)| id.clone()).collect();
        self.fence(late.clone(), |members| Reason::Expired { members });
        late
    }

    /// When [`ConsumerGroup::expire`] has something to do next.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadlines.values().map(|deadlines| deadlines.soonest()).min()
    }
}

//! The group goes over to the consumer protocol, or comes back from it.

use super::super::crossing::{Crosser, Crossing};
use super::super::embedded::CONSUMER;
use super::super::{Answer, Effect, GroupError, Reason};
use super::kept::Head;
use super::member::Member;
use super::phase::{Phase, Syncing};
use super::turn::Turn;
use super::{ClassicGroup, ClassicSettings};
use crate::model::Timestamp;

impl ClassicGroup {
    /// A group without members that was of the other protocol, up to that epoch.
    pub(in crate::model::group) fn after(settings: ClassicSettings, epoch: i32) -> ClassicGroup {
        let kept = Head::told(epoch);
        let protocol_type = Some(CONSUMER.to_owned());
        ClassicGroup { generation: epoch, protocol_type, kept, ..ClassicGroup::new(settings) }
    }

    /// What goes over.
    pub(in crate::model::group) fn crossing(&self) -> Crossing {
        let crosser = |(id, member): (&String, &Member)| Crosser {
            id: id.clone(),
            instance: member.instance_id.clone(),
            client: member.client.clone(),
            session_ms: member.session_ms,
            rebalance_ms: member.rebalance_ms,
            protocols: member.protocols.clone(),
            epoch: self.generation,
            assignment: member.assignment.clone(),
        };
        Crossing {
            epoch: self.last_generation(),
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            members: self.members.iter().map(crosser).collect(),
        }
    }

    /// Whoever waits has to join again, which it does as a member of the other kind.
    pub(in crate::model::group) fn send_all_back(&mut self, effects: &mut Vec<Effect>) {
        for (id, member) in &mut self.members {
            if let Some(joining) = member.joining.take() {
                let refused = super::join::refused(id, GroupError::RebalanceInProgress);
                effects.push(Effect::Reply { to: joining, answer: refused });
            }
            if let Some(syncing) = member.syncing.take() {
                let answer = Answer::Sync(Err(GroupError::RebalanceInProgress));
                effects.push(Effect::Reply { to: syncing, answer });
            }
        }
    }

    /// The group as it comes back. Its members have to join again: what the others had is to be shared out.
    pub(in crate::model::group) fn come_back(
        settings: ClassicSettings,
        crossing: Crossing,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> ClassicGroup {
        let turn = &mut Turn { now, effects };
        let mut group = ClassicGroup::after(settings, crossing.epoch);
        for crosser in crossing.members {
            group.take_back(crosser, now);
        }
        group.protocol = group.preferred_protocol();
        // Nobody made this generation: whoever finds it after a crash has it joined again (see `kept`).
        group.leader = None;
        group.phase = Phase::Stable(Syncing::complete(now));
        group.keep_generation(turn);
        group.rebalance(Reason::Downgraded, turn);
        group
    }

    fn take_back(&mut self, crosser: Crosser, now: Timestamp) {
        let id = crosser.id.clone();
        if let Some(instance) = &crosser.instance {
            self.statics.insert(instance.clone(), id.clone());
        }
        self.insert_member(id.clone(), Member::taken_back(crosser));
        self.revive(&id, now);
    }
}

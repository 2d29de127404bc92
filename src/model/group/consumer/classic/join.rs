//! JoinGroup: a member of the classic protocol comes, comes back, or takes its next step.

use super::super::super::embedded::{CONSUMER, Subscription};
use super::super::super::{GroupError, Join, JoinRefused, Joined};
use super::super::admit::Admitted;
use super::super::fault::Fault;
use super::super::member::{Classic, Deadlines, Member};
use super::super::renew::Said;
use super::super::{Around, ConsumerGroup};
use crate::model::Timestamp;

impl ConsumerGroup {
    pub(super) fn join(&mut self, mut join: Join, around: &Around<'_>, now: Timestamp) -> Result<Joined, JoinRefused> {
        join.name_once();
        let refuse = |error| JoinRefused { error, member_id: join.member_id.clone() };
        let said = self.check_join(&join, around).map_err(refuse)?;
        let is_nobody = join.member_id.is_empty();
        if is_nobody && join.instance_id.is_none() && join.asks_twice {
            // Whatever id it comes back with is taken: this one is not remembered.
            return Err(JoinRefused { error: GroupError::MemberIdRequired, member_id: join.new_id() });
        }
        let id = if is_nobody { join.new_id() } else { join.member_id.clone() };
        let before = self.admit_classic(&join).map_err(|fault| refuse(fault.into()))?;
        if !said.owned.is_empty() && !self.is_known(&id, &before) {
            // It was taken out and does not know it: what it owns is another's by now.
            return Err(refuse(GroupError::unknown_member(&id)));
        }
        let owned = self.subscribed.ids_of(&said.owned, around.topics);
        let member = joining(&before.member, said, &join);
        self.check_room(&id, before.replaces.as_deref(), &member).map_err(|fault| refuse(fault.into()))?;
        // It has no pattern, but the one whose place it takes may have had one.
        let resubscribed = member.topics != before.member.topics || before.member.pattern().is_some();
        let said = Said { before, member, resubscribed, reason: join.reason.clone(), owned: Some(&owned) };
        self.renew(&id, said, around, now);
        Ok(self.taken_in(id, &join, now))
    }

    /// What it subscribes to, if it may join.
    pub(in crate::model::group) fn check_join(
        &self,
        join: &Join,
        around: &Around<'_>,
    ) -> Result<Subscription, GroupError> {
        around.classic.check_session(join.session_ms)?;
        self.check_place(&join.member_id, around.settings)?;
        if join.protocol_type != CONSUMER || !self.shares_protocol(join) {
            return Err(GroupError::InconsistentProtocol);
        }
        // Consumers say the same for each of their assignors.
        let said = join.protocols.first().and_then(|protocol| Subscription::read(&protocol.metadata));
        said.ok_or(GroupError::NoSubscription)
    }

    /// Whether it knows a protocol that all members know that speak of protocols.
    fn shares_protocol(&self, join: &Join) -> bool {
        let all_know = |name: &str| self.classic_sides().all(|classic| classic.knows(name));
        join.protocols.iter().any(|protocol| all_know(&protocol.name))
    }

    fn is_known(&self, id: &str, before: &Admitted) -> bool {
        before.replaces.is_some() || self.members.contains_key(id)
    }

    /// As Kafka has it, an instance without an id takes its place back from whoever has it.
    fn admit_classic(&self, join: &Join) -> Result<Admitted, Fault> {
        let known = |id: &str| self.members.get(id).cloned().unwrap_or_else(Member::new);
        let Some(instance) = &join.instance_id else { return Ok(Admitted::member(known(&join.member_id))) };
        if !join.member_id.is_empty() {
            let id = self.static_member(instance, &join.member_id)?;
            return Ok(Admitted::member(known(&id)));
        }
        Ok(match self.instances.get(instance) {
            Some(id) => Admitted::in_place_of(id, &self.members[id]),
            None => Admitted::member(Member::new()),
        })
    }

    /// What it is told. It has to ask for its assignment in time.
    fn taken_in(&mut self, id: String, join: &Join, now: Timestamp) -> Joined {
        let member = &self.members[&id];
        let (generation, synced_by) = (member.epoch, Some(member.rebalance_end(now)));
        let heard_by = Timestamp(now.0 + join.session_ms);
        self.deadlines.insert(id.clone(), Deadlines { heard_by, synced_by, ..Deadlines::default() });
        Joined {
            member_id: id,
            generation,
            protocol_type: Some(CONSUMER.to_owned()),
            protocol: join.protocols.first().map(|protocol| protocol.name.clone()),
            // The broker assigns.
            leader: String::new(),
            members: Vec::new(),
            skip_assignment: false,
        }
    }
}

/// `before` with what a classic member says of itself.
fn joining(before: &Member, subscription: Subscription, join: &Join) -> Member {
    Member {
        instance: join.instance_id.clone(),
        rack: subscription.rack.or_else(|| before.rack.clone()),
        client_id: join.client.id.clone(),
        client_host: join.client.host.clone(),
        rebalance_timeout_ms: i32::try_from(join.rebalance_ms).unwrap_or(i32::MAX),
        topics: subscription.topics,
        regex: None,
        classic: Some(Classic::of(join)),
        ..before.clone()
    }
}

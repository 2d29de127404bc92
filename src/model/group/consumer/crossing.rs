//! The group comes over from the classic protocol, or goes back to it.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use uuid::Uuid;

use super::super::crossing::{Crosser, Crossing, NoUpgrade};
use super::super::embedded::{Assignment, CONSUMER, Named, Subscription};
use super::super::{Client, Join, Protocol};
use super::member::{Classic, Deadlines, Holdings, Member, MemberState, Partitions};
use super::topics::{Topics, names_of, partitions_of};
use super::{Around, ConsumerGroup};
use crate::model::ids::{PartitionId, Timestamp};

impl ConsumerGroup {
    /// The group as it comes over: each member with what it may read, in its generation. The member for which it comes
    /// raises the epoch, so that all the others have to join again.
    pub(in crate::model::group) fn come_over(
        crossing: &Crossing,
        around: &Around<'_>,
        now: Timestamp,
    ) -> Result<ConsumerGroup, NoUpgrade> {
        let max = around.settings.members_max;
        match crossing {
            _ if !around.settings.migration.upgrade => return Err(NoUpgrade::Forbidden),
            _ if !crossing.is_of_consumers() => return Err(NoUpgrade::OtherType),
            _ if crossing.members.len() > max => return Err(NoUpgrade::TooLarge { max }),
            _ => {}
        }
        let mut group = ConsumerGroup::after(crossing.epoch);
        for (crosser, (member, heard_by)) in crossing.members.iter().zip(members_of(crossing, around.topics, now)?) {
            group.put(&crosser.id, member);
            group.deadlines.insert(crosser.id.clone(), Deadlines { heard_by, ..Deadlines::default() });
        }
        Ok(group)
    }

    /// True when it has members, and all of them speak the classic protocol, but for `but`.
    pub(in crate::model::group) fn is_classic_but_for(&self, but: Option<&str>) -> bool {
        let others = self.members.iter().filter(|(id, _)| Some(id.as_str()) != but);
        !self.members.is_empty() && others.into_iter().all(|(_, member)| member.classic.is_some())
    }

    /// The member of this protocol that will be one of the classic protocol when it has joined so.
    pub(in crate::model::group) fn changes_protocol(&self, join: &Join) -> Option<&str> {
        let id = match &join.instance_id {
            Some(instance) if join.member_id.is_empty() => self.instances.get(instance)?,
            Some(instance) => self.instances.get(instance).filter(|id| **id == join.member_id)?,
            None => &join.member_id,
        };
        let (id, member) = self.members.get_key_value(id)?;
        member.classic.is_none().then_some(id)
    }

    /// What goes back. Whoever joins by the classic protocol now (see `changes_protocol`) goes with what it says.
    pub(in crate::model::group) fn crossing(&self, joining: Option<&Join>, topics: &dyn Topics) -> Crossing {
        let joining = joining.map(Classic::of);
        let crosser = |(id, member): (&String, &Member)| {
            let classic = member.classic.as_ref().or(joining.as_ref())?;
            Some(crosser(id, member, classic, topics))
        };
        Crossing {
            epoch: self.epoch,
            protocol_type: Some(CONSUMER.to_owned()),
            protocol: None,
            members: self.members.iter().filter_map(crosser).collect(),
        }
    }
}

fn members_of(crossing: &Crossing, topics: &dyn Topics, now: Timestamp) -> Result<Vec<(Member, Timestamp)>, NoUpgrade> {
    let mut taken = HashSet::new();
    let mut members = Vec::with_capacity(crossing.members.len());
    for crosser in &crossing.members {
        let metadata = crosser.metadata(crossing.protocol.as_deref()).ok_or(NoUpgrade::Unreadable)?;
        let said = Subscription::read(metadata).ok_or(NoUpgrade::Unreadable)?;
        let assignment = Assignment::read(&crosser.assignment).ok_or(NoUpgrade::Unreadable)?;
        if assignment.has_user_data {
            return Err(NoUpgrade::Assignor);
        }
        let assigned = partitions_of(&assignment.partitions, topics);
        if !all_of(&assigned).all(|at| taken.insert(at)) {
            return Err(NoUpgrade::TwoOwners);
        }
        members.push((crosser, said, assigned));
    }
    // What a member owned when it joined it may read on until it has let go of it, unless it is another's by now.
    let came_over = members.into_iter().map(|(crosser, said, assigned)| {
        let mut owned = partitions_of(&said.owned, topics);
        for (topic, partitions) in &mut owned {
            partitions.retain(|partition| taken.insert((*topic, *partition)));
        }
        owned.retain(|_, partitions| !partitions.is_empty());
        came_over(crosser, said, assigned, &owned, now)
    });
    Ok(came_over.collect())
}

fn came_over(
    crosser: &Crosser,
    said: Subscription,
    assigned: Partitions,
    owned: &Partitions,
    now: Timestamp,
) -> (Member, Timestamp) {
    let since = crosser.epoch;
    let protocols = crosser.protocols.iter().map(|protocol| (protocol.name.clone(), protocol.metadata.clone()));
    let classic = Classic {
        session_timeout_ms: i32::try_from(crosser.session_ms).unwrap_or(i32::MAX),
        protocols: protocols.collect(),
    };
    let heard_by = classic.session_end(now);
    let member = Member {
        epoch: since,
        previous_epoch: since,
        state: if owned.is_empty() { MemberState::Stable } else { MemberState::Unrevoked },
        instance: crosser.instance.clone(),
        rack: said.rack,
        client_id: crosser.client.id.clone(),
        client_host: crosser.client.host.clone(),
        rebalance_timeout_ms: i32::try_from(crosser.rebalance_ms).unwrap_or(i32::MAX),
        topics: said.topics,
        assigned: held_since(&assigned, since),
        revoking: held_since(owned, since),
        target: assigned,
        classic: Some(classic),
        ..Member::new()
    };
    (member, heard_by)
}

/// Also what it has yet to let go of: it may read that until it has joined again.
fn crosser(id: &str, member: &Member, classic: &Classic, topics: &dyn Topics) -> Crosser {
    let mut held = Named::new();
    for holdings in [&member.assigned, &member.revoking] {
        for (topic, partitions) in names_of(holdings.iter().map(|(topic, held)| (topic, held.keys())), topics) {
            held.entry(topic).or_default().extend(partitions);
        }
    }
    let protocol = |(name, metadata): &(String, Bytes)| Protocol { name: name.clone(), metadata: metadata.clone() };
    Crosser {
        id: id.to_owned(),
        instance: member.instance.clone(),
        client: Client { id: member.client_id.clone(), host: member.client_host.clone() },
        session_ms: classic.session_timeout_ms.into(),
        rebalance_ms: member.rebalance_timeout_ms.max(0).into(),
        protocols: classic.protocols.iter().map(protocol).collect(),
        epoch: member.epoch,
        assignment: Assignment::write(classic.version(), &held),
    }
}

fn all_of(partitions: &Partitions) -> impl Iterator<Item = (Uuid, PartitionId)> {
    partitions.iter().flat_map(|(topic, held)| held.iter().map(|partition| (*topic, *partition)))
}

fn held_since(partitions: &Partitions, since: i32) -> Holdings {
    let since = |held: &BTreeSet<PartitionId>| held.iter().map(|partition| (*partition, since)).collect();
    partitions.iter().map(|(topic, held)| (*topic, since(held))).collect()
}

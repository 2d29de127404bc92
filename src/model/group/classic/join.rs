//! JoinGroup: clients that want to be members of the next generation.

use super::super::{Answer, GroupError, Join, JoinRefused, Joined, JoinedMember, Reason, Ticket};
use super::member::{Member, size_of};
use super::phase::{Phase, Preparing};
use super::turn::Turn;
use super::{ClassicGroup, GROUP_BYTES_MAX, NEW_MEMBER_MS_MAX};

impl ClassicGroup {
    pub(super) fn join(&mut self, ticket: Ticket, join: Join, turn: &mut Turn<'_>) {
        if let Err(refused) = self.take_in(ticket, join, turn) {
            turn.answer(ticket, Answer::Join(Err(refused)));
        }
    }

    fn take_in(&mut self, ticket: Ticket, mut join: Join, turn: &mut Turn<'_>) -> Result<(), JoinRefused> {
        join.name_once();
        let refuse = |error| JoinRefused { error, member_id: join.member_id.clone() };
        self.settings.check_session(join.session_ms).map_err(refuse)?;
        if !self.has_place_for(&join) {
            self.turn_away(&join.member_id, turn);
            let error = GroupError::Full { max: self.settings.num_members_max };
            return Err(JoinRefused { error, member_id: String::new() });
        }
        if !self.speaks(&join.protocol_type, &join.protocols) {
            return Err(refuse(GroupError::InconsistentProtocol));
        }
        self.check_room(&join).map_err(refuse)?;
        match join.member_id.as_str() {
            "" => self.join_new(ticket, join, turn),
            _ => self.join_known(ticket, join, turn),
        }
    }

    /// While members join again, those that have joined count: the last ones to come are turned away, also when the
    /// limit is lower than it was.
    fn has_place_for(&self, join: &Join) -> bool {
        let max = self.settings.num_members_max;
        let id = match &join.instance_id {
            // A static member that comes back takes no second place.
            Some(instance) if join.member_id.is_empty() => self.statics.get(instance),
            _ => Some(&join.member_id),
        };
        let known = id.and_then(|id| self.members.get(id));
        match &self.phase {
            Phase::Empty => true,
            Phase::Preparing(_) => known.is_some_and(|member| member.joining.is_some()) || self.num_joining < max,
            Phase::Completing(_) | Phase::Stable(_) => known.is_some() || self.members.len() < max,
        }
    }

    fn turn_away(&mut self, id: &str, turn: &mut Turn<'_>) {
        self.pending.remove(id);
        if self.members.contains_key(id) {
            self.remove_member(id, turn);
        }
        self.complete_if_all_joined(turn);
    }

    fn check_room(&self, join: &Join) -> Result<(), GroupError> {
        let before = self.members.get(&join.member_id).map_or(0, Member::size);
        let wanted = size_of(join.instance_id.as_deref(), &join.client, &join.protocols);
        let (bytes, max) = (self.member_bytes - before + wanted, GROUP_BYTES_MAX);
        if bytes > max { Err(GroupError::TooLarge { bytes, max }) } else { Ok(()) }
    }

    fn join_new(&mut self, ticket: Ticket, join: Join, turn: &mut Turn<'_>) -> Result<(), JoinRefused> {
        let id = join.new_id();
        let known = join.instance_id.as_ref().and_then(|instance| self.statics.get(instance).cloned());
        match known {
            Some(old) => self.replace(ticket, &old, id, join, turn),
            None if join.instance_id.is_none() && join.asks_twice => {
                let until = turn.after(join.session_ms);
                self.pending.add(id.clone(), until);
                self.alarm.by(until);
                return Err(JoinRefused { error: GroupError::MemberIdRequired, member_id: id });
            }
            None => self.add_member(ticket, id, join, turn),
        }
        Ok(())
    }

    fn join_known(&mut self, ticket: Ticket, join: Join, turn: &mut Turn<'_>) -> Result<(), JoinRefused> {
        let id = join.member_id.clone();
        // Ids that wait to be used are never those of static members.
        if join.instance_id.is_none() && self.pending.remove(&id) {
            self.add_member(ticket, id, join, turn);
            return Ok(());
        }
        let known = self.check_member(&id, join.instance_id.as_deref());
        known.map_err(|error| JoinRefused { error, member_id: id.clone() })?;
        let same = self.members[&id].protocols == join.protocols;
        let current = match &self.phase {
            // A member that did not get the first answer asks once more.
            Phase::Completing(_) => same,
            // The leader asks when something changed that members' metadata does not show, such as a topic's partitions.
            Phase::Stable(_) => same && !self.is_leader(&id),
            Phase::Empty | Phase::Preparing(_) => false,
        };
        if current {
            let joined = self.joined(&id, self.is_leader(&id) && matches!(self.phase, Phase::Completing(_)));
            self.revive(&id, turn.now);
            turn.answer(ticket, Answer::Join(Ok(joined)));
            return Ok(());
        }
        let reason = Reason::Rejoined { member: id.clone(), client: join.reason.clone() };
        self.update_member(ticket, &id, join, turn);
        self.rebalance(reason, turn);
        Ok(())
    }

    fn add_member(&mut self, ticket: Ticket, id: String, join: Join, turn: &mut Turn<'_>) {
        let reason = Reason::NewMember { member: id.clone(), client: join.reason.clone() };
        if let Phase::Preparing(Preparing { initial: Some(initial), .. }) = &mut self.phase {
            initial.newcomers = true;
        }
        if self.members.is_empty() {
            self.protocol_type = Some(join.protocol_type.clone());
        }
        let mut member = Member::new(join);
        member.joining = Some(ticket);
        // It cannot send heartbeats while it waits for its first generation.
        let until = turn.after(NEW_MEMBER_MS_MAX);
        member.expires = Some(until);
        self.alarm.by(until);
        self.num_joining += 1;
        if let Some(instance) = &member.instance_id {
            self.statics.insert(instance.clone(), id.clone());
        }
        self.insert_member(id, member);
        self.rebalance(reason, turn);
    }

    /// Takes over what a member says of itself, and that it waits for the next generation.
    pub(super) fn update_member(&mut self, ticket: Ticket, id: &str, join: Join, turn: &mut Turn<'_>) {
        self.renew_member(id, join);
        let member = self.member_mut(id);
        match member.joining.replace(ticket) {
            // Nobody can wait for both answers: the client asked again after it had lost its connection.
            Some(before) => turn.answer(before, refused(id, GroupError::RebalanceInProgress)),
            None => self.num_joining += 1,
        }
    }

    /// Takes over what a member says of itself.
    pub(super) fn renew_member(&mut self, id: &str, join: Join) {
        let mut member = self.take_member(id);
        member.client = join.client;
        member.session_ms = join.session_ms;
        member.rebalance_ms = join.rebalance_ms;
        member.protocols = join.protocols;
        self.insert_member(id.to_owned(), member);
    }

    /// The generation as a member is told of it.
    pub(super) fn joined(&self, id: &str, with_members: bool) -> Joined {
        let protocol = self.protocol.as_deref();
        let told = |(id, member): (&String, &Member)| JoinedMember {
            member_id: id.clone(),
            instance_id: member.instance_id.clone(),
            metadata: member.metadata(protocol),
        };
        Joined {
            member_id: id.to_owned(),
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: self.leader.clone().unwrap_or_default(),
            members: if with_members { self.members.iter().map(told).collect() } else { Vec::new() },
            skip_assignment: false,
        }
    }
}

pub(super) fn refused(id: &str, error: GroupError) -> Answer {
    Answer::Join(Err(JoinRefused { error, member_id: id.to_owned() }))
}

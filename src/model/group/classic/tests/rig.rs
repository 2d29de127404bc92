//! A group, its clock and its answers, for tests to play with.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::super::super::{
    Answer, Client, Effect, GroupError, Heartbeat, Input, Join, JoinRefused, Joined, Leaving, LeftMember, Protocol,
    Request, Sync, Synced, Ticket,
};
use super::super::{ClassicGroup, ClassicSettings};
use crate::model::Timestamp;

pub(super) const SETTINGS: ClassicSettings =
    ClassicSettings { session_ms_min: 1_000, session_ms_max: 60_000, initial_delay_ms: 0, num_members_max: 100 };

pub(super) const SESSION_MS: i64 = 10_000;
pub(super) const REBALANCE_MS: i64 = 30_000;

pub(super) struct Rig {
    pub group: ClassicGroup,
    pub now: i64,
    last_ticket: u64,
    answers: BTreeMap<Ticket, Answer>,
    /// What was kept, as the journal would have it.
    pub head: Bytes,
    pub members: BTreeMap<String, Bytes>,
    pub settings: ClassicSettings,
}

impl Rig {
    pub fn new() -> Rig {
        Rig::with(SETTINGS)
    }

    pub fn with(settings: ClassicSettings) -> Rig {
        Rig {
            group: ClassicGroup::new(settings),
            now: 1_000,
            last_ticket: 0,
            answers: BTreeMap::new(),
            head: Bytes::new(),
            members: BTreeMap::new(),
            settings,
        }
    }

    /// A group in its first generation, with the ids of its members; the first one leads.
    pub fn stable(names: &[&str]) -> (Rig, Vec<String>) {
        Rig::stable_with(SETTINGS, names)
    }

    pub fn stable_with(settings: ClassicSettings, names: &[&str]) -> (Rig, Vec<String>) {
        let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 1, ..settings });
        let tickets: Vec<Ticket> = names.iter().map(|name| rig.join(join(name))).collect();
        rig.pass(2);
        let joined: Vec<Joined> = tickets.iter().map(|ticket| rig.joined(*ticket).unwrap()).collect();
        let ids: Vec<String> = joined.iter().map(|joined| joined.member_id.clone()).collect();
        rig.complete(&ids, joined[0].generation);
        (rig.group.settings, rig.settings) = (settings, settings);
        (rig, ids)
    }

    /// All of them sync; each is assigned its own id.
    pub fn complete(&mut self, ids: &[String], generation: i32) {
        let leader = self.group.leader.clone().unwrap();
        let mut order: Vec<&String> = ids.iter().filter(|id| **id != leader).collect();
        order.push(&leader);
        let tickets: Vec<Ticket> = order.iter().map(|id| self.sync(self.own_ids(ids, id, generation))).collect();
        for (id, ticket) in order.iter().zip(tickets) {
            assert_eq!(self.synced(ticket).unwrap().assignment, id.as_bytes());
        }
    }

    fn own_ids(&self, ids: &[String], id: &str, generation: i32) -> Sync {
        let leads = self.group.leader.as_deref() == Some(id);
        let assignments = ids.iter().filter(|_| leads).map(|id| (id.clone(), Bytes::from(id.clone())));
        Sync { assignments: assignments.collect(), ..sync(id, generation) }
    }

    pub fn ask(&mut self, request: Request) -> Ticket {
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        self.put(Input::Asked { ticket, request });
        ticket
    }

    pub fn put(&mut self, input: Input) {
        let mut effects = Vec::new();
        self.group.handle(input, Timestamp(self.now), &mut effects);
        for effect in effects {
            match effect {
                Effect::Reply { to, answer } => {
                    assert!(self.answers.insert(to, answer).is_none(), "{to:?} is answered twice");
                }
                Effect::Keep { head, members } => {
                    self.head = head;
                    for (id, row) in members {
                        match row {
                            Some(row) => drop(self.members.insert(id, row)),
                            None => assert!(self.members.remove(&id).is_some(), "{id} was not kept"),
                        }
                    }
                }
                Effect::Event(_) => {}
            }
        }
    }

    /// Lets time pass, stopping at each deadline on the way.
    pub fn pass(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some(deadline) = self.group.deadline().filter(|deadline| deadline.0 <= until) {
            self.now = self.now.max(deadline.0);
            self.put(Input::Due);
            assert!(self.group.deadline().is_none_or(|next| next.0 > self.now), "the clock does not go on");
        }
        self.now = until;
    }

    /// The broker starts again, as of what was kept.
    pub fn restart(&mut self) {
        let (head, members) = (&self.head, &self.members);
        self.group = ClassicGroup::restore(self.settings, head, members, Timestamp(self.now)).unwrap();
    }

    pub fn join(&mut self, join: Join) -> Ticket {
        self.ask(Request::Join(join))
    }

    pub fn sync(&mut self, sync: Sync) -> Ticket {
        self.ask(Request::Sync(sync))
    }

    pub fn answer(&mut self, ticket: Ticket) -> Option<Answer> {
        self.answers.remove(&ticket)
    }

    pub fn joined(&mut self, ticket: Ticket) -> Result<Joined, JoinRefused> {
        match self.answer(ticket) {
            Some(Answer::Join(answer)) => answer,
            other => panic!("{other:?} where a join's answer is expected"),
        }
    }

    pub fn refused(&mut self, ticket: Ticket) -> GroupError {
        self.joined(ticket).unwrap_err().error
    }

    pub fn synced(&mut self, ticket: Ticket) -> Result<Synced, GroupError> {
        match self.answer(ticket) {
            Some(Answer::Sync(answer)) => answer,
            other => panic!("{other:?} where a sync's answer is expected"),
        }
    }

    pub fn beat(&mut self, member_id: &str, generation: i32) -> Result<(), GroupError> {
        self.beat_as(member_id, None, generation)
    }

    pub fn beat_as(&mut self, member_id: &str, instance: Option<&str>, generation: i32) -> Result<(), GroupError> {
        let (member_id, instance_id) = (member_id.to_owned(), instance.map(str::to_owned));
        let ticket = self.ask(Request::Heartbeat(Heartbeat { member_id, instance_id, generation }));
        match self.answer(ticket) {
            Some(Answer::Heartbeat(answer)) => answer,
            other => panic!("{other:?} where a heartbeat's answer is expected"),
        }
    }

    pub fn leave(&mut self, member_id: &str, instance: Option<&str>) -> Result<(), GroupError> {
        let (member_id, instance_id) = (member_id.to_owned(), instance.map(str::to_owned));
        let ticket = self.ask(Request::Leave(vec![Leaving { member_id, instance_id, reason: None }]));
        match self.answer(ticket) {
            Some(Answer::Leave(mut left)) => match (left.pop(), left.pop()) {
                (Some(LeftMember { result, .. }), None) => result,
                other => panic!("{other:?} where one member is expected"),
            },
            other => panic!("{other:?} where a leave's answer is expected"),
        }
    }

    pub fn state(&self) -> &'static str {
        self.group.summary().state
    }
}

/// A join of a new member, by a client that needs no id first.
pub(super) fn join(client: &str) -> Join {
    Join {
        member_id: String::new(),
        instance_id: None,
        client: Client { id: client.to_owned(), host: "/127.0.0.1".to_owned() },
        unique: "1".to_owned(),
        protocol_type: "consumer".to_owned(),
        protocols: protocols(&[("range", client)]),
        session_ms: SESSION_MS,
        rebalance_ms: REBALANCE_MS,
        reason: None,
        asks_twice: false,
        may_skip_assignment: false,
    }
}

/// The same member's next join.
pub(super) fn rejoin(id: &str) -> Join {
    let client = id.rsplit_once('-').unwrap().0;
    Join { member_id: id.to_owned(), ..join(client) }
}

pub(super) fn protocols(named: &[(&str, &str)]) -> Vec<Protocol> {
    let protocol = |(name, metadata): &(&str, &str)| Protocol {
        name: (*name).to_owned(),
        metadata: Bytes::copy_from_slice(metadata.as_bytes()),
    };
    named.iter().map(protocol).collect()
}

pub(super) fn sync(id: &str, generation: i32) -> Sync {
    Sync {
        member_id: id.to_owned(),
        instance_id: None,
        generation,
        protocol_type: Some("consumer".to_owned()),
        protocol: Some("range".to_owned()),
        assignments: Vec::new(),
    }
}

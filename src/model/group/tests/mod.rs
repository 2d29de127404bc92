//! Groups that go from one protocol to the other, from outside: members, topics, a clock and a journal, all in memory.

mod downgrade;
mod empty;
mod mixed;
mod upgrade;
mod walk;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;

use super::classic::ClassicSettings;
use super::consumer::tests::Table;
use super::consumer::{self, Around, Fault, JOIN, LEAVE, Partitions, Told};
use super::embedded::tests::{named, subscription};
use super::embedded::{Assignment, Named};
use super::*;
use crate::model::{Kept, PartitionId, Timestamp};

const CLASSIC: ClassicSettings =
    ClassicSettings { session_ms_min: 1_000, session_ms_max: 60_000, initial_delay_ms: 0, num_members_max: 100 };

const SESSION_MS: i64 = 10_000;
const REBALANCE_MS: i64 = 30_000;

/// A group with all that is around it.
struct Scene {
    group: Group,
    table: Table,
    settings: GroupSettings,
    now: i64,
    last_ticket: u64,
    answers: BTreeMap<Ticket, Answer>,
    events: Vec<Event>,
    kept: Option<Kept>,
}

impl Scene {
    /// The topic `t` with so many partitions; its id is 1.
    fn new(partitions: u32) -> Scene {
        let settings = GroupSettings { classic: CLASSIC, consumer: consumer::Settings::default() };
        let mut table = Table::default();
        table.set("t", partitions);
        Scene {
            group: Group::new(&settings),
            table,
            settings,
            now: 1_000,
            last_ticket: 0,
            answers: BTreeMap::new(),
            events: Vec::new(),
            kept: None,
        }
    }

    /// A classic group with members of these names, which read the partitions of `t` by turns.
    fn classic(partitions: u32, names: &[&str]) -> (Scene, Vec<String>) {
        let mut scene = Scene::new(partitions);
        scene.settings.classic.initial_delay_ms = 1;
        scene.group = Group::new(&scene.settings);
        let tickets: Vec<Ticket> = names.iter().map(|name| scene.join(join(name))).collect();
        scene.pass(2);
        let ids: Vec<String> = tickets.iter().map(|ticket| scene.joined(*ticket).unwrap().member_id).collect();
        scene.assign(&ids, 1);
        (scene, ids)
    }

    /// All of them sync; the leader gives them the partitions of `t` by turns.
    fn assign(&mut self, ids: &[String], generation: i32) {
        let partitions = self.table.topics["t"].partitions;
        let share = |turn: usize| {
            let own = (0..partitions).filter(|partition| *partition as usize % ids.len() == turn);
            Assignment::write(3, &named("t", &own.collect::<Vec<u32>>()))
        };
        let assignments: Vec<_> = ids.iter().enumerate().map(|(turn, id)| (id.clone(), share(turn))).collect();
        let tickets: Vec<Ticket> = ids
            .iter()
            .map(|id| self.ask(Request::Sync(Sync { assignments: assignments.clone(), ..sync(id, generation) })))
            .collect();
        tickets.into_iter().for_each(|ticket| drop(self.synced(ticket).unwrap()));
    }

    fn work<T>(&mut self, work: impl FnOnce(&mut Group, &Around<'_>, &mut Vec<Effect>) -> T) -> T {
        let around = Around { topics: &self.table, settings: &self.settings.consumer, classic: self.settings.classic };
        let mut effects = Vec::new();
        let result = work(&mut self.group, &around, &mut effects);
        for effect in effects {
            match effect {
                Effect::Reply { to, answer } => {
                    assert!(self.answers.insert(to, answer).is_none(), "{to:?} is answered twice");
                }
                Effect::Keep { head, members } => {
                    self.kept = Some(keep_as(self.kept.take(), self.group.kind(), head, members));
                }
                Effect::Event(event) => self.events.push(event),
            }
        }
        result
    }

    fn ask(&mut self, request: Request) -> Ticket {
        self.last_ticket += 1;
        let (ticket, now) = (Ticket(self.last_ticket), Timestamp(self.now));
        self.work(|group, around, effects| group.handle(Input::Asked { ticket, request }, around, now, effects));
        ticket
    }

    /// A heartbeat of the consumer protocol.
    fn send(&mut self, beat: &consumer::Heartbeat) -> Result<Told, GroupError> {
        let now = Timestamp(self.now);
        self.work(|group, around, effects| group.heartbeat("g", beat, around, now, effects))
    }

    /// A member of the consumer protocol joins, and reads `t`.
    fn come(&mut self, member: &str) -> Told {
        self.send(&coming(member)).unwrap()
    }

    /// It goes.
    fn go(&mut self, member: &str) {
        self.send(&beat(member, LEAVE)).unwrap();
    }

    /// Lets time pass, stopping at each deadline on the way.
    fn pass(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some(deadline) = self.group.deadline().filter(|deadline| deadline.0 <= until) {
            self.now = self.now.max(deadline.0);
            let now = Timestamp(self.now);
            self.work(|group, around, effects| group.handle(Input::Due, around, now, effects));
            assert!(self.group.deadline().is_none_or(|next| next.0 > self.now), "the clock does not go on");
        }
        self.now = until;
    }

    fn restart(&mut self) {
        let kept = self.kept.as_ref().unwrap();
        self.group = Group::restore(kept, &self.settings, Timestamp(self.now)).unwrap();
    }

    fn join(&mut self, join: Join) -> Ticket {
        self.ask(Request::Join(join))
    }

    fn joined(&mut self, ticket: Ticket) -> Result<Joined, JoinRefused> {
        match self.answers.remove(&ticket) {
            Some(Answer::Join(answer)) => answer,
            other => panic!("{other:?} where a join's answer is expected"),
        }
    }

    fn synced(&mut self, ticket: Ticket) -> Result<Synced, GroupError> {
        match self.answers.remove(&ticket) {
            Some(Answer::Sync(answer)) => answer,
            other => panic!("{other:?} where a sync's answer is expected"),
        }
    }

    /// A classic member joins again, owning these partitions of `t`; its new generation.
    fn rejoin(&mut self, id: &str, owned: &[u32]) -> i32 {
        let ticket = self.join(Join { member_id: id.to_owned(), ..owning(owned) });
        self.joined(ticket).unwrap().generation
    }

    /// What a classic member may read of `t`.
    fn read_by(&mut self, id: &str, generation: i32) -> Result<Vec<u32>, GroupError> {
        let ticket = self.ask(Request::Sync(sync(id, generation)));
        let assignment = Assignment::read(&self.synced(ticket)?.assignment).unwrap();
        Ok(assignment.partitions.values().flatten().map(|partition| partition.0).collect())
    }

    fn classic_beat(&mut self, member_id: &str, generation: i32) -> Result<(), GroupError> {
        let (member_id, instance_id) = (member_id.to_owned(), None);
        let ticket = self.ask(Request::Heartbeat(Heartbeat { member_id, instance_id, generation }));
        match self.answers.remove(&ticket) {
            Some(Answer::Heartbeat(answer)) => answer,
            other => panic!("{other:?} where a heartbeat's answer is expected"),
        }
    }

    fn leave(&mut self, member_id: &str, instance: Option<&str>) -> Result<(), GroupError> {
        let (member_id, instance_id) = (member_id.to_owned(), instance.map(str::to_owned));
        let ticket = self.ask(Request::Leave(vec![Leaving { member_id, instance_id, reason: None }]));
        match self.answers.remove(&ticket) {
            Some(Answer::Leave(mut left)) => left.remove(0).result,
            other => panic!("{other:?} where a leave's answer is expected"),
        }
    }

    fn kind(&self) -> GroupKind {
        self.group.kind()
    }

    fn state(&self) -> &'static str {
        self.group.summary().state
    }
}

/// As the journal would have it.
fn keep_as(before: Option<Kept>, kind: GroupKind, head: Bytes, rows: Vec<(String, Option<Bytes>)>) -> Kept {
    let mut members = before.filter(|before| before.kind == kind).map(|before| before.members).unwrap_or_default();
    for (id, row) in rows {
        match row {
            Some(row) => drop(members.insert(id, row)),
            None => drop(members.remove(&id)),
        }
    }
    Kept { kind, at: Timestamp(0), head, members }
}

/// A join of a new member of the classic protocol that reads `t`, by a client that needs no id first.
fn join(client: &str) -> Join {
    Join { client: Client { id: client.to_owned(), host: "/127.0.0.1".to_owned() }, ..owning(&[]) }
}

fn owning(owned: &[u32]) -> Join {
    let owned = if owned.is_empty() { Named::new() } else { named("t", owned) };
    Join {
        member_id: String::new(),
        instance_id: None,
        client: Client::default(),
        unique: "1".to_owned(),
        protocol_type: "consumer".to_owned(),
        protocols: vec![Protocol { name: "range".to_owned(), metadata: subscription(3, &["t"], &owned) }],
        session_ms: SESSION_MS,
        rebalance_ms: REBALANCE_MS,
        reason: None,
        asks_twice: false,
        may_skip_assignment: false,
    }
}

fn sync(id: &str, generation: i32) -> Sync {
    Sync {
        member_id: id.to_owned(),
        instance_id: None,
        generation,
        protocol_type: Some("consumer".to_owned()),
        protocol: Some("range".to_owned()),
        assignments: Vec::new(),
    }
}

fn beat(member: &str, epoch: i32) -> consumer::Heartbeat {
    consumer::Heartbeat { member: member.to_owned(), epoch, ..consumer::Heartbeat::default() }
}

fn coming(member: &str) -> consumer::Heartbeat {
    consumer::Heartbeat {
        rebalance_timeout_ms: Some(REBALANCE_MS as i32),
        topics: Some(["t".to_owned()].into()),
        owned: Some(Partitions::new()),
        ..beat(member, JOIN)
    }
}

/// What a member of the consumer protocol is told to read of `t`, if it is told.
fn told(told: &Told) -> Option<Vec<u32>> {
    Some(told.assignment.as_ref()?.values().flatten().map(|partition| partition.0).collect())
}

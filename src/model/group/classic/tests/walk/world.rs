//! The world around the group: its processes, their connections, the journal and time; and what must always hold.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;

use super::super::super::super::{Answer, Committer, Effect, GroupError, Heartbeat, Input, Leaving, Request, Ticket};
use super::super::super::{ClassicGroup, ClassicSettings};
use super::client::{Does, Fate, PARTITIONS, Process};
use crate::disk::SplitMix;
use crate::model::Timestamp;

const SETTINGS: ClassicSettings =
    ClassicSettings { session_ms_min: 1, session_ms_max: 100_000, initial_delay_ms: 500, num_members_max: 1_000 };

/// Long enough for every session to expire and every rebalance to end, several times over.
const REST_MS_MAX: i64 = 120_000;

pub(super) struct World {
    pub random: SplitMix,
    pub processes: Vec<Process>,
    pub seen: Seen,
    seed: u64,
    now: i64,
    group: ClassicGroup,
    last_ticket: u64,
    last_serial: u64,
    /// Of the group, and not durable yet.
    effects: VecDeque<Effect>,
    /// On their way to their processes.
    answers: BTreeMap<Ticket, Answer>,
    head: Option<Bytes>,
    members: BTreeMap<String, Bytes>,
    /// By generation and partition.
    owners: BTreeMap<(i32, u8), String>,
    /// The process that was given a partition last, and the generation.
    readers: BTreeMap<u8, (i32, u64)>,
    /// Who was in each generation, as its leader was told.
    generations: BTreeMap<i32, BTreeSet<String>>,
}

/// How often what happened.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub commits_taken: u64,
    pub commits_refused: u64,
    pub restarts: u64,
    pub generations: u64,
    pub replaced: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Seen) {
        self.commits_taken += other.commits_taken;
        self.commits_refused += other.commits_refused;
        self.restarts += other.restarts;
        self.generations += other.generations;
        self.replaced += other.replaced;
    }
}

impl World {
    pub fn new(seed: u64) -> World {
        World {
            random: SplitMix::new(seed),
            processes: Vec::new(),
            seen: Seen::default(),
            seed,
            now: 1_000_000,
            group: ClassicGroup::new(SETTINGS),
            last_ticket: 0,
            last_serial: 0,
            effects: VecDeque::new(),
            answers: BTreeMap::new(),
            head: None,
            members: BTreeMap::new(),
            owners: BTreeMap::new(),
            readers: BTreeMap::new(),
            generations: BTreeMap::new(),
        }
    }

    pub fn next_serial(&mut self) -> u64 {
        self.last_serial += 1;
        self.last_serial
    }

    pub fn random_process(&mut self) -> Option<usize> {
        let num = self.processes.len() as u64;
        (num > 0).then(|| self.random.below(num) as usize)
    }

    /// The process asks what it has to ask next.
    pub fn act(&mut self, process: Option<usize>) {
        let Some(process) = process else { return };
        if let Some(request) = self.processes[process].next_request() {
            let ticket = self.ask(request);
            self.processes[process].does = Does::Waits(ticket);
        }
    }

    fn ask(&mut self, request: Request) -> Ticket {
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        self.put(Input::Asked { ticket, request });
        ticket
    }

    fn put(&mut self, input: Input) {
        let mut effects = Vec::new();
        self.group.handle(input, Timestamp(self.now), &mut effects);
        self.effects.extend(effects);
    }

    /// What the group wants so far becomes durable, and answers leave.
    pub fn flush(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Reply { to, answer } => self.send(to, answer),
                Effect::Keep { head, members } => {
                    self.head = Some(head);
                    for (id, row) in members {
                        match row {
                            Some(row) => drop(self.members.insert(id, row)),
                            None => drop(self.members.remove(&id)),
                        }
                    }
                }
                Effect::Event(_) => {}
            }
        }
    }

    fn send(&mut self, to: Ticket, answer: Answer) {
        if let Answer::Join(Ok(joined)) = &answer
            && !joined.members.is_empty()
        {
            let owner = |id: &str, instance: &Option<String>| instance.clone().unwrap_or_else(|| id.to_owned());
            let told = joined.members.iter().map(|member| owner(&member.member_id, &member.instance_id)).collect();
            let before = self.generations.entry(joined.generation).or_insert_with(|| BTreeSet::clone(&told));
            assert_eq!(*before, told, "seed {}: generation {} has other members", self.seed, joined.generation);
        }
        assert!(self.answers.insert(to, answer).is_none(), "seed {}: {to:?} is answered twice", self.seed);
    }

    /// The process gets its answer, if there is one.
    pub fn deliver(&mut self, process: Option<usize>) {
        let Some(index) = process else { return };
        let Does::Waits(ticket) = self.processes[index].does else { return };
        if let Some(answer) = self.answers.remove(&ticket) {
            self.take(index, answer);
        }
    }

    fn take(&mut self, index: usize, answer: Answer) {
        match self.processes[index].take(answer) {
            Fate::GoesOn => {}
            Fate::Fenced => {
                self.seen.replaced += 1;
                self.processes.remove(index);
            }
            Fate::Assigned => self.check_owner(index),
        }
    }

    /// A partition has one owner in a generation.
    fn check_owner(&mut self, index: usize) {
        let process = &self.processes[index];
        let Does::Reads(partitions) = &process.does else { return };
        for partition in partitions {
            let owner =
                self.owners.entry((process.generation, *partition)).or_insert_with(|| process.owner().to_owned());
            assert_eq!(owner, process.owner(), "seed {}: partition {partition}", self.seed);
            let reader = self.readers.entry(*partition).or_insert((process.generation, process.serial));
            // An older answer that comes late makes nobody the last reader.
            if *reader <= (process.generation, process.serial) {
                *reader = (process.generation, process.serial);
            }
        }
    }

    pub fn heartbeat(&mut self, process: Option<usize>) {
        let Some(index) = process.filter(|index| matches!(self.processes[*index].does, Does::Reads(_))) else { return };
        let beat: Heartbeat = self.processes[index].heartbeat();
        let ticket = self.ask(Request::Heartbeat(beat));
        self.flush();
        let answer = self.answers.remove(&ticket).expect("heartbeats are answered at once");
        self.take(index, answer);
    }

    /// The process moves its positions. Only the last reader of a partition may.
    pub fn commit(&mut self, process: Option<usize>) {
        let Some(index) = process else { return };
        let process = &self.processes[index];
        let Does::Reads(partitions) = &process.does else { return };
        let (member, instance) = (process.member_id.as_str(), process.instance.as_deref());
        let committer = Committer { member, instance, generation: process.generation, knows_epochs: false };
        match self.group.admit(committer, Timestamp(self.now)) {
            Ok(()) => {
                for partition in partitions {
                    let reader = self.readers[partition];
                    let is_last = reader == (process.generation, process.serial);
                    assert!(is_last, "seed {}: partition {partition} belongs to {reader:?}: {process:?}", self.seed);
                }
                self.seen.commits_taken += 1;
            }
            Err(GroupError::Fenced { .. }) => {
                self.seen.commits_refused += 1;
                self.processes.remove(index);
            }
            Err(_) => self.seen.commits_refused += 1,
        }
    }

    /// The process asks again, and the broker may or may not notice that it is not there for the first answer.
    pub fn lose_connection(&mut self, process: Option<usize>) {
        let Some(index) = process else { return };
        if let Does::Waits(ticket) = self.processes[index].does {
            self.drop_ticket(ticket);
            self.processes[index].ask_again();
        }
    }

    fn drop_ticket(&mut self, ticket: Ticket) {
        self.answers.remove(&ticket);
        if self.random.chance(1, 2) {
            self.put(Input::Gone(ticket));
        }
    }

    pub fn kill(&mut self, process: Option<usize>) {
        let Some(index) = process else { return };
        let process = self.processes.remove(index);
        if let Does::Waits(ticket) = process.does {
            self.drop_ticket(ticket);
        }
    }

    pub fn leave(&mut self, process: Option<usize>) {
        let Some(index) = process.filter(|index| matches!(self.processes[*index].does, Does::Reads(_))) else { return };
        let process = self.processes.remove(index);
        let leaving = Leaving { member_id: process.member_id, instance_id: process.instance, reason: None };
        self.ask(Request::Leave(vec![leaving]));
    }

    pub fn change(&mut self, process: Option<usize>) {
        if let Some(index) = process {
            self.processes[index].change();
        }
    }

    /// The broker dies and comes back with what was durable. All connections are lost.
    pub fn crash(&mut self) {
        self.effects.clear();
        self.answers.clear();
        self.group = match &self.head {
            Some(head) => ClassicGroup::restore(SETTINGS, head, &self.members, Timestamp(self.now)).unwrap(),
            None => ClassicGroup::new(SETTINGS),
        };
        for process in &mut self.processes {
            if matches!(process.does, Does::Waits(_)) {
                process.ask_again();
            }
        }
        self.seen.restarts += 1;
    }

    /// Lets time pass, stopping at each deadline.
    pub fn pass(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some(deadline) = self.group.deadline().filter(|deadline| deadline.0 <= until) {
            self.now = self.now.max(deadline.0);
            self.put(Input::Due);
            assert!(self.group.deadline().is_none_or(|next| next.0 > self.now), "the clock does not go on");
        }
        self.now = until;
    }

    /// Nothing fails any more: everybody does what it has to, and soon reads its part.
    pub fn come_to_rest(&mut self) {
        let until = self.now + REST_MS_MAX;
        while self.now < until {
            for index in (0..self.processes.len()).rev() {
                self.act(Some(index));
                self.flush();
                if index < self.processes.len() {
                    self.deliver(Some(index));
                }
                if index < self.processes.len() {
                    self.heartbeat(Some(index));
                }
            }
            self.pass(500);
        }
        self.check_rest();
        self.seen.generations = self.generations.len() as u64;
    }

    fn check_rest(&self) {
        let seed = self.seed;
        let (state, num_members) = (self.group.summary().state, self.group.num_members());
        let expected = if self.processes.is_empty() { "Empty" } else { "Stable" };
        assert_eq!((state, num_members), (expected, self.processes.len()), "seed {seed}: {:?}", self.processes);
        let mut read: Vec<u8> = Vec::new();
        for process in &self.processes {
            assert!(self.group.is_member(&process.member_id), "seed {seed}: {process:?}");
            match &process.does {
                Does::Reads(partitions) => read.extend(partitions),
                other => panic!("seed {seed}: process {} still {other:?}", process.serial),
            }
        }
        read.sort_unstable();
        let all: Vec<u8> = if self.processes.is_empty() { Vec::new() } else { (0..PARTITIONS).collect() };
        assert_eq!(read, all, "seed {seed}");
    }
}

impl ClassicGroup {
    fn is_member(&self, id: &str) -> bool {
        self.members.contains_key(id)
    }
}

//! The world around the group: its clients, their connections, the topics, the journal and time; and what must always hold.

use super::super::*;
use super::classic::{Classic, Does, each};
use super::modern::Modern;
use crate::disk::SplitMix;
use crate::model::MovedPosition;

/// Of each topic at first, and at most as leaders see it.
pub const PARTITIONS: u32 = 4;

const TOPICS: [&str; 3] = ["t", "u", "v"];

/// Long enough for every session to expire and every rebalance to end, several times over.
const REST_MS: i64 = 150_000;

#[derive(Clone, Debug)]
pub enum Process {
    Classic(Classic),
    Modern(Modern),
}

pub struct World {
    pub random: SplitMix,
    pub seen: BTreeMap<&'static str, u64>,
    scene: Scene,
    clients: Vec<Process>,
    seed: u64,
    cooperative: bool,
    last_serial: u64,
    /// Of the group, and not durable yet.
    effects: VecDeque<(GroupKind, Effect)>,
    /// The client that read a partition last.
    readers: BTreeMap<(String, PartitionId), u64>,
    /// Who was in each generation that clients made themselves.
    generations: BTreeMap<i32, BTreeSet<String>>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut scene = Scene::new(PARTITIONS);
        scene.settings.classic.initial_delay_ms = 500;
        scene.group = Group::new(&scene.settings);
        for topic in TOPICS {
            scene.table.set(topic, PARTITIONS);
        }
        World {
            random: SplitMix::new(seed),
            seen: BTreeMap::new(),
            scene,
            clients: Vec::new(),
            seed,
            cooperative: seed % 2 == 1,
            last_serial: 0,
            effects: VecDeque::new(),
            readers: BTreeMap::new(),
            generations: BTreeMap::new(),
        }
    }

    fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    pub fn random_client(&mut self) -> Option<usize> {
        let num = self.clients.len() as u64;
        (num > 0).then(|| self.random.below(num) as usize)
    }

    fn work<T>(&mut self, work: impl FnOnce(&mut Group, &Around<'_>, Timestamp, &mut Vec<Effect>) -> T) -> T {
        let Scene { table, settings, group, now, .. } = &mut self.scene;
        let around = Around { topics: table, settings: &settings.consumer, classic: settings.classic };
        let (before, mut effects) = (group.kind(), Vec::new());
        let result = work(group, &around, Timestamp(*now), &mut effects);
        let kind = group.kind();
        let came_with_members = effects.iter().any(|e| matches!(e, Effect::Event(Event::Migrated { .. })));
        self.effects.extend(effects.into_iter().map(|effect| (kind, effect)));
        match (before, kind) {
            _ if !came_with_members => {}
            (GroupKind::Classic, GroupKind::Consumer) => self.note("upgraded"),
            (GroupKind::Consumer, GroupKind::Classic) => self.note("downgraded"),
            other => panic!("seed {}: {other:?} is no migration", self.seed),
        }
        result
    }

    fn ask(&mut self, request: Request) -> Ticket {
        self.scene.last_ticket += 1;
        let ticket = Ticket(self.scene.last_ticket);
        self.work(|group, around, now, effects| group.handle(Input::Asked { ticket, request }, around, now, effects));
        ticket
    }

    /// What the group wants so far becomes durable, and answers leave.
    pub fn flush(&mut self) {
        while let Some((kind, effect)) = self.effects.pop_front() {
            match effect {
                Effect::Reply { to, answer } => self.send(to, answer),
                Effect::Keep { head, members } => {
                    self.scene.kept = Some(keep_as(self.scene.kept.take(), kind, head, members));
                }
                Effect::Event(_) => {}
            }
        }
    }

    fn send(&mut self, to: Ticket, answer: Answer) {
        if let Answer::Join(Ok(joined)) = &answer
            && !joined.members.is_empty()
        {
            let owner = |member: &JoinedMember| member.instance_id.clone().unwrap_or_else(|| member.member_id.clone());
            let told: BTreeSet<String> = joined.members.iter().map(owner).collect();
            let before = self.generations.entry(joined.generation).or_insert_with(|| told.clone());
            assert_eq!(*before, told, "seed {}: generation {} has other members", self.seed, joined.generation);
        }
        assert!(self.scene.answers.insert(to, answer).is_none(), "seed {}: {to:?} is answered twice", self.seed);
    }

    /// The client does what it has to do next.
    pub fn act(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        match &mut self.clients[index] {
            Process::Modern(_) => self.beat(client),
            Process::Classic(classic) => {
                if let Some(request) = classic.next_request() {
                    let ticket = self.ask(request);
                    if let Process::Classic(classic) = &mut self.clients[index] {
                        classic.does = Does::Waits(ticket);
                    }
                }
            }
        }
    }

    /// A classic client gets the answer that it waits for, if there is one; another gets on with what it was told.
    pub fn deliver(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        match &mut self.clients[index] {
            Process::Modern(modern) => {
                modern.progress();
                self.reads(index);
            }
            Process::Classic(Classic { does: Does::Waits(ticket), .. }) => {
                if let Some(answer) = self.scene.answers.remove(ticket) {
                    self.take(index, answer);
                }
            }
            Process::Classic(_) => {}
        }
    }

    fn take(&mut self, index: usize, answer: Answer) {
        if let Process::Classic(classic) = &mut self.clients[index] {
            let is_assigned = matches!(answer, Answer::Sync(Ok(_)));
            let goes_on = classic.take(answer);
            if is_assigned {
                self.reads(index);
            }
            self.end_unless(goes_on, index);
        }
    }

    fn end_unless(&mut self, goes_on: bool, index: usize) {
        if !goes_on {
            self.note("fenced");
            self.clients.remove(index);
        }
    }

    /// What the client reads now it is the last one to read, unless its answer came when it was out already.
    fn reads(&mut self, index: usize) {
        if !self.counts(&self.clients[index]) {
            return;
        }
        let serial = self.clients[index].serial();
        for at in self.owned_by(index) {
            self.readers.insert(at, serial);
        }
    }

    fn owned_by(&self, index: usize) -> Vec<(String, PartitionId)> {
        match &self.clients[index] {
            Process::Classic(classic) => each(&classic.owned).map(|(topic, p)| (topic.to_owned(), p)).collect(),
            Process::Modern(modern) => {
                let name = |id: &uuid::Uuid| consumer::Topics::name(&self.scene.table, id).unwrap();
                let of_topic = modern.owned.iter().map(|(id, partitions)| (name(id), partitions));
                of_topic.flat_map(|(name, partitions)| partitions.iter().map(move |p| (name.clone(), *p))).collect()
            }
        }
    }

    /// The client shows that it is alive. The answer may be lost.
    pub fn beat(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        match self.clients[index].clone() {
            Process::Classic(classic) => {
                if !matches!(classic.does, Does::Reads) {
                    return;
                }
                let ticket = self.ask(Request::Heartbeat(classic.heartbeat()));
                self.flush();
                let answer = self.scene.answers.remove(&ticket).expect("heartbeats are answered at once");
                self.take(index, answer);
            }
            Process::Modern(modern) => {
                let said = modern.heartbeat();
                let told = self.work(|group, around, now, effects| group.heartbeat("g", &said, around, now, effects));
                self.flush();
                let is_lost = self.random.chance(1, 20);
                let Process::Modern(modern) = &mut self.clients[index] else { return };
                if is_lost {
                    return modern.lose_answer();
                }
                let goes_on = modern.take(told);
                self.end_unless(goes_on, index);
            }
        }
    }

    /// The client moves its positions. Only the last reader of a partition may.
    pub fn commit(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        let owned = self.owned_by(index);
        let (member, instance, generation, knows_epochs) = match &self.clients[index] {
            Process::Classic(Classic { member_id, instance, generation, .. }) => {
                (member_id, instance, generation, false)
            }
            Process::Modern(Modern { member, instance, epoch, .. }) => (member, instance, epoch, true),
        };
        if owned.is_empty() {
            return;
        }
        let (generation, instance) = (*generation, instance.as_deref());
        let committer = Committer { member, instance, generation, knows_epochs };
        let moved: Vec<_> = owned.iter().map(|(topic, partition)| moved(topic, *partition)).collect();
        let serial = self.clients[index].serial();
        match self.scene.group.admit(committer, &moved, Timestamp(self.scene.now)) {
            Ok(()) => {
                for at in owned {
                    let reader = self.readers[&at];
                    assert_eq!(reader, serial, "seed {}: {at:?} is another's: {:?}", self.seed, self.clients[index]);
                }
                self.note("commit");
            }
            Err(_) => self.note("refused commit"),
        }
    }

    pub fn start(&mut self, clients_max: usize, instances: u64) {
        if self.clients.len() >= clients_max {
            return;
        }
        self.last_serial += 1;
        let serial = self.last_serial;
        let instance = self.random.chance(1, 4).then(|| format!("instance{}", self.random.below(instances)));
        let topics = self.some_topics();
        let client = match self.random.chance(1, 3) {
            true => Process::Modern(Modern::new(serial, instance, topics)),
            false => Process::Classic(Classic::new(serial, instance, topics, self.cooperative)),
        };
        self.clients.push(client);
    }

    fn some_topics(&mut self) -> BTreeSet<String> {
        let first = self.random.below(TOPICS.len() as u64) as usize;
        let others = self.random.below(2) as usize;
        (first..=first + others).map(|at| TOPICS[at % TOPICS.len()].to_owned()).collect()
    }

    /// The client asks again, and the broker may or may not notice that it is not there for the first answer.
    pub fn lose_connection(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        if let Process::Classic(Classic { does, .. }) = &mut self.clients[index]
            && let Does::Waits(ticket) = *does
        {
            *does = Does::Idle;
            self.drop_ticket(ticket);
        }
    }

    fn drop_ticket(&mut self, ticket: Ticket) {
        self.scene.answers.remove(&ticket);
        if self.random.chance(1, 2) {
            self.work(|group, around, now, effects| group.handle(Input::Gone(ticket), around, now, effects));
        }
    }

    pub fn kill(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        if let Process::Classic(Classic { does: Does::Waits(ticket), .. }) = self.clients.remove(index) {
            self.drop_ticket(ticket);
        }
    }

    pub fn leave(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        match self.clients[index].clone() {
            Process::Classic(Classic { does: Does::Reads, member_id, instance, .. }) => {
                self.ask(Request::Leave(vec![Leaving { member_id, instance_id: instance, reason: None }]));
            }
            Process::Classic(_) => return,
            Process::Modern(Modern { member, instance, .. }) => {
                let for_a_while = instance.is_some() && self.random.chance(1, 2);
                let epoch = if for_a_while { consumer::LEFT_FOR_A_WHILE } else { LEAVE };
                let said = consumer::Heartbeat { instance, ..beat(&member, epoch) };
                // It goes, whatever it is told.
                drop(self.work(|group, around, now, effects| group.heartbeat("g", &said, around, now, effects)));
            }
        }
        self.clients.remove(index);
    }

    /// The client wants to read something else.
    pub fn change(&mut self, client: Option<usize>) {
        let Some(index) = client else { return };
        let topics = self.some_topics();
        match &mut self.clients[index] {
            Process::Classic(classic) => {
                classic.topics = topics;
                if matches!(classic.does, Does::Reads) {
                    classic.does = Does::Idle;
                }
            }
            Process::Modern(modern) => {
                modern.topics = topics;
                modern.lose_answer();
            }
        }
    }

    /// The broker dies and comes back with what was durable. All connections are lost.
    pub fn crash(&mut self) {
        self.effects.clear();
        self.scene.answers.clear();
        self.scene.group = match &self.scene.kept {
            Some(kept) => Group::restore(kept, &self.scene.settings, Timestamp(self.scene.now)).unwrap(),
            None => Group::new(&self.scene.settings),
        };
        for client in &mut self.clients {
            match client {
                Process::Classic(Classic { does, .. }) if matches!(does, Does::Waits(_)) => *does = Does::Idle,
                Process::Classic(_) => {}
                Process::Modern(modern) => modern.lose_answer(),
            }
        }
        // Who was taken out a moment ago may be a member again.
        (0..self.clients.len()).for_each(|index| self.reads(index));
        self.note("crash");
    }

    /// Lets time pass, stopping at each deadline.
    pub fn pass(&mut self, ms: i64) {
        let until = self.scene.now + ms;
        while let Some(deadline) = self.scene.group.deadline().filter(|deadline| deadline.0 <= until) {
            self.scene.now = self.scene.now.max(deadline.0);
            self.work(|group, around, now, effects| group.handle(Input::Due, around, now, effects));
            let next = self.scene.group.deadline();
            assert!(next.is_none_or(|next| next.0 > self.scene.now), "seed {}: the clock stands", self.seed);
        }
        self.scene.now = until;
    }

    /// What clients read that the group counts as its members, each is the only one to read.
    pub fn check(&self) {
        let mut owners = BTreeMap::new();
        for index in (0..self.clients.len()).filter(|index| self.counts(&self.clients[*index])) {
            for at in self.owned_by(index) {
                let other = owners.insert(at.clone(), index).map(|other| &self.clients[other]);
                let (seed, client) = (self.seed, &self.clients[index]);
                assert!(other.is_none(), "seed {seed}: {at:?} has two owners, {client:?} and {other:?}");
            }
        }
    }

    fn counts(&self, client: &Process) -> bool {
        match (client, &self.scene.group) {
            (Process::Classic(classic), Group::Classic(_)) => {
                let description = self.scene.group.describe(&self.scene.settings);
                let is_member = description.members.iter().any(|member| member.member_id == classic.member_id);
                is_member && self.scene.group.generation() == classic.generation
            }
            (Process::Classic(classic), Group::Consumer(group)) => {
                let member = group.members().find(|(id, _)| *id == classic.member_id);
                member.is_some_and(|(_, member)| [member.epoch, member.previous_epoch].contains(&classic.generation))
            }
            (Process::Modern(_), Group::Classic(_)) => false,
            (Process::Modern(modern), Group::Consumer(group)) => group.members().any(|(id, _)| id == modern.member),
        }
    }

    /// Nothing fails any more: everybody does what it has to, and soon reads its part.
    pub fn come_to_rest(&mut self) {
        let until = self.scene.now + REST_MS;
        while self.scene.now < until {
            for index in (0..self.clients.len()).rev() {
                self.act(Some(index));
                self.flush();
                if index < self.clients.len() {
                    self.deliver(Some(index));
                }
                if index < self.clients.len() && matches!(self.clients[index], Process::Classic(_)) {
                    self.beat(Some(index));
                }
            }
            self.check();
            self.pass(500);
        }
        self.check_rest();
    }

    fn check_rest(&mut self) {
        let (seed, group) = (self.seed, &self.scene.group);
        let members: Vec<usize> = (0..self.clients.len()).filter(|at| self.counts(&self.clients[*at])).collect();
        // Who waits for an instance that another holds is none.
        let waits = |client: &Process| matches!(client, Process::Modern(Modern { epoch: JOIN, instance: Some(_), .. }));
        let strangers = (0..self.clients.len()).filter(|at| !members.contains(at)).map(|at| &self.clients[at]);
        strangers.for_each(|client| assert!(waits(client), "seed {seed}: {client:?} is not in {group:?}"));
        assert_eq!(members.len(), group.num_members(), "seed {seed}: {:?} in {group:?}", self.clients);
        let modern = members.iter().filter(|at| matches!(self.clients[**at], Process::Modern(_))).count();
        if members.is_empty() {
            return;
        }
        assert_eq!(group.summary().state, "Stable", "seed {seed}: {group:?}");
        let kind = if modern == 0 { GroupKind::Classic } else { GroupKind::Consumer };
        assert_eq!(group.kind(), kind, "seed {seed}");
        self.check_coverage(&members);
        self.note(match modern {
            0 => "settled classic",
            all if all == members.len() => "settled consumer",
            _ => "settled mixed",
        });
    }

    /// Each partition that anyone subscribes to is read by one who does.
    fn check_coverage(&self, members: &[usize]) {
        let mut read = BTreeMap::new();
        for index in members {
            let topics = self.clients[*index].topics();
            for at in self.owned_by(*index) {
                assert!(topics.contains(&at.0), "seed {}: {at:?} is read by {:?}", self.seed, self.clients[*index]);
                read.insert(at, *index);
            }
        }
        let wanted: BTreeSet<&String> = members.iter().flat_map(|index| self.clients[*index].topics()).collect();
        for topic in wanted {
            for partition in (0..PARTITIONS).map(PartitionId) {
                let owner = read.get(&(topic.clone(), partition));
                assert!(owner.is_some(), "seed {}: {topic}-{partition} is read by nobody", self.seed);
            }
        }
    }
}

impl Process {
    fn serial(&self) -> u64 {
        match self {
            Process::Classic(classic) => classic.serial,
            Process::Modern(modern) => modern.serial,
        }
    }

    fn topics(&self) -> &BTreeSet<String> {
        match self {
            Process::Classic(classic) => &classic.topics,
            Process::Modern(modern) => &modern.topics,
        }
    }
}

impl Group {
    fn generation(&self) -> i32 {
        match self {
            Group::Classic(group) => group.generation(),
            Group::Consumer(group) => group.epoch(),
        }
    }
}

fn moved(topic: &str, partition: PartitionId) -> MovedPosition {
    let (topic, metadata) = (topic.to_owned(), String::new());
    MovedPosition { topic, partition, offset: 1, leader_epoch: -1, metadata, expires: None }
}

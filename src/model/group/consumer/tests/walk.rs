//! Seeded walks: clients that come, go, stall and lose answers, topics that change, a broker that restarts. After every
//! step no partition has two owners; no stale commit is taken; and when the faults stop every group settles.

use super::*;
use crate::disk::SplitMix;

const WALKS: u64 = 50;
const STEPS: usize = 2_500;
const TOPICS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];
const REGEXES: [&str; 4] = ["", "a.*|.*ta", ".*", "gamma"];

/// A client as it sees itself.
#[derive(Clone, Debug, Default)]
struct Client {
    member: String,
    instance: Option<String>,
    topics: BTreeSet<String>,
    regex: String,
    assignor: Option<String>,
    epoch: i32,
    /// What it reads.
    owned: Partitions,
    /// What it was told to read, and has not got to yet.
    told: Option<Partitions>,
    /// It lost an answer, and says all of itself again. What it was told before is void.
    full: bool,
    stalled: bool,
}

struct Walk {
    random: SplitMix,
    scene: Scene,
    clients: Vec<Client>,
    next_member: u32,
    trace: u32,
    seen: BTreeMap<String, usize>,
}

impl Walk {
    fn new(seed: u64) -> Walk {
        let mut scene = Scene::with(&[("alpha", 3), ("beta", 2)]);
        scene.settings = Settings { members_max: 7, ..Settings::default() };
        let (clients, seen) = (Vec::new(), BTreeMap::new());
        Walk { random: SplitMix::new(seed), scene, clients, next_member: 0, trace: 0, seen }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
            self.check_owners();
        }
        self.settle();
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..50 => self.with_client(Walk::exchange),
            50..68 => self.with_client(Walk::progress),
            68..80 => self.with_client(Walk::commit),
            80..84 => self.come(),
            84..86 => self.with_client(Walk::go),
            86..89 => self.with_client(Walk::resubscribe),
            89..91 => self.with_client(|walk, at| walk.clients[at].stalled ^= true),
            91..94 => self.change_topics(),
            94..96 => self.restart(),
            _ => self.pass(),
        }
    }

    fn note(&mut self, what: &str, particulars: &dyn std::fmt::Debug) {
        *self.seen.entry(what.to_owned()).or_default() += 1;
        self.trace = crc32c::crc32c_append(self.trace, format!("{what} {particulars:?}").as_bytes());
    }

    fn with_client(&mut self, act: impl FnOnce(&mut Walk, usize)) {
        if !self.clients.is_empty() {
            let at = self.random.below(self.clients.len() as u64) as usize;
            act(self, at);
        }
    }

    /// A heartbeat and its answer, of which either may be lost.
    fn exchange(&mut self, at: usize) {
        if self.clients[at].stalled {
            return;
        }
        if self.random.chance(1, 20) {
            return self.lose(at);
        }
        let said = self.clients[at].heartbeat(self.random.chance(1, 2));
        let told = self.scene.send(said);
        self.note(label(&told), &told);
        if self.random.chance(1, 20) { self.lose(at) } else { self.clients[at].take(told) }
    }

    fn lose(&mut self, at: usize) {
        let client = &mut self.clients[at];
        (client.full, client.told) = (true, None);
    }

    /// The client goes on with what it was told: it lets go first, and takes what is new later.
    fn progress(&mut self, at: usize) {
        self.clients[at].progress();
    }

    fn commit(&mut self, at: usize) {
        let client = self.clients[at].clone();
        let epoch = client.epoch - i32::from(self.random.chance(1, 5));
        let table = self.scene.table.clone();
        let named = |id: Uuid| table.topics.iter().find(|(_, topic)| topic.id == id).map(|(name, _)| name.as_str());
        let owned: Vec<_> = all_of(&client.owned).filter_map(|(id, p)| Some((id, named(id)?, p))).collect();
        let Some(at) = owned.len().checked_sub(1).map(|last| self.random.below(last as u64 + 1) as usize) else {
            return;
        };
        let (topic, name, partition) = owned[at];
        let known = self.scene.group.members.get(&client.member).cloned();
        let at_epoch = known.as_ref().is_some_and(|member| member.epoch == epoch);
        match self.scene.group.check_commit(&client.member, epoch, [(name, partition)].into_iter()) {
            Ok(()) if at_epoch => self.note("commit", &epoch),
            Ok(()) => {
                let held = known.is_some_and(|member| member.held().any(|held| held == (topic, partition)));
                assert!(held, "{client:?} commits on what it does not hold, from a stale epoch");
                self.note("late commit", &partition);
            }
            Err(fault) => {
                assert!(!at_epoch, "{client:?} is refused: {fault}");
                self.note("refused commit", &fault);
            }
        }
    }

    fn come(&mut self) {
        if self.clients.len() >= 9 {
            return;
        }
        self.next_member += 1;
        let mut client = Client { member: format!("m{}", self.next_member), ..Client::default() };
        if self.random.chance(1, 2) {
            client.instance = Some(format!("i{}", self.random.below(4)));
        }
        let assignors = [None, Some("uniform"), Some("range"), Some("none such")];
        let pick = if self.random.chance(1, 40) { 3 } else { self.random.below(3) };
        client.assignor = assignors[pick as usize].map(str::to_owned);
        self.choose_subscription(&mut client);
        self.clients.push(client);
    }

    /// It leaves, for good or for a while, or is killed without a word.
    fn go(&mut self, at: usize) {
        let client = self.clients.swap_remove(at);
        let epoch = match self.random.below(3) {
            0 => return self.note("killed", &client.member),
            1 if client.instance.is_some() => LEFT_FOR_A_WHILE,
            _ => LEAVE,
        };
        let told = self.scene.send(Heartbeat { instance: client.instance, ..beat(&client.member, epoch) });
        self.note(if epoch == LEAVE { "leave" } else { "leave for a while" }, &told);
    }

    fn resubscribe(&mut self, at: usize) {
        let mut client = self.clients[at].clone();
        self.choose_subscription(&mut client);
        self.clients[at] = Client { full: true, told: None, ..client };
    }

    fn choose_subscription(&mut self, client: &mut Client) {
        client.topics = TOPICS.iter().filter(|_| self.random.chance(1, 2)).map(|topic| (*topic).to_owned()).collect();
        client.regex = REGEXES[self.random.below(REGEXES.len() as u64) as usize].to_owned();
    }

    fn change_topics(&mut self) {
        let topic = TOPICS[self.random.below(TOPICS.len() as u64) as usize];
        match self.scene.table.find(topic) {
            Some(_) if self.random.chance(1, 3) => self.scene.table.delete(topic),
            Some(found) if found.partitions >= 8 => {}
            found => {
                let partitions = found.map_or(0, |topic| topic.partitions) + 1 + self.random.below(2) as u32;
                self.scene.table.set(topic, partitions);
            }
        }
        self.note("topics", &self.scene.table.version.clone());
    }

    fn restart(&mut self) {
        let restored = self.scene.restored();
        let live = &self.scene.group;
        assert_eq!((restored.epoch, restored.target_epoch), (live.epoch, live.target_epoch));
        assert_eq!(restored.members, live.members);
        assert_eq!((&restored.held, &restored.instances), (&live.held, &live.instances));
        self.scene.group = restored;
        self.note("restart", &self.scene.now.clone());
    }

    fn pass(&mut self) {
        let ms = self.random.below(12_000) as i64;
        let gone = self.scene.pass(ms);
        if !gone.is_empty() {
            self.note("expired", &gone);
        }
    }

    /// What members of the group read is read by one alone. Who was taken out does not know it yet, and does not count.
    fn check_owners(&self) {
        let members = self.clients.iter().filter(|client| self.scene.group.members.contains_key(&client.member));
        let mut owners = BTreeMap::new();
        for client in members {
            for partition in all_of(&client.owned) {
                let other = owners.insert(partition, &client.member);
                assert_eq!(other, None, "{partition:?} has a second owner, {}", client.member);
            }
        }
        let live = &self.scene.group;
        assert!(live.target_epoch <= live.epoch);
        assert_eq!(live.held.len(), live.members.values().flat_map(Member::held).count());
        assert!(live.members.keys().eq(live.deadlines.keys()), "each member has a deadline");
        let statics = live.members.values().filter(|member| member.instance.is_some()).count();
        assert_eq!(live.instances.len(), statics);
    }

    /// No faults from here on: all clients come back, and within a few rounds everyone reads what it should.
    fn settle(&mut self) {
        self.clients.retain(|client| client.assignor.as_deref() != Some("none such"));
        self.clients.iter_mut().for_each(|client| client.stalled = false);
        // Whoever is not there any more is out by then.
        for _ in 0..5 {
            self.scene.pass(10_000);
            self.round();
        }
        let rounds = (0..40).find(|_| {
            self.round();
            self.is_settled()
        });
        assert!(rounds.is_some(), "the group does not settle: {:#?}", self.scene.group);
        self.check_coverage();
        let epoch = self.scene.group.epoch();
        self.round();
        assert_eq!(self.scene.group.epoch(), epoch, "a settled group rests");
        self.note("settled", &rounds);
    }

    fn round(&mut self) {
        for at in 0..self.clients.len() {
            let said = self.clients[at].heartbeat(false);
            let told = self.scene.send(said);
            self.clients[at].take(told);
            self.clients[at].progress();
            self.clients[at].progress();
            self.check_owners();
        }
    }

    fn is_settled(&self) -> bool {
        let reads_all = |client: &Client| {
            let member = self.scene.group.members.get(&client.member);
            member.is_none_or(|member| all_of(&client.owned).eq(member.held()))
        };
        matches!(self.scene.group.state(), GroupState::Stable | GroupState::Empty) && self.clients.iter().all(reads_all)
    }

    fn check_coverage(&self) {
        let members = &self.scene.group.members;
        for (name, topic) in &self.scene.table.topics {
            let wants = |client: &&Client| members.contains_key(&client.member) && client.subscribes(name);
            let wanted = self.clients.iter().any(|client| wants(&client));
            for partition in (0..topic.partitions).map(PartitionId) {
                let reads = |client: &&Client| all_of(&client.owned).any(|owned| owned == (topic.id, partition));
                let owners = self.clients.iter().filter(wants).filter(reads).count();
                assert_eq!(owners, usize::from(wanted), "owners of {name}-{partition}");
            }
        }
    }
}

impl Client {
    fn heartbeat(&self, says_owned: bool) -> Heartbeat {
        let instance = self.instance.clone();
        if self.epoch != JOIN && !self.full {
            let owned = says_owned || self.told.is_none();
            let owned = owned.then(|| self.owned.clone());
            return Heartbeat { instance, owned, ..beat(&self.member, self.epoch) };
        }
        Heartbeat {
            epoch: self.epoch,
            instance,
            topics: Some(self.topics.clone()),
            regex: Some(self.regex.clone()),
            assignor: self.assignor.clone(),
            owned: Some(self.owned.clone()),
            rebalance_timeout_ms: Some(60_000),
            ..joining(&self.member, &[])
        }
    }

    fn take(&mut self, told: Result<Told, Fault>) {
        match told {
            Ok(told) => {
                (self.epoch, self.full) = (told.epoch, false);
                self.told = told.assignment.or(self.told.take());
            }
            Err(Fault::UnsupportedAssignor { .. } | Fault::UnreleasedInstance { .. } | Fault::Full { .. }) => {}
            Err(_) => {
                (self.epoch, self.full, self.told) = (JOIN, true, None);
                self.owned.clear();
            }
        }
    }

    fn progress(&mut self) {
        let Some(told) = &self.told else { return };
        let told: BTreeSet<_> = all_of(told).collect();
        let owned: BTreeSet<_> = all_of(&self.owned).collect();
        if owned.is_subset(&told) {
            self.owned = self.told.take().unwrap_or_default();
        } else {
            self.owned = grouped(owned.intersection(&told).copied());
        }
    }

    fn subscribes(&self, topic: &str) -> bool {
        let matched = match self.regex.as_str() {
            "" => false,
            ".*" => true,
            "a.*|.*ta" => topic.starts_with('a') || topic.ends_with("ta"),
            exact => topic == exact,
        };
        self.topics.contains(topic) || matched
    }
}

fn all_of(partitions: &Partitions) -> impl Iterator<Item = (Uuid, PartitionId)> {
    partitions.iter().flat_map(|(topic, held)| held.iter().map(|partition| (*topic, *partition)))
}

fn grouped(all: impl Iterator<Item = (Uuid, PartitionId)>) -> Partitions {
    let mut partitions = Partitions::new();
    for (topic, partition) in all {
        partitions.entry(topic).or_default().insert(partition);
    }
    partitions
}

fn label(told: &Result<Told, Fault>) -> &'static str {
    match told {
        Ok(Told { assignment: Some(_), .. }) => "told",
        Ok(_) => "heard",
        Err(Fault::FencedEpoch { .. }) => "fenced epoch",
        Err(Fault::FencedInstance { .. }) => "fenced instance",
        Err(Fault::UnreleasedInstance { .. }) => "unreleased instance",
        Err(Fault::UnknownMember { .. }) => "unknown member",
        Err(Fault::UnknownInstance { .. }) => "unknown instance",
        Err(Fault::UnsupportedAssignor { .. }) => "unsupported assignor",
        Err(Fault::Full { .. }) => "full",
        Err(_) => "other",
    }
}

#[test]
fn clients_topics_and_restarts_at_random_never_give_a_partition_two_owners() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in 0..WALKS {
        let mut walk = Walk::new(seed);
        walk.run(STEPS);
        for (what, times) in walk.seen {
            *seen.entry(what).or_default() += times;
        }
    }
    for what in [
        "told",
        "heard",
        "fenced epoch",
        "fenced instance",
        "unreleased instance",
        "unknown member",
        "unknown instance",
        "unsupported assignor",
        "full",
        "commit",
        "late commit",
        "refused commit",
        "killed",
        "leave",
        "leave for a while",
        "topics",
        "restart",
        "expired",
        "settled",
    ] {
        assert!(seen.contains_key(what), "no walk came to {what:?}: {seen:?}");
    }
    assert!(!seen.contains_key("other"), "{seen:?}");
}

#[test]
fn the_same_seed_walks_the_same_way() {
    let trace = |seed| {
        let mut walk = Walk::new(seed);
        walk.run(500);
        walk.trace
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

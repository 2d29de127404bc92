//! A client of the classic protocol, as the Java client is one: eager or cooperative, at times the leader.

use super::super::*;

#[derive(Clone, Debug)]
pub struct Classic {
    pub serial: u64,
    pub instance: Option<String>,
    pub member_id: String,
    pub generation: i32,
    pub topics: BTreeSet<String>,
    /// What it reads.
    pub owned: Named,
    pub does: Does,
    cooperative: bool,
    asks_twice: bool,
    joins: u64,
    /// The topics that it named when it joined last.
    named: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub enum Does {
    /// It has to join.
    Idle,
    Waits(Ticket),
    /// It knows its generation; the leader has the others' assignment ready.
    Joined(Vec<(String, Bytes)>),
    Reads,
}

impl Classic {
    pub fn new(serial: u64, instance: Option<String>, topics: BTreeSet<String>, cooperative: bool) -> Classic {
        Classic {
            serial,
            instance,
            member_id: String::new(),
            generation: -1,
            topics,
            owned: Named::new(),
            does: Does::Idle,
            cooperative,
            asks_twice: !serial.is_multiple_of(3),
            joins: 0,
            named: BTreeSet::new(),
        }
    }

    /// What it asks next; nothing while it waits or reads.
    pub fn next_request(&mut self) -> Option<Request> {
        let protocol = self.protocol().to_owned();
        match &mut self.does {
            Does::Idle => Some(Request::Join(self.join())),
            Does::Joined(assignments) => Some(Request::Sync(Sync {
                member_id: self.member_id.clone(),
                instance_id: self.instance.clone(),
                generation: self.generation,
                protocol_type: Some("consumer".to_owned()),
                protocol: Some(protocol),
                assignments: std::mem::take(assignments),
            })),
            Does::Waits(_) | Does::Reads => None,
        }
    }

    fn protocol(&self) -> &'static str {
        if self.cooperative { "cooperative-sticky" } else { "range" }
    }

    fn join(&mut self) -> Join {
        self.joins += 1;
        self.named.clone_from(&self.topics);
        if !self.cooperative {
            self.owned.clear();
        }
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        Join {
            member_id: self.member_id.clone(),
            instance_id: self.instance.clone(),
            unique: format!("{}.{}", self.serial, self.joins),
            protocols: vec![Protocol {
                name: self.protocol().to_owned(),
                metadata: subscription(3, &topics, &self.owned),
            }],
            session_ms: 6_000,
            rebalance_ms: 9_000,
            asks_twice: self.asks_twice,
            ..join("c")
        }
    }

    pub fn heartbeat(&self) -> Heartbeat {
        let (member_id, instance_id) = (self.member_id.clone(), self.instance.clone());
        Heartbeat { member_id, instance_id, generation: self.generation }
    }

    /// False: it is fenced, and ends.
    pub fn take(&mut self, answer: Answer) -> bool {
        match answer {
            Answer::Join(Ok(joined)) => {
                self.member_id.clone_from(&joined.member_id);
                self.generation = joined.generation;
                self.does = Does::Joined(self.assignments(&joined));
                true
            }
            Answer::Join(Err(JoinRefused { error, member_id })) => {
                self.does = Does::Idle;
                if error == GroupError::MemberIdRequired {
                    self.member_id = member_id;
                    return true;
                }
                self.take_refusal(&error)
            }
            Answer::Sync(Ok(synced)) => {
                self.read(Assignment::read(&synced.assignment).unwrap().partitions);
                true
            }
            Answer::Sync(Err(error)) | Answer::Heartbeat(Err(error)) => {
                self.does = Does::Idle;
                self.take_refusal(&error)
            }
            Answer::Heartbeat(Ok(())) | Answer::Leave(_) => true,
        }
    }

    /// A cooperative member that lets go of something joins again, so that others may have it; and any that meanwhile
    /// wants to read something else.
    fn read(&mut self, assigned: Named) {
        let lets_go = self.cooperative && each(&self.owned).any(|at| !each(&assigned).any(|other| other == at));
        self.owned = assigned;
        self.does = if lets_go || self.named != self.topics { Does::Idle } else { Does::Reads };
    }

    fn take_refusal(&mut self, error: &GroupError) -> bool {
        use GroupError::{Consumer, Fenced, IllegalGeneration, RebalanceInProgress, UnknownMember};
        match error {
            RebalanceInProgress => {}
            Fenced { .. } | Consumer(Fault::FencedInstance { .. }) => return false,
            UnknownMember { .. } | Consumer(Fault::UnknownMember { .. } | Fault::UnknownInstance { .. }) => {
                self.member_id.clear();
                self.owned.clear();
            }
            IllegalGeneration { .. } | Consumer(Fault::Generation { .. }) => self.owned.clear(),
            other => panic!("client {} is told: {other}", self.serial),
        }
        true
    }

    /// As the leader: each partition to a subscriber, by turns; but what another one owns to nobody, until it let go.
    fn assignments(&self, joined: &Joined) -> Vec<(String, Bytes)> {
        if joined.leader != joined.member_id || joined.skip_assignment {
            return Vec::new();
        }
        let said: Vec<_> = joined.members.iter().map(|m| embedded::Subscription::read(&m.metadata).unwrap()).collect();
        let mut shares = vec![Named::new(); said.len()];
        let topics: BTreeSet<&String> = said.iter().flat_map(|said| &said.topics).collect();
        for topic in topics {
            let readers: Vec<usize> = (0..said.len()).filter(|at| said[*at].topics.contains(topic)).collect();
            for partition in (0..super::world::PARTITIONS).map(PartitionId) {
                let wanted = readers[partition.0 as usize % readers.len()];
                let owns = |at: &usize| said[*at].owned.get(topic).is_some_and(|owned| owned.contains(&partition));
                let owner = (0..said.len()).find(owns);
                if owner.is_none_or(|owner| owner == wanted) {
                    shares[wanted].entry(topic.clone()).or_default().insert(partition);
                }
            }
        }
        let written = shares.iter().map(|share| Assignment::write(3, share));
        joined.members.iter().map(|member| member.member_id.clone()).zip(written).collect()
    }
}

pub fn each(named: &Named) -> impl Iterator<Item = (&str, PartitionId)> {
    named.iter().flat_map(|(topic, partitions)| partitions.iter().map(|partition| (topic.as_str(), *partition)))
}

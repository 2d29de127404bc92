//! A client's process: what it knows of its membership, and what it makes of each answer. As the Java client does it.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::super::super::super::{
    Answer, Client, GroupError, Heartbeat, Join, JoinRefused, Joined, JoinedMember, Protocol, Request, Sync, Ticket,
};

/// Partitions that the members share.
pub(super) const PARTITIONS: u8 = 8;

#[derive(Debug)]
pub(super) struct Process {
    /// No other process has it.
    pub serial: u64,
    pub instance: Option<String>,
    pub member_id: String,
    pub generation: i32,
    pub does: Does,
    metadata: u64,
    joins: u64,
    asks_twice: bool,
    skips: bool,
}

#[derive(Debug)]
pub(super) enum Does {
    /// It has to join.
    Idle,
    Waits(Ticket),
    /// It knows its generation; the leader has the others' assignment ready.
    Joined(Vec<(String, Bytes)>),
    Reads(BTreeSet<u8>),
}

/// What becomes of a process by an answer.
pub(super) enum Fate {
    GoesOn,
    /// It was given this to read.
    Assigned,
    /// Another process has its instance.
    Fenced,
}

impl Process {
    pub fn new(serial: u64, instance: Option<String>, asks_twice: bool, skips: bool) -> Process {
        let (member_id, does) = (String::new(), Does::Idle);
        Process { serial, instance, member_id, generation: -1, does, metadata: 0, joins: 0, asks_twice, skips }
    }

    /// Whoever has the same owner's name is the same owner: an instance, or a member.
    pub fn owner(&self) -> &str {
        self.instance.as_deref().unwrap_or(&self.member_id)
    }

    /// What it asks next; nothing while it waits or reads.
    pub fn next_request(&mut self) -> Option<Request> {
        match &mut self.does {
            Does::Idle => Some(Request::Join(self.join())),
            Does::Joined(assignments) => {
                let assignments = std::mem::take(assignments);
                Some(Request::Sync(Sync {
                    member_id: self.member_id.clone(),
                    instance_id: self.instance.clone(),
                    generation: self.generation,
                    protocol_type: Some("consumer".to_owned()),
                    protocol: Some("range".to_owned()),
                    assignments,
                }))
            }
            Does::Waits(_) | Does::Reads(_) => None,
        }
    }

    fn join(&mut self) -> Join {
        self.joins += 1;
        Join {
            member_id: self.member_id.clone(),
            instance_id: self.instance.clone(),
            client: Client { id: "c".to_owned(), host: "/h".to_owned() },
            unique: format!("{}.{}", self.serial, self.joins),
            protocol_type: "consumer".to_owned(),
            protocols: vec![Protocol {
                name: "range".to_owned(),
                metadata: self.metadata.to_be_bytes().to_vec().into(),
            }],
            session_ms: 3_000,
            rebalance_ms: 9_000,
            reason: None,
            asks_twice: self.asks_twice,
            may_skip_assignment: self.skips,
        }
    }

    pub fn heartbeat(&self) -> Heartbeat {
        let (member_id, instance_id) = (self.member_id.clone(), self.instance.clone());
        Heartbeat { member_id, instance_id, generation: self.generation }
    }

    /// It wants to read something else.
    pub fn change(&mut self) {
        self.metadata += 1;
        if matches!(self.does, Does::Reads(_)) {
            self.does = Does::Idle;
        }
    }

    /// What it asked last is lost.
    pub fn ask_again(&mut self) {
        self.does = Does::Idle;
    }

    pub fn take(&mut self, answer: Answer) -> Fate {
        match answer {
            Answer::Join(Ok(joined)) => {
                self.member_id.clone_from(&joined.member_id);
                self.generation = joined.generation;
                self.does = Does::Joined(assignments(&joined));
                Fate::GoesOn
            }
            Answer::Join(Err(JoinRefused { error, member_id })) => {
                self.does = Does::Idle;
                if error == GroupError::MemberIdRequired {
                    self.member_id = member_id;
                    return Fate::GoesOn;
                }
                self.take_refusal(&error)
            }
            Answer::Sync(Ok(synced)) => {
                self.does = Does::Reads(synced.assignment.iter().copied().collect());
                Fate::Assigned
            }
            Answer::Sync(Err(error)) | Answer::Heartbeat(Err(error)) => {
                self.does = Does::Idle;
                self.take_refusal(&error)
            }
            Answer::Heartbeat(Ok(())) | Answer::Leave(_) => Fate::GoesOn,
        }
    }

    fn take_refusal(&mut self, error: &GroupError) -> Fate {
        match error {
            GroupError::Fenced { .. } => return Fate::Fenced,
            GroupError::UnknownMember { .. } => self.member_id.clear(),
            GroupError::RebalanceInProgress | GroupError::IllegalGeneration { .. } => {}
            other => panic!("process {} is told: {other}", self.serial),
        }
        Fate::GoesOn
    }
}

/// Each partition to one member, by turns.
fn assignments(joined: &Joined) -> Vec<(String, Bytes)> {
    if joined.leader != joined.member_id || joined.skip_assignment {
        return Vec::new();
    }
    let num = joined.members.len();
    let share = |(turn, member): (usize, &JoinedMember)| {
        let own: Vec<u8> = (0..PARTITIONS).filter(|partition| usize::from(*partition) % num == turn).collect();
        (member.member_id.clone(), Bytes::from(own))
    };
    joined.members.iter().enumerate().map(share).collect()
}

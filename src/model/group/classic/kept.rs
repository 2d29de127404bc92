//! What of a group outlives a restart, as bytes. All numbers big-endian, texts and bytes with a length before them.
//!
//! ```text
//! head:    version u8 = 1, told i32, generation i32, protocol type?, protocol?, leader?
//! member:  version u8 = 1, instance?, client id, client host, session ms i64, rebalance ms i64,
//!          protocols (count u32, then name and metadata of each), assignment
//! ```
//!
//! A generation without a leader is one that came back from the consumer protocol and that its members have yet to replace.
//!
//! `told` is the highest generation that a member ever heard of: the next one is above it, so that nobody who was in one
//! that a crash took back is taken for a member of another.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};

use super::super::{Client, Effect, Protocol};
use super::member::Member;
use super::phase::{Phase, Preparing, Syncing};
use super::turn::Turn;
use super::{ClassicGroup, ClassicSettings};
use crate::model::Timestamp;
use crate::model::codec::CodecError;
use crate::model::codec::fields::{Reader, put_bytes, put_count, put_option, put_text};

const VERSION: u8 = 1;

/// The last generation that is complete, and the number of the last one that was begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    told: i32,
    generation: i32,
    protocol_type: Option<String>,
    protocol: Option<String>,
    leader: Option<String>,
}

impl Head {
    /// Of a group without members, whose generations went up to that.
    pub(super) fn told(generation: i32) -> Head {
        Head { told: generation, generation, ..Head::default() }
    }
}

impl ClassicGroup {
    /// The group as it was kept: the same generation, members and assignments. All sessions start now.
    pub fn restore(
        settings: ClassicSettings,
        head: &Bytes,
        members: &BTreeMap<String, Bytes>,
        now: Timestamp,
    ) -> Result<ClassicGroup, CodecError> {
        let mut group = ClassicGroup::new(settings);
        group.kept = read_head(head)?;
        group.kept_members = members.clone();
        let Head { generation, ref protocol_type, ref protocol, ref leader, .. } = group.kept;
        group.generation = generation;
        (group.protocol_type, group.protocol) = (protocol_type.clone(), protocol.clone());
        group.leader = leader.clone();
        for (id, row) in members {
            let member = read_member(row)?;
            if let Some(instance) = &member.instance_id {
                group.statics.insert(instance.clone(), id.clone());
            }
            group.insert_member(id.clone(), member);
        }
        if !members.is_empty() {
            group.phase = group.phase_restored(now);
            group.start_sessions(now);
        }
        Ok(group)
    }

    /// A generation without a leader came from the consumer protocol: its members have to join again.
    fn phase_restored(&mut self, now: Timestamp) -> Phase {
        if self.kept.leader.is_some() {
            return Phase::Stable(Syncing::complete(now));
        }
        self.leader = None;
        let until = Timestamp(now.0 + self.rebalance_ms());
        self.alarm.by(until);
        Phase::Preparing(Preparing { until, initial: None })
    }

    /// The highest generation that anyone was told of.
    pub(in crate::model::group) fn last_generation(&self) -> i32 {
        self.generation.max(self.kept.told)
    }

    /// A number that no generation had before.
    pub(super) fn next_generation(&self) -> i32 {
        self.last_generation().checked_add(1).unwrap_or(1)
    }

    /// Keeps that this generation was begun.
    pub(super) fn keep_number(&mut self, turn: &mut Turn<'_>) {
        self.kept.told = self.generation;
        self.keep(Vec::new(), turn);
    }

    /// Keeps the generation with its members: it is complete, or nobody is left.
    pub(super) fn keep_generation(&mut self, turn: &mut Turn<'_>) {
        self.kept = Head {
            told: self.generation.max(self.kept.told),
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
        };
        let rows: BTreeMap<String, Bytes> =
            self.members.iter().map(|(id, member)| (id.clone(), encode_member(member))).collect();
        let before = std::mem::take(&mut self.kept_members);
        let gone = before.keys().filter(|id| !rows.contains_key(*id)).map(|id| (id.clone(), None));
        let changed = rows.iter().filter(|(id, row)| before.get(*id) != Some(*row));
        let changes = gone.chain(changed.map(|(id, row)| (id.clone(), Some(row.clone())))).collect();
        self.kept_members = rows;
        self.keep(changes, turn);
    }

    /// Keeps that a member goes by another id, so that its client is known after a restart. All else is kept as it was.
    pub(super) fn keep_rename(&mut self, old: &str, new: &str, turn: &mut Turn<'_>) {
        let Some(row) = self.kept_members.remove(old) else { return };
        self.kept_members.insert(new.to_owned(), row.clone());
        if self.kept.leader.as_deref() == Some(old) {
            self.kept.leader = Some(new.to_owned());
        }
        self.keep(vec![(old.to_owned(), None), (new.to_owned(), Some(row))], turn);
    }

    fn keep(&self, members: Vec<(String, Option<Bytes>)>, turn: &mut Turn<'_>) {
        turn.effects.push(Effect::Keep { head: encode_head(&self.kept), members });
    }
}

fn encode_head(head: &Head) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(VERSION);
    out.put_i32(head.told);
    out.put_i32(head.generation);
    for text in [&head.protocol_type, &head.protocol, &head.leader] {
        put_option(&mut out, text.as_deref(), put_text);
    }
    out.freeze()
}

fn read_head(bytes: &Bytes) -> Result<Head, CodecError> {
    let mut r = Reader::new(bytes.clone());
    r.version(VERSION, "a group")?;
    let head = Head {
        told: r.i32("a generation")?,
        generation: r.i32("a generation")?,
        protocol_type: r.option("a protocol type", Reader::text)?,
        protocol: r.option("a protocol", Reader::text)?,
        leader: r.option("a leader", Reader::text)?,
    };
    r.finish()?;
    Ok(head)
}

fn encode_member(member: &Member) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(VERSION);
    put_option(&mut out, member.instance_id.as_deref(), put_text);
    put_text(&mut out, &member.client.id);
    put_text(&mut out, &member.client.host);
    out.put_i64(member.session_ms);
    out.put_i64(member.rebalance_ms);
    put_count(&mut out, member.protocols.len());
    for protocol in &member.protocols {
        put_text(&mut out, &protocol.name);
        put_bytes(&mut out, &protocol.metadata);
    }
    put_bytes(&mut out, &member.assignment);
    out.freeze()
}

fn read_member(bytes: &Bytes) -> Result<Member, CodecError> {
    let mut r = Reader::new(bytes.clone());
    r.version(VERSION, "a member")?;
    let member = Member {
        instance_id: r.option("an instance", Reader::text)?,
        client: Client { id: r.text("a client")?, host: r.text("a host")? },
        session_ms: r.i64("a session")?,
        rebalance_ms: r.i64("a rebalance")?,
        protocols: r
            .list("protocols", |r| Ok(Protocol { name: r.text("a protocol")?, metadata: r.own_bytes("metadata")? }))?,
        assignment: r.own_bytes("an assignment")?,
        joining: None,
        syncing: None,
        is_new: false,
        expires: None,
    };
    r.finish()?;
    Ok(member)
}

//! What of a group lasts, as bytes. Frozen: each row has a version, and golden files hold it.
//!
//! ```text
//! head:    version u8, epoch i32, target epoch i32, option of the hash of the subscribed topics u64
//! member:  version u8, epoch i32, previous epoch i32, state u8, rebalance timeout i32,
//!          options of texts: instance, rack, regex, assignor; texts: client id, client host;
//!          list of texts: topics; holdings: assigned, revoking; partitions: target;
//!          option of the classic side: session timeout i32, list of (name text, metadata bytes)
//! holdings:    count u32 of (topic uuid, count u32 of (partition u32, epoch i32))
//! partitions:  count u32 of (topic uuid, count u32 of partition u32)
//! ```

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};

use super::member::{Classic, Holdings, Member, MemberState, Partitions};
use super::{ConsumerGroup, Settings};
use crate::model::codec::CodecError;
use crate::model::codec::fields::{Reader, put_bytes, put_count, put_option, put_text};
use crate::model::ids::{PartitionId, Timestamp};

const VERSION: u8 = 1;

/// What changed of a group since it was last kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub head: Bytes,
    /// Member ids with their new rows, or none for those that are gone. The others are as before.
    pub members: Vec<(String, Option<Bytes>)>,
}

impl ConsumerGroup {
    /// What is to be kept now; none when nothing changed since the last call.
    pub fn change(&mut self) -> Option<Change> {
        let head = self.encode_head();
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.is_empty() && head == self.kept_head {
            return None;
        }
        let members = dirty.into_iter().map(|id| {
            let row = self.members.get(&id).map(encode_member);
            (id, row)
        });
        let members = members.collect();
        self.kept_head = head.clone();
        Some(Change { head, members })
    }

    /// The group as it was kept. Sessions start anew at `now`, so that the members have time to come back. Whatever
    /// happened to the topics meanwhile is found at the first heartbeat.
    pub fn restore(
        head: &Bytes,
        members: &BTreeMap<String, Bytes>,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<ConsumerGroup, CodecError> {
        let mut group = read_head(head)?;
        for (id, row) in members {
            group.put(id, read_member(row)?);
        }
        group.dirty.clear();
        group.kept_head = head.clone();
        group.start_timers(settings, now);
        Ok(group)
    }

    pub(super) fn encode_head(&self) -> Bytes {
        let mut out = BytesMut::new();
        out.put_u8(VERSION);
        out.put_i32(self.epoch);
        out.put_i32(self.target_epoch);
        put_option(&mut out, self.topics_hash, |out, hash| out.put_u64(hash));
        out.freeze()
    }
}

fn read_head(head: &Bytes) -> Result<ConsumerGroup, CodecError> {
    let mut reader = Reader::new(head.clone());
    reader.version(VERSION, "a group's head")?;
    let group = ConsumerGroup {
        epoch: reader.i32("an epoch")?,
        target_epoch: reader.i32("an epoch")?,
        topics_hash: reader.option("a hash", |r, what| r.u64(what))?,
        ..ConsumerGroup::default()
    };
    reader.finish()?;
    Ok(group)
}

fn encode_member(member: &Member) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(VERSION);
    out.put_i32(member.epoch);
    out.put_i32(member.previous_epoch);
    out.put_u8(match member.state {
        MemberState::Stable => 0,
        MemberState::Unrevoked => 1,
        MemberState::Unreleased => 2,
    });
    out.put_i32(member.rebalance_timeout_ms);
    for text in [&member.instance, &member.rack, &member.regex, &member.assignor] {
        put_option(&mut out, text.as_deref(), put_text);
    }
    put_text(&mut out, &member.client_id);
    put_text(&mut out, &member.client_host);
    put_count(&mut out, member.topics.len());
    member.topics.iter().for_each(|topic| put_text(&mut out, topic));
    put_holdings(&mut out, &member.assigned);
    put_holdings(&mut out, &member.revoking);
    put_partitions(&mut out, &member.target);
    put_option(&mut out, member.classic.as_ref(), put_classic);
    out.freeze()
}

fn read_member(row: &Bytes) -> Result<Member, CodecError> {
    let mut reader = Reader::new(row.clone());
    reader.version(VERSION, "a member")?;
    let text = |reader: &mut Reader, what| reader.option(what, |r, what| r.text(what));
    let member = Member {
        epoch: reader.i32("an epoch")?,
        previous_epoch: reader.i32("an epoch")?,
        state: read_state(&mut reader)?,
        rebalance_timeout_ms: reader.i32("a timeout")?,
        instance: text(&mut reader, "an instance id")?,
        rack: text(&mut reader, "a rack")?,
        regex: text(&mut reader, "a regular expression")?,
        assignor: text(&mut reader, "an assignor")?,
        client_id: reader.text("a client id")?,
        client_host: reader.text("a client host")?,
        topics: reader.list("topics", |r| r.text("a topic"))?,
        assigned: read_holdings(&mut reader)?,
        revoking: read_holdings(&mut reader)?,
        target: read_partitions(&mut reader)?,
        classic: reader.option("a classic side", |r, _| read_classic(r))?,
    };
    reader.finish()?;
    Ok(member)
}

fn read_state(reader: &mut Reader) -> Result<MemberState, CodecError> {
    let at = reader.at();
    match reader.u8("a member's state")? {
        0 => Ok(MemberState::Stable),
        1 => Ok(MemberState::Unrevoked),
        2 => Ok(MemberState::Unreleased),
        found => Err(CodecError::Value { at, what: "a member's state", found: found.into() }),
    }
}

fn put_holdings(out: &mut BytesMut, holdings: &Holdings) {
    put_count(out, holdings.len());
    for (topic, partitions) in holdings {
        out.put_slice(topic.as_bytes());
        put_count(out, partitions.len());
        for (partition, since) in partitions {
            out.put_u32(partition.0);
            out.put_i32(*since);
        }
    }
}

fn read_holdings(reader: &mut Reader) -> Result<Holdings, CodecError> {
    reader.list("holdings", |r| {
        let topic = r.uuid("a topic id")?;
        Ok((topic, r.list("partitions", |r| Ok((PartitionId(r.u32("a partition")?), r.i32("an epoch")?)))?))
    })
}

fn put_partitions(out: &mut BytesMut, partitions: &Partitions) {
    put_count(out, partitions.len());
    for (topic, partitions) in partitions {
        out.put_slice(topic.as_bytes());
        put_count(out, partitions.len());
        partitions.iter().for_each(|partition| out.put_u32(partition.0));
    }
}

fn read_partitions(reader: &mut Reader) -> Result<Partitions, CodecError> {
    reader.list("a target", |r| {
        let topic = r.uuid("a topic id")?;
        Ok((topic, r.list("partitions", |r| Ok(PartitionId(r.u32("a partition")?)))?))
    })
}

fn put_classic(out: &mut BytesMut, classic: &Classic) {
    out.put_i32(classic.session_timeout_ms);
    put_count(out, classic.protocols.len());
    for (name, metadata) in &classic.protocols {
        put_text(out, name);
        put_bytes(out, metadata);
    }
}

fn read_classic(reader: &mut Reader) -> Result<Classic, CodecError> {
    Ok(Classic {
        session_timeout_ms: reader.i32("a timeout")?,
        protocols: reader.list("protocols", |r| Ok((r.text("a protocol")?, r.own_bytes("metadata")?)))?,
    })
}

//! Subscriptions as bytes: the entries about them, and their part of the state.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};

use super::super::entry::{Entry, GroupKept, MovedPosition, PositionsMoved};
use super::super::ids::{PartitionId, Timestamp};
use super::super::subscription::{GroupKind, Kept, Position, Subscription};
use super::CodecError;
use super::fields::{Reader, put_bytes, put_count, put_option, put_text};

pub(super) fn put_positions_moved(out: &mut BytesMut, moved: &PositionsMoved) {
    put_text(out, &moved.group);
    out.put_i64(moved.at.0);
    put_count(out, moved.positions.len());
    let some_expire = moved.some_expire();
    for position in &moved.positions {
        put_place(out, &position.topic, position.partition);
        out.put_i64(position.offset);
        out.put_i32(position.leader_epoch);
        put_text(out, &position.metadata);
        if some_expire {
            put_option(out, position.expires.map(|at| at.0), BytesMut::put_i64);
        }
    }
}

/// Without `some_expire` the positions tell no time to be forgotten at.
pub(super) fn read_positions_moved(r: &mut Reader, some_expire: bool) -> Result<PositionsMoved, CodecError> {
    Ok(PositionsMoved {
        group: r.text("a group")?,
        at: time(r)?,
        positions: r.list("positions", |r| {
            let (topic, partition) = read_place(r)?;
            let (offset, leader_epoch) = (r.i64("a position")?, r.i32("a leader epoch")?);
            let metadata = r.text("metadata")?;
            let expires = if some_expire { read_expires(r)? } else { None };
            Ok(MovedPosition { topic, partition, offset, leader_epoch, metadata, expires })
        })?,
    })
}

pub(super) fn put_positions_forgotten(out: &mut BytesMut, group: &str, positions: &[(String, PartitionId)]) {
    put_text(out, group);
    put_count(out, positions.len());
    for (topic, partition) in positions {
        put_place(out, topic, *partition);
    }
}

pub(super) fn read_positions_forgotten(r: &mut Reader) -> Result<Entry, CodecError> {
    Ok(Entry::PositionsForgotten { group: r.text("a group")?, positions: r.list("positions", read_place)? })
}

pub(super) fn put_group_kept(out: &mut BytesMut, kept: &GroupKept) {
    put_text(out, &kept.group);
    out.put_u8(kind_number(kept.kind));
    out.put_i64(kept.at.0);
    put_bytes(out, &kept.head);
    put_count(out, kept.members.len());
    for (member, row) in &kept.members {
        put_text(out, member);
        put_option(out, row.as_ref(), |out, row| put_bytes(out, row));
    }
}

pub(super) fn read_group_kept(r: &mut Reader) -> Result<GroupKept, CodecError> {
    Ok(GroupKept {
        group: r.text("a group")?,
        kind: read_kind(r)?,
        at: time(r)?,
        head: r.own_bytes("a group")?,
        members: r.list("members", |r| Ok((r.text("a member")?, r.option("a member", Reader::own_bytes)?)))?,
    })
}

/// Positions that `may_expire` tell whether they do.
pub(super) fn put_subscription(out: &mut Vec<u8>, group: &str, subscription: &Subscription, may_expire: bool) {
    put_text(out, group);
    put_option(out, subscription.kept.as_ref(), put_kept);
    put_count(out, subscription.num_positions as usize);
    for (topic, partition, position) in subscription.positions() {
        put_place(out, topic, partition);
        out.put_i64(position.offset);
        out.put_i32(position.leader_epoch);
        put_text(out, &position.metadata);
        out.put_i64(position.at.0);
        if may_expire {
            put_option(out, position.expires.map(|at| at.0), Vec::put_i64);
        }
    }
}

/// See [`put_subscription`].
pub(super) fn read_subscription(r: &mut Reader, may_expire: bool) -> Result<(String, Subscription), CodecError> {
    let group = r.text("a group")?;
    let mut subscription = Subscription { kept: r.option("a group", |r, _| read_kept(r))?, ..Subscription::default() };
    let positions: Vec<_> = r.list("positions", |r| Ok((read_place(r)?, read_position(r, may_expire)?)))?;
    for ((topic, partition), position) in positions {
        subscription.put(&topic, partition, position);
    }
    Ok((group, subscription))
}

fn read_position(r: &mut Reader, may_expire: bool) -> Result<Position, CodecError> {
    Ok(Position {
        offset: r.i64("a position")?,
        leader_epoch: r.i32("a leader epoch")?,
        metadata: r.text("metadata")?,
        at: time(r)?,
        expires: if may_expire { read_expires(r)? } else { None },
    })
}

fn read_expires(r: &mut Reader) -> Result<Option<Timestamp>, CodecError> {
    Ok(r.option("a time", Reader::i64)?.map(Timestamp))
}

fn put_kept(out: &mut Vec<u8>, kept: &Kept) {
    out.put_u8(kind_number(kept.kind));
    out.put_i64(kept.at.0);
    put_bytes(out, &kept.head);
    put_count(out, kept.members.len());
    for (member, row) in &kept.members {
        put_text(out, member);
        put_bytes(out, row);
    }
}

fn read_kept(r: &mut Reader) -> Result<Kept, CodecError> {
    let (kind, at, head) = (read_kind(r)?, time(r)?, r.own_bytes("a group")?);
    let members: BTreeMap<String, Bytes> =
        r.list("members", |r| Ok((r.text("a member")?, r.own_bytes("a member")?)))?;
    Ok(Kept { kind, at, head, members })
}

fn put_place(out: &mut impl BufMut, topic: &str, partition: PartitionId) {
    put_text(out, topic);
    out.put_u32(partition.0);
}

fn read_place(r: &mut Reader) -> Result<(String, PartitionId), CodecError> {
    Ok((r.text("a topic")?, PartitionId(r.u32("a partition")?)))
}

fn kind_number(kind: GroupKind) -> u8 {
    match kind {
        GroupKind::Classic => 1,
        GroupKind::Consumer => 2,
    }
}

fn read_kind(r: &mut Reader) -> Result<GroupKind, CodecError> {
    let at = r.at();
    match r.u8("a kind of group")? {
        1 => Ok(GroupKind::Classic),
        2 => Ok(GroupKind::Consumer),
        found => Err(CodecError::Value { at, what: "a kind of group", found: found.into() }),
    }
}

fn time(r: &mut Reader) -> Result<Timestamp, CodecError> {
    r.i64("a time").map(Timestamp)
}

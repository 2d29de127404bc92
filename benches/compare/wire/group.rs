//! Requests and answers of consumer groups.

use super::answer::{i16_at, i32_at, string_at};
use super::buffer::Buffer;
use super::request::request;
use crate::Fault;

/// A member in a generation.
pub struct Membership<'a> {
    pub group: &'a str,
    pub generation: i32,
    pub member: &'a str,
}

/// The answer to a JoinGroup.
pub struct Joined {
    pub code: i16,
    pub generation: i32,
    pub leads: bool,
    pub member: String,
    /// Told to the leader alone.
    pub members: Vec<String>,
}

const SESSION_MS: i32 = 30_000;
const REBALANCE_MS: i32 = 30_000;

/// FindCoordinator v0.
pub fn find_coordinator(group: &str) -> Vec<u8> {
    request(10, 0, |b| {
        b.string(group);
    })
}

/// FindCoordinator v0: the error code.
pub fn found_coordinator(answer: &[u8]) -> Result<i16, Fault> {
    i16_at(answer, 4)
}

/// OffsetCommit v2 of one partition, by nobody in particular.
pub fn offset_commit(group: &str, topic: &str, partition: i32, offset: i64) -> Vec<u8> {
    request(8, 2, |b| {
        b.string(group).i32(-1).string("").i64(-1);
        b.i32(1).string(topic).i32(1).i32(partition).i64(offset).string("");
    })
}

/// OffsetCommit v2: the partition's error code. Before it: correlation, number of topics, name, number of partitions,
/// partition.
pub fn committed(answer: &[u8], topic: &str) -> Result<i16, Fault> {
    i16_at(answer, 4 + 4 + 2 + topic.len() + 4 + 4)
}

/// JoinGroup v2: a version that hands out a member id at once.
pub fn join_group(group: &str, member: &str) -> Vec<u8> {
    request(11, 2, |b| {
        b.string(group).i32(SESSION_MS).i32(REBALANCE_MS).string(member).string("consumer");
        b.i32(1).string("range").bytes(&subscription());
    })
}

/// What consumers tell: version 0, one topic, no user data.
fn subscription() -> Vec<u8> {
    let mut buffer = Buffer::default();
    buffer.i16(0).i32(1).string("grouped").i32(-1);
    buffer.0
}

/// JoinGroup v2. Before the code: correlation and throttle time.
pub fn joined(answer: &[u8]) -> Result<Joined, Fault> {
    let (code, generation) = (i16_at(answer, 8)?, i32_at(answer, 10)?);
    let mut at = 14;
    let _protocol = string_at(answer, &mut at)?;
    let (leader, member) = (string_at(answer, &mut at)?, string_at(answer, &mut at)?);
    let num_members = i32_at(answer, at)?;
    at += 4;
    let mut members = Vec::new();
    for _ in 0..num_members {
        members.push(string_at(answer, &mut at)?);
        at += 4 + i32_at(answer, at)?.max(0) as usize;
    }
    Ok(Joined { code, generation, leads: leader == member, member, members })
}

/// SyncGroup v1; the leader gives every member the same assignment.
pub fn sync_group(of: &Membership<'_>, members: &[String], assignment: &[u8]) -> Vec<u8> {
    request(14, 1, |b| {
        b.string(of.group).i32(of.generation).string(of.member).i32(members.len() as i32);
        for member in members {
            b.string(member).bytes(assignment);
        }
    })
}

/// SyncGroup v1: the code and the assignment. Before them: correlation and throttle time.
pub fn synced(answer: &[u8]) -> Result<(i16, Vec<u8>), Fault> {
    let length = i32_at(answer, 10)?.max(0) as usize;
    let own = answer.get(14..14 + length).ok_or("a SyncGroup answer ends too early")?;
    Ok((i16_at(answer, 8)?, own.to_vec()))
}

/// Heartbeat v1.
pub fn heartbeat(group: &str, generation: i32, member: &str) -> Vec<u8> {
    request(12, 1, |b| {
        b.string(group).i32(generation).string(member);
    })
}

/// The code of an answer that starts with correlation and throttle time.
pub fn code(answer: &[u8]) -> Result<i16, Fault> {
    i16_at(answer, 8)
}

//! Answers to a group's requests.

use bytes::Bytes;

use super::error::GroupError;

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Join(Result<Joined, JoinRefused>),
    Sync(Result<Synced, GroupError>),
    Heartbeat(Result<(), GroupError>),
    Leave(Vec<LeftMember>),
}

/// A member of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    pub member_id: String,
    pub generation: i32,
    pub protocol_type: Option<String>,
    pub protocol: Option<String>,
    pub leader: String,
    /// Everybody, for the leader; nobody, for the others.
    pub members: Vec<JoinedMember>,
    /// The leader need not assign anything: what was assigned stands.
    pub skip_assignment: bool,
}

/// What the leader is told of each member.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedMember {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub metadata: Bytes,
}

/// A refused join, with the id that the client goes on with, if any.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinRefused {
    pub error: GroupError,
    pub member_id: String,
}

/// A member's assignment, as its leader gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Synced {
    pub protocol_type: Option<String>,
    pub protocol: Option<String>,
    pub assignment: Bytes,
}

/// What came of one member's leaving.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftMember {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub result: Result<(), GroupError>,
}

//! The classic protocol: members join, the leader among them assigns, everybody fetches its part. As Kafka's coordinator
//! does it, but for what is said below.
//!
//! ```text
//! Empty --join--> Preparing --all joined, or time is up--> Completing --the leader syncs--> Stable
//!   ^                |  ^                                      |                              |
//!   +--nobody left---+  +------- a member joins, leaves or expires, or does not sync ---------+
//! ```
//!
//! A group that is not there (Kafka's Dead) has no machine. Unlike Kafka's, a generation that was ever told is never told
//! of other members, not even after a crash; a member whose connection died while it waited is given its session's time,
//! not more; and what was assigned last is known until a new assignment comes.

mod admit;
mod alarm;
mod crossing;
mod describe;
mod due;
mod join;
mod kept;
mod leave;
mod member;
mod pending;
mod phase;
mod protocols;
mod rebalance;
mod replace;
mod subscribed;
mod sync;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::BTreeMap;

use bytes::Bytes;

use self::alarm::Alarm;
use self::kept::Head;
use self::member::Member;
use self::pending::Pending;
use self::phase::Phase;
use self::protocols::Protocols;
use self::turn::Turn;
use super::{Answer, Effect, GroupError, Input, Request};
use crate::model::Timestamp;

/// What all members of a group together may take, in bytes.
pub const GROUP_BYTES_MAX: usize = 64 << 20;

/// Ids given to clients that have not come back with them yet. One more pushes out the oldest.
pub const PENDING_MAX: usize = 10_000;

/// How long a member that nobody knows yet waits for its first generation.
const NEW_MEMBER_MS_MAX: i64 = 5 * 60 * 1000;

/// See the config reference.
#[derive(Clone, Copy, Debug)]
pub struct ClassicSettings {
    pub session_ms_min: i64,
    pub session_ms_max: i64,
    pub initial_delay_ms: i64,
    pub num_members_max: usize,
}

impl ClassicSettings {
    pub(super) fn check_session(&self, ms: i64) -> Result<(), GroupError> {
        let (min, max) = (self.session_ms_min, self.session_ms_max);
        if (min..=max).contains(&ms) { Ok(()) } else { Err(GroupError::SessionTimeout { ms, min, max }) }
    }
}

/// A group of the classic protocol.
#[derive(Debug)]
pub struct ClassicGroup {
    settings: ClassicSettings,
    phase: Phase,
    generation: i32,
    protocol_type: Option<String>,
    protocol: Option<String>,
    leader: Option<String>,
    members: BTreeMap<String, Member>,
    /// Member ids by instance.
    statics: BTreeMap<String, String>,
    protocols: Protocols,
    pending: Pending,
    /// Members that wait for the next generation.
    num_joining: usize,
    member_bytes: usize,
    alarm: Alarm,
    /// What was last kept.
    kept: Head,
    kept_members: BTreeMap<String, Bytes>,
}

impl ClassicGroup {
    /// A group without members.
    pub fn new(settings: ClassicSettings) -> ClassicGroup {
        ClassicGroup {
            settings,
            phase: Phase::Empty,
            generation: 0,
            protocol_type: None,
            protocol: None,
            leader: None,
            members: BTreeMap::new(),
            statics: BTreeMap::new(),
            protocols: Protocols::default(),
            pending: Pending::default(),
            num_joining: 0,
            member_bytes: 0,
            alarm: Alarm::default(),
            kept: Head::default(),
            kept_members: BTreeMap::new(),
        }
    }

    /// Takes what comes.
    pub fn handle(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        let turn = &mut Turn { now, effects };
        match input {
            Input::Asked { ticket, request: Request::Join(join) } => self.join(ticket, join, turn),
            Input::Asked { ticket, request: Request::Sync(sync) } => self.sync(ticket, sync, turn),
            Input::Asked { ticket, request: Request::Heartbeat(beat) } => {
                turn.answer(ticket, Answer::Heartbeat(self.heartbeat(&beat, turn.now)));
            }
            Input::Asked { ticket, request: Request::Leave(leaving) } => self.leave(ticket, &leaving, turn),
            Input::Gone(ticket) => self.forget(ticket, turn),
            Input::Due => self.due(turn),
        }
    }

    /// When [`Input::Due`] is wanted. It may turn out to be too early, as signs of life do not move it.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.alarm.at()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// True when it holds nothing that is not kept.
    pub fn is_at_rest(&self) -> bool {
        matches!(self.phase, Phase::Empty) && self.pending.is_empty()
    }

    pub fn num_members(&self) -> usize {
        self.members.len()
    }

    /// The generation that members were told of last.
    #[cfg(test)]
    pub(super) fn generation(&self) -> i32 {
        self.generation
    }

    pub fn num_pending(&self) -> usize {
        self.pending.len()
    }

    pub fn drop_oldest_pending(&mut self) {
        self.pending.drop_oldest();
    }

    /// A member under the id that its instance has now.
    fn check_member(&self, member: &str, instance: Option<&str>) -> Result<(), GroupError> {
        if let Some(instance) = instance {
            let current = self.statics.get(instance).ok_or_else(|| GroupError::unknown_member(member))?;
            if current != member {
                let (instance, member, current) = (instance.to_owned(), member.to_owned(), current.clone());
                return Err(GroupError::Fenced { instance, member, current });
            }
        }
        self.members.contains_key(member).then_some(()).ok_or_else(|| GroupError::unknown_member(member))
    }

    fn check_generation(&self, given: i32) -> Result<(), GroupError> {
        let current = self.generation;
        if given == current { Ok(()) } else { Err(GroupError::IllegalGeneration { given, current }) }
    }

    /// A member known to be there.
    fn member_mut(&mut self, id: &str) -> &mut Member {
        self.members.get_mut(id).unwrap_or_else(|| panic!("member {id:?} is expected in the group"))
    }

    fn is_leader(&self, id: &str) -> bool {
        self.leader.as_deref() == Some(id)
    }

    /// Gives a member its whole session's time from now on.
    fn revive(&mut self, id: &str, now: Timestamp) {
        let member = self.member_mut(id);
        let until = Timestamp(now.0 + member.session_ms);
        member.expires = Some(until);
        self.alarm.by(until);
    }

    /// How long the slowest member may take to join again.
    fn rebalance_ms(&self) -> i64 {
        self.members.values().map(|member| member.rebalance_ms).max().unwrap_or(0)
    }
}

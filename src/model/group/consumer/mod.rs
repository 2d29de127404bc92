//! The consumer group protocol of KIP-848: the server shares the partitions out, and members reconcile one by one.
//!
//! ```text
//! epoch          raised when a member comes, goes or subscribes to something else, or its topics change
//! target epoch   the epoch for which the target was made: who is to have what in the end
//! member epoch   the target epoch that the member has reached
//! ```
//!
//! A partition has one owner at a time: a member gets what it should have only when nobody else holds it, and a member
//! holds what it had until it said that it let go, left, or was fenced. So rebalances stop nobody who is not concerned.
//!
//! Nothing here waits: each request is answered from what the group is now. [`ConsumerGroup::change`] says after it what
//! is to be kept; an answer leaves once that is durable. Members may speak the classic protocol too, see `classic`.

mod admit;
mod assignor;
mod bounds;
mod check;
mod classic;
mod commit;
mod crossing;
mod describe;
mod fault;
mod heartbeat;
mod kept;
mod leave;
mod member;
mod pattern;
mod reconcile;
mod renew;
mod settings;
mod target;
mod topics;

#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bytes::Bytes;
use uuid::Uuid;

use self::member::Deadlines;
use self::topics::Subscribed;
use super::super::ids::{PartitionId, Timestamp};
use super::classic::ClassicSettings;
use super::{Effect, Event};

pub use assignor::Assignor;
pub use describe::GroupState;
pub use fault::Fault;
pub use heartbeat::{Heartbeat, JOIN, LEAVE, Told};
pub use kept::Change;
pub use member::{Classic, Holdings, LEFT_FOR_A_WHILE, Member, MemberState, Partitions};
pub use pattern::Pattern;
pub use settings::{Migration, Settings};
pub use topics::{Topic, Topics};

/// What a group is told with each request.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub topics: &'a dyn Topics,
    pub settings: &'a Settings,
    /// For members of the classic protocol.
    pub classic: ClassicSettings,
}

/// A group whose members follow the consumer protocol.
#[derive(Clone, Debug, Default)]
pub struct ConsumerGroup {
    epoch: i32,
    target_epoch: i32,
    /// The topics for which the epoch stands, as a hash; none while the epoch was raised without a look at them.
    topics_hash: Option<u64>,
    members: BTreeMap<String, Member>,
    /// Static members by instance id.
    instances: BTreeMap<String, String>,
    /// What the members tell of themselves takes about so many bytes.
    bytes: usize,
    /// What any member holds.
    held: HashSet<(Uuid, PartitionId)>,
    subscribed: Subscribed,
    deadlines: BTreeMap<String, Deadlines>,
    /// Members that changed since they were last kept.
    dirty: BTreeSet<String>,
    kept_head: Bytes,
    /// What is yet to be told of.
    events: Vec<Event>,
}

impl ConsumerGroup {
    /// A group without members, whose next epoch is above that one.
    pub fn after(epoch: i32) -> ConsumerGroup {
        let mut group = ConsumerGroup { epoch, target_epoch: epoch, ..ConsumerGroup::default() };
        // So that a group that nobody joined keeps nothing.
        group.kept_head = group.encode_head();
        group
    }

    /// True when it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Sets a member. The only place where members change.
    fn put(&mut self, id: &str, member: Member) {
        let old = self.members.get(id);
        if old == Some(&member) {
            return;
        }
        if old.is_some() {
            self.release(id);
        }
        for (topic, partition) in member.held() {
            let free = self.held.insert((topic, partition));
            assert!(free, "partition {partition} of topic {topic} would have two owners, {id} the second");
        }
        if let Some(instance) = &member.instance {
            self.instances.insert(instance.clone(), id.to_owned());
        }
        self.bytes += member.size(id);
        self.members.insert(id.to_owned(), member);
        self.dirty.insert(id.to_owned());
    }

    fn remove(&mut self, id: &str) {
        self.release(id);
        self.members.remove(id);
        self.deadlines.remove(id);
        self.dirty.insert(id.to_owned());
    }

    /// `member`, a static one, goes on under another id.
    fn replace(&mut self, old: &str, new: &str, member: &Member) {
        self.remove(old);
        self.put(new, member.clone());
    }

    /// Frees what the member holds, and its instance id.
    fn release(&mut self, id: &str) {
        let Some(member) = self.members.get(id) else { return };
        self.bytes -= member.size(id);
        for partition in member.held() {
            self.held.remove(&partition);
        }
        if let Some(instance) = &member.instance {
            self.instances.remove(instance);
        }
    }

    fn start_timers(&mut self, settings: &Settings, now: Timestamp) {
        for (id, member) in &self.members {
            let heard_by = member.classic.as_ref().map_or_else(|| settings.session_end(now), |c| c.session_end(now));
            let lets_go = member.state == MemberState::Unrevoked && member.epoch != LEFT_FOR_A_WHILE;
            let revoked_by = (lets_go && member.classic.is_none()).then(|| member.rebalance_end(now));
            self.deadlines.insert(id.clone(), Deadlines { heard_by, revoked_by, ..Deadlines::default() });
        }
    }

    /// What the members say that speak the classic protocol.
    fn classic_sides(&self) -> impl Iterator<Item = &Classic> {
        self.members.values().filter_map(|member| member.classic.as_ref())
    }

    /// Has kept what changed, and told what happened.
    pub(super) fn keep(&mut self, effects: &mut Vec<Effect>) {
        self.tell(effects);
        if let Some(change) = self.change() {
            effects.push(Effect::Keep { head: change.head, members: change.members });
        }
    }

    pub(super) fn tell(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.events.drain(..).map(Effect::Event));
    }
}

//! Members that speak the classic protocol: their requests, answered at once from what the group is.
//!
//! ```text
//! Heartbeat   REBALANCE_IN_PROGRESS while the member has a step to take; then it has to join within its rebalance timeout
//! JoinGroup   the step: what it owns stands in its subscription, and its new epoch is its generation
//! SyncGroup   what it may read at that epoch, as a consumer's assignment
//! ```
//!
//! A cooperative member that has to let go of something stays at its epoch: it is told the smaller assignment, lets go,
//! and joins again by itself. One that gives up all it has before it joins (eager) is at once where it should be.

mod join;
mod leave;
mod sync;

use super::super::{Answer, GroupError, Input, Request, Ticket};
use super::fault::Fault;
use super::member::{Classic, Member};
use super::{Around, ConsumerGroup};
use crate::model::Timestamp;

impl ConsumerGroup {
    /// Takes what comes by the classic protocol, and the deadline.
    pub(in crate::model::group) fn handle(
        &mut self,
        input: Input,
        around: &Around<'_>,
        now: Timestamp,
    ) -> Option<(Ticket, Answer)> {
        match input {
            Input::Asked { ticket, request } => Some((ticket, self.answer(request, around, now))),
            // Nobody waits here.
            Input::Gone(_) => None,
            Input::Due => {
                self.expire(now);
                None
            }
        }
    }

    fn answer(&mut self, request: Request, around: &Around<'_>, now: Timestamp) -> Answer {
        match request {
            Request::Join(join) => Answer::Join(self.join(join, around, now)),
            Request::Sync(sync) => Answer::Sync(self.sync(&sync, around, now)),
            Request::Heartbeat(beat) => Answer::Heartbeat(self.classic_heartbeat(&beat, around, now)),
            Request::Leave(leaving) => Answer::Leave(self.leave_all(leaving)),
        }
    }

    /// The member with its classic side, under the id that its instance has now.
    fn classic_member(&self, id: &str, instance: Option<&str>) -> Result<(&Member, &Classic), GroupError> {
        if let Some(instance) = instance {
            self.static_member(instance, id)?;
        }
        let found = self.members.get(id).and_then(|member| Some((member, member.classic.as_ref()?)));
        found.ok_or_else(|| GroupError::unknown_member(id))
    }

    /// Whether it has to join again: for what it has to let go of, or for what it can get now.
    fn has_to_join(&self, member: &Member) -> bool {
        use super::MemberState::{Stable, Unreleased, Unrevoked};
        member.epoch < self.epoch
            || match member.state {
                Stable => false,
                Unrevoked => true,
                Unreleased => !self.waits_for_others(member),
            }
    }

    /// True while someone else holds what it should have.
    fn waits_for_others(&self, member: &Member) -> bool {
        let subscribed = member.target.iter().filter(|(topic, _)| self.subscribed.subscribes(member, topic));
        let mut wanted = subscribed.flat_map(|(topic, partitions)| partitions.iter().map(|p| (*topic, *p)));
        wanted.any(|at| self.held.contains(&at) && !member.held().any(|held| held == at))
    }

    /// Gives it its rebalance timeout to join again, unless that runs already.
    fn await_join(&mut self, id: &str, now: Timestamp) {
        let until = self.members[id].rebalance_end(now);
        self.deadlines.entry(id.to_owned()).or_default().joined_by.get_or_insert(until);
    }
}

fn check_generation(member: &Member, found: i32) -> Result<(), Fault> {
    let expected = member.epoch;
    if found == expected { Ok(()) } else { Err(Fault::Generation { found, expected }) }
}

//! Requests of the classic protocol to a group of this one: they find no member that speaks it.

use super::super::{Answer, Effect, GroupError, Input, JoinRefused, LeftMember, Request};
use super::ConsumerGroup;
use crate::model::Timestamp;

impl ConsumerGroup {
    /// Takes what comes by the classic protocol, and the deadline.
    pub fn handle(&mut self, input: Input, now: Timestamp, effects: &mut Vec<Effect>) {
        match input {
            Input::Asked { ticket, request } => effects.push(Effect::Reply { to: ticket, answer: refused(request) }),
            Input::Gone(_) => {}
            Input::Due => {
                for member in self.expire(now) {
                    tracing::debug!(member, "member of a consumer group is fenced: it was not heard of in time");
                }
                self.keep(effects);
            }
        }
    }

    /// Has kept what changed.
    pub fn keep(&mut self, effects: &mut Vec<Effect>) {
        if let Some(change) = self.change() {
            effects.push(Effect::Keep { head: change.head, members: change.members });
        }
    }
}

fn refused(request: Request) -> Answer {
    match request {
        Request::Join(join) => {
            Answer::Join(Err(JoinRefused { error: GroupError::InconsistentProtocol, member_id: join.member_id }))
        }
        Request::Sync(sync) => Answer::Sync(Err(GroupError::unknown_member(&sync.member_id))),
        Request::Heartbeat(beat) => Answer::Heartbeat(Err(GroupError::unknown_member(&beat.member_id))),
        Request::Leave(leaving) => Answer::Leave(
            leaving
                .into_iter()
                .map(|left| LeftMember {
                    result: Err(GroupError::unknown_member(&left.member_id)),
                    member_id: left.member_id,
                    instance_id: left.instance_id,
                })
                .collect(),
        ),
    }
}

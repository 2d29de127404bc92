//! LeaveGroup: members that go, and those that operators remove.

use super::super::{Answer, GroupError, Leaving, LeftMember, Reason, Ticket};
use super::ClassicGroup;
use super::phase::Phase;
use super::turn::Turn;

impl ClassicGroup {
    pub(super) fn leave(&mut self, ticket: Ticket, leaving: &[Leaving], turn: &mut Turn<'_>) {
        let mut left = Vec::with_capacity(leaving.len());
        let mut gone = Vec::new();
        for one in leaving {
            let result = self.let_go(one, turn).map(|id| gone.push(id));
            left.push(LeftMember { member_id: one.member_id.clone(), instance_id: one.instance_id.clone(), result });
        }
        turn.answer(ticket, Answer::Leave(left));
        if !gone.is_empty() && !matches!(self.phase, Phase::Empty) {
            let client = leaving.iter().find_map(|one| one.reason.clone());
            self.rebalance(Reason::Left { members: gone, client }, turn);
        }
    }

    /// The id of the member that is out now.
    fn let_go(&mut self, leaving: &Leaving, turn: &mut Turn<'_>) -> Result<String, GroupError> {
        let (id, instance) = (leaving.member_id.as_str(), leaving.instance_id.as_deref());
        if self.pending.remove(id) {
            return Ok(id.to_owned());
        }
        let id = match (id, instance) {
            // An operator knows the instance and not its member.
            ("", Some(instance)) => self.statics.get(instance).cloned().unwrap_or_default(),
            _ => id.to_owned(),
        };
        self.check_member(&id, instance)?;
        self.remove_member(&id, turn);
        Ok(id)
    }
}

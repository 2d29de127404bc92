//! LeaveGroup: members of either protocol that go, or that operators remove.

use super::super::super::{GroupError, Leaving, LeftMember, Reason};
use super::super::ConsumerGroup;

impl ConsumerGroup {
    pub(super) fn leave_all(&mut self, leaving: Vec<Leaving>) -> Vec<LeftMember> {
        let client = leaving.iter().find_map(|one| one.reason.clone());
        let (mut left, mut members) = (Vec::with_capacity(leaving.len()), Vec::new());
        for one in leaving {
            let result = self.leaving_member(&one).map(|id| {
                if !members.contains(&id) {
                    members.push(id);
                }
            });
            left.push(LeftMember { member_id: one.member_id, instance_id: one.instance_id, result });
        }
        self.fence(members, |members| Reason::Left { members, client });
        left
    }

    fn leaving_member(&self, leaving: &Leaving) -> Result<String, GroupError> {
        let id = leaving.member_id.as_str();
        let known = || self.members.contains_key(id).then(|| id.to_owned());
        match &leaving.instance_id {
            None => known().ok_or_else(|| GroupError::unknown_member(id)),
            // An operator knows the instance and not its member.
            Some(instance) if id.is_empty() => {
                self.instances.get(instance).cloned().ok_or_else(|| GroupError::unknown_member(id))
            }
            Some(instance) => Ok(self.static_member(instance, id)?),
        }
    }
}

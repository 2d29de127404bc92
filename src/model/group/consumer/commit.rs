//! Who may move the group's positions, and who may ask for them as a member.

use super::super::Committer;
use super::ConsumerGroup;
use super::fault::Fault;
use super::member::Member;
use crate::model::ids::PartitionId;

impl ConsumerGroup {
    /// Whether `member` at `epoch` may move these positions. Who is no member may while there are none.
    ///
    /// A commit may have been sent before the member came to its present epoch. It still counts for partitions that the
    /// member has held since then, so that a member need not send again whenever another one joins.
    pub fn check_commit<'a>(
        &self,
        member: &str,
        epoch: i32,
        mut positions: impl Iterator<Item = (&'a str, PartitionId)>,
    ) -> Result<(), Fault> {
        if epoch < 0 && self.members.is_empty() {
            return Ok(());
        }
        let member = self.known(member)?;
        let held_since = |(topic, partition): (&str, PartitionId)| {
            let topic = self.subscribed.id(topic)?;
            member.holds_since(&topic, partition).filter(|since| *since <= epoch)
        };
        let sent_before = member.classic.is_none() && (0..member.epoch).contains(&epoch);
        match epoch == member.epoch || (sent_before && positions.all(|position| held_since(position).is_some())) {
            true => Ok(()),
            false => Err(other_epoch(epoch, member)),
        }
    }

    /// Members of this protocol speak of epochs: an older client would go by a generation that is none.
    pub fn check_client(&self, committer: &Committer<'_>) -> Result<(), Fault> {
        let member = self.members.get(committer.member);
        let speaks_so = committer.knows_epochs || member.is_none_or(|member| member.classic.is_some());
        if speaks_so { Ok(()) } else { Err(Fault::OldCommit) }
    }

    /// Checks that who asks for positions as a member is one. Who names no member may ask.
    pub fn check_fetch(&self, member: Option<&str>, epoch: i32) -> Result<(), Fault> {
        let member = match member {
            None | Some("") if epoch < 0 => return Ok(()),
            member => member.unwrap_or(""),
        };
        let found = self.known(member)?;
        if epoch == found.epoch { Ok(()) } else { Err(other_epoch(epoch, found)) }
    }

    fn known(&self, member: &str) -> Result<&Member, Fault> {
        self.members.get(member).ok_or_else(|| Fault::UnknownMember { member: member.to_owned() })
    }
}

fn other_epoch(found: i32, member: &Member) -> Fault {
    match member.classic {
        Some(_) => Fault::Generation { found, expected: member.epoch },
        None => Fault::StaleEpoch { found, expected: member.epoch },
    }
}

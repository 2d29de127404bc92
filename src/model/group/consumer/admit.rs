//! Who speaks: a heartbeat's member is found, made, or takes the place of the static member that left before it.

use super::ConsumerGroup;
use super::fault::Fault;
use super::heartbeat::{Heartbeat, JOIN};
use super::member::{Holdings, LEFT_FOR_A_WHILE, Member, Partitions};
use super::settings::Settings;

/// The member as it is before its heartbeat is taken.
pub(super) struct Admitted {
    pub(super) member: Member,
    /// The id of the static member whose place it takes.
    pub(super) replaces: Option<String>,
}

impl Admitted {
    pub(super) fn member(member: Member) -> Admitted {
        Admitted { member, replaces: None }
    }

    /// It takes the place of the static member under that id, with all that is in it.
    pub(super) fn in_place_of(id: &str, member: &Member) -> Admitted {
        Admitted { member: Member { epoch: 0, previous_epoch: 0, ..member.clone() }, replaces: Some(id.to_owned()) }
    }
}

impl ConsumerGroup {
    pub(super) fn admit(&self, beat: &Heartbeat, settings: &Settings) -> Result<Admitted, Fault> {
        self.check_place(&beat.member, settings)?;
        match &beat.instance {
            None => self.admit_dynamic(beat),
            Some(instance) => self.admit_static(beat, instance),
        }
    }

    pub(super) fn check_place(&self, member: &str, settings: &Settings) -> Result<(), Fault> {
        let max = settings.members_max;
        let has_place = self.members.len() < max || self.members.contains_key(member);
        if has_place { Ok(()) } else { Err(Fault::Full { max }) }
    }

    fn admit_dynamic(&self, beat: &Heartbeat) -> Result<Admitted, Fault> {
        match self.members.get(&beat.member) {
            Some(member) => {
                check_epoch(member, beat)?;
                Ok(Admitted::member(member.clone()))
            }
            None if beat.epoch == JOIN => Ok(Admitted::member(Member::new())),
            None => Err(Fault::UnknownMember { member: beat.member.clone() }),
        }
    }

    fn admit_static(&self, beat: &Heartbeat, instance: &str) -> Result<Admitted, Fault> {
        let found = self.instances.get(instance);
        if beat.epoch != JOIN {
            let id = self.static_member(instance, &beat.member)?;
            check_epoch(&self.members[&id], beat)?;
            return Ok(Admitted::member(self.members[&id].clone()));
        }
        let Some(id) = found else { return self.admit_dynamic(beat) };
        let member = &self.members[id];
        if member.epoch != LEFT_FOR_A_WHILE && member.classic.is_none() {
            return Err(Fault::UnreleasedInstance {
                member: beat.member.clone(),
                instance: instance.to_owned(),
                by: id.clone(),
            });
        }
        Ok(Admitted::in_place_of(id, member))
    }

    /// The id of the static member, which must be `member`'s own.
    pub(super) fn static_member(&self, instance: &str, member: &str) -> Result<String, Fault> {
        match self.instances.get(instance) {
            None => Err(Fault::UnknownInstance { instance: instance.to_owned() }),
            Some(id) if id != member => {
                Err(Fault::FencedInstance { member: member.to_owned(), instance: instance.to_owned(), by: id.clone() })
            }
            Some(id) => Ok(id.clone()),
        }
    }
}

/// A member that lost an answer comes with the epoch before, and is taken if it holds no more than it should.
fn check_epoch(member: &Member, beat: &Heartbeat) -> Result<(), Fault> {
    let lost_an_answer = beat.epoch == member.previous_epoch
        && beat.owned.as_ref().is_some_and(|owned| holds_all(&member.assigned, owned));
    match beat.epoch {
        JOIN => Ok(()),
        epoch if epoch == member.epoch || (epoch < member.epoch && lost_an_answer) => Ok(()),
        found => Err(Fault::FencedEpoch { found, expected: member.epoch }),
    }
}

fn holds_all(holdings: &Holdings, owned: &Partitions) -> bool {
    owned.iter().all(|(topic, partitions)| {
        holdings.get(topic).is_some_and(|held| partitions.iter().all(|partition| held.contains_key(partition)))
    })
}

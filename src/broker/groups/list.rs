//! The groups as operators see them, whether they run or not.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::{Broker, Gated};
use super::running::{Running, Slot};
use crate::model::group::{Description, Group, GroupError, Summary};
use crate::model::{GroupKind, Kept, Lsn};

/// A group in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    pub group: String,
    pub kind: GroupKind,
    pub summary: Summary,
}

impl Broker {
    /// All groups, by name: those that run, and those at rest, which are in the state alone.
    pub fn list_groups(&self) -> Gated<Vec<ListedGroup>> {
        let slots = self.groups.slots.read().expect("no code panics while it holds the groups");
        let running: BTreeMap<Arc<str>, Arc<Slot>> =
            slots.iter().map(|(name, slot)| (name.clone(), slot.clone())).collect();
        drop(slots);
        let mut listed = BTreeMap::new();
        let mut durable_at = Lsn(0);
        for (name, slot) in &running {
            slot.with(|running| {
                durable_at = durable_at.max(running.kept_at);
                if !running.is_gone() {
                    listed.insert(name.to_string(), row(name.to_string(), &running.machine));
                }
            });
        }
        // What a group that runs keeps is of no use here, and may be large.
        let resting = self.core.look(|state| {
            let resting = state.subscriptions().filter(|(group, _)| !listed.contains_key(*group));
            resting.map(|(group, s)| (group.to_owned(), s.kept().cloned())).collect::<Vec<(String, Option<Kept>)>>()
        });
        for (group, kept) in resting.value {
            let machine = self.groups.machine_of(&group, kept.as_ref(), self.group_time());
            listed.insert(group.clone(), row(group, &machine));
        }
        Gated { value: listed.into_values().collect(), durable_at: resting.durable_at.max(durable_at) }
    }

    /// A group in full.
    pub fn describe_group(&self, group: &str) -> Gated<Result<(GroupKind, Description), GroupError>> {
        self.groups.answer(self, group, |Running { machine, .. }| {
            let value = match self.knows_group(group, machine) {
                true => Ok((machine.kind(), machine.describe(&self.groups.settings))),
                false => Err(GroupError::unknown_group(group)),
            };
            Gated { value, durable_at: self.core.next() }
        })
    }
}

fn row(group: String, machine: &Group) -> ListedGroup {
    ListedGroup { group, kind: machine.kind(), summary: machine.summary() }
}

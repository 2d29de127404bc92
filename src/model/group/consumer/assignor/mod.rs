//! Assignors: who of the members gets which partition. They are sticky: what a member was to have it keeps if it can.
//!
//! The same question has the same answer, whatever the order in which members came.

mod range;
mod uniform;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::member::Partitions;

/// The assignors that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignor {
    /// As many partitions for each member, over all topics.
    Uniform,
    /// Of each topic a run of partitions for each member; of topics with as many partitions the same ones.
    Range,
}

/// What is to be shared out.
pub struct Wanted<'a> {
    /// By member id.
    pub applicants: Vec<Applicant<'a>>,
    /// The sets of topics that members subscribe to.
    pub sets: Vec<BTreeSet<Uuid>>,
    /// How many partitions each of these topics has.
    pub partitions: BTreeMap<Uuid, u32>,
}

/// A member that asks for partitions.
pub struct Applicant<'a> {
    /// Index of its set of topics.
    pub topics: usize,
    /// What it was to have so far.
    pub had: &'a Partitions,
}

impl Assignor {
    /// Its name in requests and settings.
    pub fn name(self) -> &'static str {
        match self {
            Assignor::Uniform => "uniform",
            Assignor::Range => "range",
        }
    }

    /// The assignor of that name.
    pub fn named(name: &str) -> Option<Assignor> {
        [Assignor::Uniform, Assignor::Range].into_iter().find(|assignor| assignor.name() == name)
    }

    /// What each applicant is to have, in their order.
    pub(super) fn assign(self, wanted: &Wanted<'_>) -> Vec<Partitions> {
        match self {
            Assignor::Uniform => uniform::assign(wanted),
            Assignor::Range => range::assign(wanted),
        }
    }
}

impl Wanted<'_> {
    /// Topics by who subscribes to them: the indices of the applicants. Topics alike in that share one entry.
    fn classes(&self) -> BTreeMap<Vec<usize>, Vec<Uuid>> {
        let mut of_set = vec![Vec::new(); self.sets.len()];
        for (index, applicant) in self.applicants.iter().enumerate() {
            of_set[applicant.topics].push(index);
        }
        let mut subscribers = BTreeMap::<Uuid, Vec<usize>>::new();
        for (set, members) in self.sets.iter().zip(&of_set) {
            for topic in set {
                subscribers.entry(*topic).or_default().extend(members);
            }
        }
        let mut classes = BTreeMap::<Vec<usize>, Vec<Uuid>>::new();
        for (topic, mut members) in subscribers {
            members.sort_unstable();
            classes.entry(members).or_default().push(topic);
        }
        classes
    }
}

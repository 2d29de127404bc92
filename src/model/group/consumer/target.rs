//! The target: who is to have which partition at the group's epoch.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::ConsumerGroup;
use super::assignor::{Applicant, Assignor, Wanted};
use super::member::Member;
use super::settings::Settings;

impl ConsumerGroup {
    /// Makes the target of the group's epoch, if it is not made yet.
    pub(super) fn update_target(&mut self, settings: &Settings) {
        if self.target_epoch >= self.epoch {
            return;
        }
        let targets = {
            let wanted = self.wanted();
            self.assignor(settings).assign(&wanted)
        };
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for (id, target) in ids.iter().zip(targets) {
            let member = &self.members[id];
            if member.target != target {
                self.put(id, Member { target, ..member.clone() });
            }
        }
        self.target_epoch = self.epoch;
    }

    /// The assignor that most members ask for, of those that are on.
    pub(super) fn assignor(&self, settings: &Settings) -> Assignor {
        let mut votes = BTreeMap::<&str, usize>::new();
        for name in self.members.values().filter_map(|member| member.assignor.as_deref()) {
            *votes.entry(name).or_default() += 1;
        }
        let known = settings.assignors.iter().filter(|assignor| votes.contains_key(assignor.name()));
        // The earlier one of two with as many votes.
        let preferred = known.rev().max_by_key(|assignor| votes[assignor.name()]);
        preferred.copied().unwrap_or(settings.default_assignor())
    }

    fn wanted(&self) -> Wanted<'_> {
        // Members mostly subscribe to the same: the same topics are looked up once.
        let mut known = BTreeMap::<(&BTreeSet<String>, Option<&str>), BTreeSet<Uuid>>::new();
        for member in self.members.values() {
            let key = (&member.topics, member.pattern());
            known.entry(key).or_insert_with(|| self.subscribed.topics_of(member));
        }
        let sets: Vec<BTreeSet<Uuid>> = known.values().cloned().collect();
        let index: BTreeMap<_, usize> = known.into_keys().enumerate().map(|(index, key)| (key, index)).collect();
        let applicants = self
            .members
            .values()
            .map(|member| Applicant { topics: index[&(&member.topics, member.pattern())], had: &member.target });
        let partitions = sets.iter().flatten().map(|topic| (*topic, self.subscribed.partitions(topic))).collect();
        Wanted { applicants: applicants.collect(), sets, partitions }
    }
}

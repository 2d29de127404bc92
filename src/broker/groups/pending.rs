//! Ids that were given to clients and not used yet, over all groups: a flood of made-up groups must not take more room
//! than one of made-up members.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::super::Broker;

/// Most of them over all groups, each some hundred bytes. One more pushes out the oldest of the group that has most.
const PENDING_TOTAL_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct PendingIds(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    total: usize,
    by_group: BTreeSet<(usize, Arc<str>)>,
}

impl PendingIds {
    /// A group has another number of them.
    pub fn change(&self, group: &Arc<str>, before: usize, after: usize) {
        if before == after {
            return;
        }
        let mut counted = self.0.lock().expect("no code panics while it counts pending ids");
        counted.total = counted.total + after - before;
        counted.by_group.remove(&(before, group.clone()));
        if after > 0 {
            counted.by_group.insert((after, group.clone()));
        }
    }

    /// The group with most of them, while there are more than `max`.
    fn too_many_in(&self, max: usize) -> Option<Arc<str>> {
        let counted = self.0.lock().expect("no code panics while it counts pending ids");
        let (_, most) = counted.by_group.last()?;
        (counted.total > max).then(|| most.clone())
    }
}

impl Broker {
    /// Pushes out what is too much. Not under a group's lock, for it takes another one's.
    pub(super) fn bound_pending(&self) {
        while let Some(group) = self.groups.pending.too_many_in(PENDING_TOTAL_MAX) {
            let Some(slot) = self.groups.running(&group) else { return };
            slot.with(|running| {
                if !running.is_gone() {
                    running.drop_oldest_pending();
                    self.groups.finish(self, &slot, running);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_with_most_gives_way_once_there_are_too_many() {
        let pending = PendingIds::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        pending.change(&a, 0, 3);
        pending.change(&b, 0, 2);
        assert_eq!(pending.too_many_in(5), None);
        assert_eq!(pending.too_many_in(4), Some(a.clone()));
        pending.change(&a, 3, 1);
        assert_eq!(pending.too_many_in(2), Some(b.clone()));
        pending.change(&b, 2, 0);
        pending.change(&a, 1, 0);
        assert_eq!(pending.too_many_in(0), None);
    }
}

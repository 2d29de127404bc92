//! When each group's clock has to be looked at, the soonest first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::model::Timestamp;

#[derive(Default)]
pub(super) struct Deadlines {
    by_time: Mutex<BTreeSet<(Timestamp, Arc<str>)>>,
    sooner: Notify,
}

impl Deadlines {
    /// A group's deadline moves.
    pub fn change(&self, group: &Arc<str>, before: Option<Timestamp>, after: Option<Timestamp>) {
        if before == after {
            return;
        }
        let mut by_time = self.lock();
        if let Some(before) = before {
            by_time.remove(&(before, group.clone()));
        }
        let Some(after) = after else { return };
        let sooner = by_time.first().is_none_or(|(first, _)| after < *first);
        by_time.insert((after, group.clone()));
        drop(by_time);
        if sooner {
            self.sooner.notify_one();
        }
    }

    /// The soonest of all.
    pub fn next(&self) -> Option<Timestamp> {
        self.lock().first().map(|(at, _)| *at)
    }

    /// A group whose deadline has come. It has none any more.
    pub fn take_due(&self, now: Timestamp) -> Option<Arc<str>> {
        let mut by_time = self.lock();
        by_time.first().is_some_and(|(at, _)| *at <= now).then(|| by_time.pop_first()).flatten().map(|(_, group)| group)
    }

    /// Completes when there is a sooner one than there was.
    pub async fn moved(&self) {
        self.sooner.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(Timestamp, Arc<str>)>> {
        self.by_time.lock().expect("no code panics while it holds the deadlines")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soonest_comes_first_and_each_group_has_one() {
        let deadlines = Deadlines::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        deadlines.change(&a, None, Some(Timestamp(5)));
        deadlines.change(&b, None, Some(Timestamp(3)));
        deadlines.change(&a, Some(Timestamp(5)), Some(Timestamp(2)));
        assert_eq!(deadlines.next(), Some(Timestamp(2)));
        assert_eq!(deadlines.take_due(Timestamp(1)), None);
        assert_eq!(deadlines.take_due(Timestamp(9)), Some(a));
        assert_eq!(deadlines.take_due(Timestamp(9)), Some(b));
        assert_eq!(deadlines.take_due(Timestamp(9)), None);
    }
}

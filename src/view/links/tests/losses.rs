//! Records deleted from between others: the index is made of what is left, once.

use super::history::Shape;
use super::*;
use crate::disk::SplitMix;

/// An index of 24 commits in two partitions, stored.
fn stored() -> Fixture {
    let mut random = SplitMix::new(5);
    let mut history = History::new(2);
    (0..24).for_each(|_| history.commit(&mut random, Shape { keys: 60, values: 3, records_max: 40 }));
    let fixture = Fixture::new(history, "key", SMALL, 1 << 10);
    fixture.store();
    fixture
}

impl Fixture {
    fn store(&self) {
        self.catch_up().unwrap();
        self.links.trim_below(&self.history);
        self.links.checkpoint_over(&self.history).unwrap();
    }

    /// Partition 1 loses the records of commits below `commit`; partition 0 keeps its own.
    fn lose_below(&mut self, commit: i64) {
        let start = self.history.end_of(1, commit);
        self.history.lose_records(1, start);
    }

    /// Opened again, it goes on with what is stored.
    fn is_kept(&mut self) -> bool {
        self.reopen().unwrap();
        self.links.indexed().0 == self.history.num_commits()
    }
}

#[test]
fn what_was_lost_between_others_makes_it_anew_once() {
    let mut fixture = stored();
    fixture.lose_below(9);
    assert!(matches!(fixture.links.advance_over(&fixture.history, 1).unwrap_err(), LinksError::Outdated));
    assert!(matches!(fixture.links.checkpoint_over(&fixture.history).unwrap_err(), LinksError::Outdated));
    assert!(!fixture.is_kept(), "it leads through what was deleted");
    fixture.store();
    assert!(fixture.is_kept(), "nothing was lost since");
    fixture.lose_below(11);
    assert!(!fixture.is_kept(), "more was lost");
}

#[test]
fn commits_that_are_dropped_after_a_loss_leave_it_as_it_is() {
    let mut fixture = stored();
    fixture.lose_below(9);
    assert!(!fixture.is_kept());
    fixture.store();
    for commit in 1..12 {
        fixture.history.drop_commits(commit);
        fixture.store();
        assert!(fixture.is_kept(), "commits below {commit} were dropped whole");
    }
}

#[test]
fn commits_that_are_dropped_before_they_are_indexed_count_as_indexed() {
    let mut fixture = stored();
    for _ in 0..3 {
        fixture.history.commit(&mut SplitMix::new(6), Shape { keys: 60, values: 3, records_max: 40 });
    }
    fixture.history.drop_commits(fixture.history.num_commits());
    fixture.store();
    fixture.check().unwrap();
    assert!(fixture.is_kept());
    fixture.history.commit(&mut SplitMix::new(7), Shape { keys: 60, values: 3, records_max: 40 });
    fixture.store();
    fixture.check().unwrap();
}

#[test]
fn a_process_that_ends_before_it_saw_a_loss_does_not_store_over_it() {
    let mut fixture = stored();
    fixture.history.commit(&mut SplitMix::new(6), Shape { keys: 60, values: 3, records_max: 40 });
    fixture.catch_up().unwrap();
    fixture.lose_below(9);
    fixture.links.trim_below(&fixture.history);
    assert!(matches!(fixture.links.checkpoint_over(&fixture.history).unwrap_err(), LinksError::Outdated));
    assert!(!fixture.is_kept());
}

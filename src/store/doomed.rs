//! Files that nothing needs any more, and when they may go.
//!
//! What a feed's history or a log begins with later is gone for readers at once. Its files stay until the older of the two
//! manifests kept knows of it: a start from either of them, replaying the journal, then never looks for what is missing.
//! A crash before that leaves files behind, which the first checkpoint after the next start removes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::model::{FeedId, HistoryStart, Lsn, Offset, PartitionId, TrimmedLog};

use super::feed::FeedEnds;

/// What of a feed, or of a partition, is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The feed's history from here on.
    History(HistoryStart),
    Log(LogCut),
}

/// What of a partition's files is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogCut {
    /// The first offset that is read.
    pub log: Offset,
    /// Nothing was left when the log was cut there.
    pub emptied: bool,
    /// The first row of the runs.
    pub run: u64,
}

/// Cuts not yet carried out, by feed and, for logs, partition: the oldest and the newest of each.
#[derive(Default)]
pub struct Doomed {
    cuts: Mutex<BTreeMap<(FeedId, Option<PartitionId>), Pending>>,
}

/// Each with the lsn at which a state knows of it.
struct Pending {
    oldest: (Lsn, Cut),
    newest: Option<(Lsn, Cut)>,
}

impl Doomed {
    /// The cuts that a state at `lsn` knows of; some may have been carried out before.
    pub fn of_state(lsn: Lsn, ends: &BTreeMap<FeedId, FeedEnds>) -> Doomed {
        let doomed = Doomed::default();
        for (feed, ends) in ends {
            if ends.start != HistoryStart::default() {
                doomed.add(lsn, *feed, None, Cut::History(ends.start));
            }
            for (partition, ends) in ends.partitions.iter().enumerate() {
                if ends.start > Offset(0) {
                    let emptied = ends.log.position == 0;
                    let cut = LogCut { log: ends.start, emptied, run: ends.first_run };
                    doomed.add(lsn, *feed, Some(PartitionId(partition as u32)), Cut::Log(cut));
                }
            }
        }
        doomed
    }

    /// Takes note of a trim that a state at `lsn` knows of.
    pub fn trimmed(&self, lsn: Lsn, feed: FeedId, start: HistoryStart, logs: &[TrimmedLog]) {
        self.add(lsn, feed, None, Cut::History(start));
        for TrimmedLog { start, emptied } in logs {
            let cut = LogCut { log: start.log, emptied: *emptied, run: start.run };
            self.add(lsn, feed, Some(start.partition), Cut::Log(cut));
        }
    }

    /// The cuts that every state from `lsn` on knows of.
    pub fn take(&self, lsn: Lsn) -> Vec<(FeedId, Option<PartitionId>, Cut)> {
        let mut cuts = self.lock();
        let mut due = Vec::new();
        cuts.retain(|(feed, partition), pending| {
            let newest_is_due = pending.newest.is_some_and(|(known_at, _)| known_at <= lsn);
            if pending.oldest.0 > lsn {
                return true;
            }
            let cut = if newest_is_due { pending.newest.take() } else { None };
            due.push((*feed, *partition, cut.unwrap_or(pending.oldest).1));
            match pending.newest.take() {
                Some(newest) => {
                    pending.oldest = newest;
                    true
                }
                None => false,
            }
        });
        due
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// A cut that could not be carried out waits on, unless a later one does.
    pub fn put_back(&self, lsn: Lsn, feed: FeedId, partition: Option<PartitionId>, cut: Cut) {
        self.lock().entry((feed, partition)).or_insert(Pending { oldest: (lsn, cut), newest: None });
    }

    /// A cut supersedes those before it, all but the oldest: that one need not wait as long.
    fn add(&self, lsn: Lsn, feed: FeedId, partition: Option<PartitionId>, cut: Cut) {
        let mut cuts = self.lock();
        cuts.entry((feed, partition))
            .and_modify(|pending| pending.newest = Some((lsn, cut)))
            .or_insert(Pending { oldest: (lsn, cut), newest: None });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<(FeedId, Option<PartitionId>), Pending>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_waits_for_its_state_and_only_the_newest_of_those_that_are_due_is_told() {
        let doomed = Doomed::default();
        let cut = |log| Cut::Log(LogCut { log: Offset(log), emptied: false, run: 0 });
        let (feed, partition) = (FeedId(1), Some(PartitionId(0)));
        for (lsn, log) in [(5, 10), (7, 20), (9, 30)] {
            doomed.add(Lsn(lsn), feed, partition, cut(log));
        }
        assert_eq!(doomed.take(Lsn(4)), []);
        assert_eq!(doomed.take(Lsn(8)), [(feed, partition, cut(10))]);
        assert_eq!(doomed.take(Lsn(8)), []);
        assert!(!doomed.is_empty());
        assert_eq!(doomed.take(Lsn(9)), [(feed, partition, cut(30))]);
        assert!(doomed.is_empty());
    }
}

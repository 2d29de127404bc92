//! What follows from the events: the fate of each record and of each transaction.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Event, History, Place, Txn, Value};

pub struct Index {
    pub sends: BTreeMap<Value, Send>,
    pub txns: BTreeMap<Txn, Fate>,
    /// All that a reader of committed records is shown at the end.
    pub committed: BTreeSet<Value>,
}

/// A record that was sent.
pub struct Send {
    pub place: Place,
    pub txn: Option<Txn>,
    pub refused: bool,
    pub acked: bool,
}

/// What became of a transaction.
#[derive(Default)]
pub struct Fate {
    /// The event by which its commit was asked for.
    pub asked: Option<usize>,
    pub told: Option<bool>,
    pub values: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// Told, or never asked to commit.
    Aborted,
    Unknown,
}

impl Fate {
    pub fn outcome(&self) -> Outcome {
        match (self.told, self.asked) {
            (Some(true), _) => Outcome::Committed,
            (Some(false), _) | (None, None) => Outcome::Aborted,
            (None, Some(_)) => Outcome::Unknown,
        }
    }
}

impl Index {
    pub fn of(history: &History) -> Index {
        let committed = history.found.committed.values().flatten().map(|(_, value)| *value).collect();
        let mut index = Index { sends: BTreeMap::new(), txns: BTreeMap::new(), committed };
        history.events.iter().enumerate().for_each(|(at, event)| index.take(at, event));
        index
    }

    fn take(&mut self, at: usize, event: &Event) {
        match *event {
            Event::Sent { value, place, txn } => {
                let known = self.sends.insert(value, Send { place, txn, refused: false, acked: false });
                assert!(known.is_none(), "{value:?} is sent twice: the run is wrong");
                if let Some(txn) = txn {
                    self.txns.entry(txn).or_default().values.push(value);
                }
            }
            Event::Acked { value, .. } => self.send(value).acked = true,
            Event::Refused { value } => self.send(value).refused = true,
            Event::Committing { txn } => self.txns.entry(txn).or_default().asked = Some(at),
            Event::Ended { txn, committed } => self.txns.entry(txn).or_default().told = Some(committed),
            Event::Staged { txn, .. } => {
                self.txns.entry(txn).or_default();
            }
            Event::Polled { .. } | Event::Position { .. } | Event::Owned { .. } => {}
        }
    }

    fn send(&mut self, value: Value) -> &mut Send {
        self.sends.get_mut(&value).unwrap_or_else(|| panic!("{value:?} was never sent: the run is wrong"))
    }

    pub fn txn_of(&self, value: Value) -> Option<Txn> {
        self.sends.get(&value)?.txn
    }

    /// The transaction of a record, with what became of it.
    pub fn fate_of(&self, value: Value) -> Option<&Fate> {
        Some(&self.txns[&self.txn_of(value)?])
    }

    /// Told to be committed, or a record of it is shown.
    pub fn is_committed(&self, txn: Txn) -> bool {
        let fate = &self.txns[&txn];
        match fate.outcome() {
            Outcome::Committed => true,
            Outcome::Aborted => false,
            Outcome::Unknown => fate.values.iter().any(|value| self.committed.contains(value)),
        }
    }
}

//! Transactions in a walk: several clients, by both protocols, interleaved on the same partitions.

use std::collections::BTreeMap;

use super::*;

const TIMEOUT_MS: i64 = 15_000;
const ROOMY: Rolling<'static> = &|_| (600, i64::MAX);
/// The first two go by the second protocol.
const IDS: [&str; 4] = ["next 1", "next 2", "first 1", "first 2"];

/// A producer with a transactional id, as it knows itself.
#[derive(Clone)]
pub struct Transactor {
    identity: Identity,
    sequences: BTreeMap<(FeedId, u32), i32>,
    last: Option<Last>,
}

/// What it sent last in its open transaction.
#[derive(Clone)]
struct Last {
    place: (FeedId, u32),
    batch: Batch,
    base: i64,
}

impl Walk {
    pub fn transact(&mut self) {
        let id = IDS[self.random.below(4) as usize];
        if !self.transactors.contains_key(id) {
            return self.bind(id);
        }
        match self.random.below(20) {
            0 => self.bind(id),
            1..=2 => self.end(id),
            3 => self.stage(id),
            4 => self.repeat_in_transaction(id),
            5 => self.append_as_zombie(id),
            6 => self.enlist_only(id),
            7 => self.abort_by_operator(id),
            _ => self.append_in_transaction(id),
        }
    }

    fn is_next(id: &str) -> bool {
        id.starts_with("next")
    }

    fn bind(&mut self, id: &str) {
        let before = self.transactors.get(id).map(|known| known.identity);
        let current = before.filter(|_| self.random.chance(1, 2));
        let (timeout_ms, now) = (TIMEOUT_MS as i32, Timestamp(self.now));
        let wish = Bind { id: id.into(), timeout_ms, timeout_max_ms: i32::MAX, current, now };
        match self.state.decide_bind(wish, ROOMY) {
            Ok(decision) => {
                if let Some(known) = self.state.transactions().get(id) {
                    let producer = known.identity().producer;
                    self.oracle.end(id, producer, false, self.now);
                }
                let identity = self.take(decision);
                assert!(before.is_none_or(|before| identity > before));
                self.transactors.insert(id.into(), Transactor { identity, sequences: BTreeMap::new(), last: None });
                self.see(&format_args!("Bound"));
            }
            // It timed out, or an operator aborted it, and it does not know yet.
            Err(error) => {
                assert!(matches!(error, BindError::Fenced { .. }), "{error}");
                self.transactors.remove(id);
                self.see(&format_args!("Fenced"));
            }
        }
    }

    fn append_in_transaction(&mut self, id: &str) {
        let Some(place) = self.any_partition() else { return };
        let known = self.transactors[id].clone();
        if !Self::is_next(id) && !self.enlist(id, vec![place]) {
            return;
        }
        let (values, label) = (self.values(), self.maybe_label(5));
        let sequence = known.sequences.get(&place).copied().unwrap_or(0);
        let batch = in_transaction(known.identity, sequence, &values, label.as_deref());
        let bytes = batch.bytes.len() as u64;
        let Some(outcome) = self.append_of(id, place, batch.clone()) else { return };
        if Self::is_next(id) {
            self.oracle.enlist(id, Some(place), self.now, TIMEOUT_MS);
        }
        let produced = Produced { partition: place.1, values: &values, bytes, label, seal: None };
        let base = self.oracle.append_in(id, place.0, produced, self.now);
        assert_eq!((outcome.base_offset, outcome.duplicate), (Offset(base), false));
        let known = self.transactors.get_mut(id).unwrap();
        known.sequences.insert(place, sequence + values.len() as i32);
        known.last = Some(Last { place, batch, base });
        self.see(&format_args!("InTransaction"));
    }

    fn repeat_in_transaction(&mut self, id: &str) {
        let Some(Last { place, batch, base }) = self.transactors[id].last.clone() else { return };
        if self.oracle.feeds.contains_key(&place.0)
            && let Some(outcome) = self.append_of(id, place, batch)
        {
            assert_eq!((outcome.base_offset, outcome.duplicate), (Offset(base), true));
            self.see(&format_args!("RepeatedInTransaction"));
        }
    }

    /// None when the producer was fenced meanwhile, which it learns from this.
    fn append_of(&mut self, id: &str, (feed, partition): (FeedId, u32), batch: Batch) -> Option<AppendOutcome> {
        let (settings, now) = (self.settings, Timestamp(self.now));
        let transaction = Some(InTransaction { id, enlists: Self::is_next(id) });
        let partition = PartitionId(partition);
        let append = Append { feed, partition, batch, settings: &settings, transaction, now };
        match self.state.decide_append(append) {
            Ok(decision) => Some(self.take(decision)),
            Err(error) => {
                assert!(matches!(error, AppendError::Transaction(EnlistError::Fenced { .. })), "{error}");
                self.transactors.remove(id);
                None
            }
        }
    }

    fn append_as_zombie(&mut self, id: &str) {
        let Some((feed, partition)) = self.any_partition() else { return };
        let Identity { producer, epoch } = self.state.transactions().get(id).unwrap().identity();
        if epoch == 0 {
            return;
        }
        let batch = in_transaction(Identity { producer, epoch: epoch - 1 }, 0, &["zombie".into()], None);
        let settings = self.settings;
        let append = Append {
            feed,
            partition: PartitionId(partition),
            batch,
            settings: &settings,
            transaction: Some(InTransaction { id, enlists: true }),
            now: Timestamp(self.now),
        };
        let refused = self.state.decide_append(append);
        assert!(matches!(refused, Err(AppendError::Transaction(EnlistError::Fenced { .. }))), "{refused:?}");
    }

    fn enlist_only(&mut self, id: &str) {
        let places = self.any_partition().filter(|_| self.random.chance(1, 2));
        self.enlist(id, places.into_iter().collect());
    }

    /// False when the producer was fenced meanwhile.
    fn enlist(&mut self, id: &str, places: Vec<(FeedId, u32)>) -> bool {
        let identity = self.transactors[id].identity;
        let partitions = places.iter().map(|(feed, partition)| (*feed, PartitionId(*partition))).collect();
        let (seals, groups, now) = (vec![], vec!["readers".into()], Timestamp(self.now));
        match self.state.decide_enlist(Enlist { id: id.into(), identity, partitions, seals, groups, now }) {
            Ok(decision) => {
                self.take(decision);
                self.oracle.enlist(id, None, self.now, TIMEOUT_MS);
                places.iter().for_each(|place| self.oracle.enlist(id, Some(*place), self.now, TIMEOUT_MS));
                true
            }
            Err(error) => {
                assert!(matches!(error, EnlistError::Fenced { .. }), "{error}");
                self.transactors.remove(id);
                false
            }
        }
    }

    fn stage(&mut self, id: &str) {
        let Some((feed, _)) = self.any_partition() else { return };
        let suffix = if self.random.chance(1, 2) { "..feed" } else { "" };
        let topic = format!("{}{suffix}", self.oracle.feeds[&feed].name);
        let offset = self.random.below(1_000) as i64;
        let position = MovedPosition {
            topic: topic.clone(),
            partition: PartitionId(0),
            offset,
            leader_epoch: -1,
            metadata: String::new(),
            expires: None,
        };
        let (group, positions, now) = ("readers".into(), vec![position], Timestamp(self.now));
        let identity = self.transactors[id].identity;
        let wish = StagePositions { id: id.into(), identity, group, positions, enlists: true, now };
        match self.state.decide_stage_positions(wish) {
            Ok(decision) => {
                self.take(decision);
                self.oracle.enlist(id, None, self.now, TIMEOUT_MS);
                self.oracle.open.get_mut(id).unwrap().staged.insert(topic, offset);
            }
            Err(error) => {
                assert!(matches!(error, EnlistError::Fenced { .. }), "{error}");
                self.transactors.remove(id);
            }
        }
    }

    fn end(&mut self, id: &str) {
        let (commit, bumps, now) = (self.random.chance(3, 4), Self::is_next(id), Timestamp(self.now));
        let known = self.transactors[id].clone();
        let wish = EndTransaction { id: id.into(), identity: known.identity, commit, bumps, now };
        match self.state.decide_end(wish.clone(), ROOMY) {
            Ok(decision) => {
                let is_new = !decision.entries.is_empty();
                let next = self.take(decision);
                if is_new {
                    self.oracle.end(id, known.identity.producer, commit, self.now);
                    // The answer may be lost.
                    let again = self.state.decide_end(wish, ROOMY).unwrap();
                    assert_eq!(again, Decision::nothing(next));
                }
                let sequences = if next == known.identity { known.sequences } else { BTreeMap::new() };
                self.transactors.insert(id.into(), Transactor { identity: next, sequences, last: None });
                self.see(&format_args!("{}", if commit { "Committed" } else { "Aborted" }));
            }
            Err(EndError::NotOpen { .. } | EndError::EndedOtherwise { .. }) => {
                assert!(!self.oracle.open.contains_key(id));
            }
            Err(error) => {
                assert!(matches!(error, EndError::Fenced { .. }), "{error}");
                self.transactors.remove(id);
            }
        }
    }

    fn abort_by_operator(&mut self, id: &str) {
        let producer = self.state.transactions().get(id).unwrap().identity().producer;
        let decision = self.state.decide_abort(id, Timestamp(self.now), ROOMY);
        let was_open = self.take(decision);
        assert_eq!(was_open, self.oracle.open.contains_key(id));
        self.oracle.end(id, producer, false, self.now);
    }

    pub fn time_out(&mut self) {
        for id in self.oracle.due(self.now) {
            let producer = self.state.transactions().get(&id).unwrap().identity().producer;
            self.oracle.end(&id, producer, false, self.now);
            self.see(&format_args!("TimedOut"));
        }
        let decision = self.state.decide_timeouts(Timestamp(self.now), ROOMY);
        self.take(decision);
    }
}

fn in_transaction(identity: Identity, base_sequence: i32, values: &[String], label: Option<&str>) -> Batch {
    let Identity { producer, epoch } = identity;
    let mut builder = BatchBuilder::new(0).transactional().producer(Producer { id: producer.0, epoch, base_sequence });
    for (index, value) in values.iter().enumerate() {
        let label = label
            .filter(|_| index == 0)
            .map(|label| Header { key: b"streamstack-stream", value: Some(label.as_bytes()) });
        builder.push(NewRecord { timestamp: 5, key: None, value: Some(value.as_bytes()), headers: label.as_slice() });
    }
    checked(builder.build())
}

//! Giving a transactional id its producer (InitProducerId): the one before is fenced, and what it left open is aborted.

use super::super::decision::Decision;
use super::super::entry::{EndReason, Entry, ProducerBound};
use super::super::ids::Timestamp;
use super::super::state::State;
use super::end::Rolling;
use super::{Identity, TRANSACTIONAL_ID_BYTES_MAX, TRANSACTIONAL_IDS_MAX};

/// The last epoch that a producer is given. One more is kept for the markers that fence it.
const EPOCH_MAX: i16 = i16::MAX - 1;

/// The wish of a producer with a transactional id.
#[derive(Clone, Debug)]
pub struct Bind {
    pub id: String,
    pub timeout_ms: i32,
    /// `transaction.max.timeout.ms`
    pub timeout_max_ms: i32,
    /// What the producer goes on from after an error (KIP-360); none at its start.
    pub current: Option<Identity>,
    pub now: Timestamp,
}

/// Why a transactional id gets no producer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    #[error("a transaction times out after 1 to {max} ms (transaction.max.timeout.ms), not {wanted}")]
    Timeout { wanted: i32, max: i32 },
    #[error("transactional id {id:?} has another producer since: producer {}, epoch {}", current.producer, current.epoch)]
    Fenced { id: String, current: Identity },
    #[error(
        "{TRANSACTIONAL_IDS_MAX} transactional ids, in {TRANSACTIONAL_ID_BYTES_MAX} bytes, are the most, and too few of them have \
         nothing open; end transactions, or abort those that hang"
    )]
    TooMany,
}

impl State {
    /// Decides which producer a transactional id has from here on. An open transaction of the one before is aborted by the
    /// same decision, so that nobody has to ask twice.
    pub fn decide_bind(&self, wish: Bind, rolling: Rolling<'_>) -> Result<Decision<Identity>, BindError> {
        let Bind { timeout_ms, timeout_max_ms, now, .. } = wish;
        if !(1..=timeout_max_ms).contains(&timeout_ms) {
            return Err(BindError::Timeout { wanted: timeout_ms, max: timeout_max_ms });
        }
        let Some(known) = self.transactions.get(&wish.id) else { return self.bind_new(wish) };
        if let Some(current) = wish.current.filter(|current| *current != known.identity()) {
            // Who names the identity before this one lost the answer that gave it this one.
            return match known.previous == Some(current) && known.open.is_none() {
                true => Ok(Decision::nothing(known.identity())),
                false => Err(BindError::Fenced { id: wish.id, current: known.identity() }),
            };
        }
        let mut entries = Vec::new();
        let mut identity = self.next_identity(known.identity());
        if known.open.is_some() {
            let ended = self.ended(&wish.id, known, EndReason::Fenced, now, rolling);
            identity = ended.next;
            entries.push(Entry::TransactionEnded(ended));
        }
        let previous = wish.current;
        entries.push(Entry::ProducerBound(ProducerBound { id: wish.id, identity, previous, timeout_ms, at: now }));
        Ok(Decision { entries, outcome: identity })
    }

    fn bind_new(&self, wish: Bind) -> Result<Decision<Identity>, BindError> {
        let Some(forgotten) = self.transactions.room_for(&wish.id) else { return Err(BindError::TooMany) };
        let mut entries: Vec<Entry> =
            forgotten.map(|before| Entry::TransactionalIdsForgotten { before }).into_iter().collect();
        // Whatever it goes on from was forgotten, and a producer id is not given twice.
        let identity = Identity { producer: self.next_producer, epoch: 0 };
        let Bind { id, timeout_ms, current: previous, now: at, .. } = wish;
        entries.push(Entry::ProducerBound(ProducerBound { id, identity, previous, timeout_ms, at }));
        Ok(Decision { entries, outcome: identity })
    }

    /// The identity after this one: the next epoch, or a new producer id when there is none.
    pub(super) fn next_identity(&self, current: Identity) -> Identity {
        match current.epoch < EPOCH_MAX {
            true => Identity { epoch: current.epoch + 1, ..current },
            false => Identity { producer: self.next_producer, epoch: 0 },
        }
    }
}

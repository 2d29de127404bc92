//! Transactions as they run: their producers, what they touch, and how they end.

use std::sync::Arc;

use super::{Broker, FeedHandle, Gated};
use crate::model::{
    Bind, BindError, Decision, EndError, EndTransaction, Enlist, EnlistError, FeedId, Identity, NameError, NameOutcome,
    NameStream, Timestamp, Transactional, Transactions,
};

impl Broker {
    /// Gives a transactional id its producer; the one before is fenced, and what it left open is aborted.
    pub fn bind_producer(&self, bind: Bind) -> Gated<Result<Identity, BindError>> {
        self.submit(|state| state.decide_bind(bind, &|feed| self.rolling(feed)))
    }

    /// A transaction touches partitions or groups.
    pub fn enlist(&self, enlist: Enlist) -> Gated<Result<(), EnlistError>> {
        self.submit(|state| state.decide_enlist(enlist))
    }

    /// Says what the stream of a transaction is called.
    pub fn name_stream(&self, name: NameStream<'_>) -> Gated<Result<NameOutcome, NameError>> {
        self.submit(|state| state.decide_name_stream(name))
    }

    /// Ends a transaction: one entry, on all the partitions that it touched. The outcome is who its producer is from here on.
    pub fn end_transaction(&self, end: EndTransaction) -> Gated<Result<Identity, EndError>> {
        self.submit(|state| state.decide_end(end, &|feed| self.rolling(feed)))
    }

    /// Aborts the open transaction of a producer, if it has one; refused with its identity when it has a newer epoch.
    pub fn abort_transaction_of(&self, producer: Identity) -> Gated<Result<(), Identity>> {
        let now = self.now();
        self.submit(|state| {
            let found = state.transactions().of_producer(producer.producer);
            match found.map(|(id, known)| (id, known.identity())) {
                Some((_, current)) if current.epoch > producer.epoch => Err(current),
                Some((id, current)) if current == producer => {
                    Ok(state.decide_abort(id, now, &|feed| self.rolling(feed)).map(drop))
                }
                _ => Ok(Decision::nothing(())),
            }
        })
    }

    /// Looks at one transactional id.
    pub fn look_at_transaction<T>(&self, id: &str, look: impl FnOnce(Option<&Transactional>) -> T) -> Gated<T> {
        self.core.look(|state| look(state.transactions().get(id)))
    }

    /// Looks at all of them.
    pub fn look_at_transactions<T>(&self, look: impl FnOnce(&Transactions) -> T) -> Gated<T> {
        self.core.look(|state| look(state.transactions()))
    }

    /// Forgets the transactional ids that nobody used for `transactional.id.expiration.ms`.
    pub fn forget_old_transactional_ids(&self) {
        let expiration_ms = self.settings.typed().transactional_id_expiration_ms;
        let before = Timestamp(self.now().0.saturating_sub(expiration_ms));
        let num_forgotten = self.decide(|state| state.decide_forget_transactional_ids(before)).value;
        if num_forgotten > 0 {
            tracing::info!(num_forgotten, "unused transactional ids forgotten");
            self.kick();
        }
    }

    /// When a feed's segments end: `segment.bytes` and `segment.ms`.
    pub(super) fn rolling(&self, feed: FeedId) -> (u64, i64) {
        // One that is not published ends no segment for a marker.
        let limits = |handle: Arc<FeedHandle>| (handle.config().model.segment_bytes, handle.config().model.segment_ms);
        self.catalog.by_id(feed).map_or((u64::MAX, i64::MAX), limits)
    }
}

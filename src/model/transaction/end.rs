//! Ending a transaction: one entry holds the markers of all partitions, the commits of all feeds and the positions.

use super::super::decision::Decision;
use super::super::entry::{EndReason, Entry, SealReason, StreamSealed, TransactionEnded};
use super::super::feed::{Feed, Partition};
use super::super::ids::{FeedId, PartitionId, StreamId, Timestamp};
use super::super::share::{ENDED_MAX, Share};
use super::super::state::State;
use super::{Identity, OpenTransaction, Transactional};

/// `segment.bytes` and `segment.ms` of a feed, by which a marker ends a segment.
pub type Rolling<'a> = &'a dyn Fn(FeedId) -> (u64, i64);

/// What a marker takes.
const MARKER_BYTES: u64 = 78;

/// A producer ends its transaction.
#[derive(Clone, Debug)]
pub struct EndTransaction {
    pub id: String,
    pub identity: Identity,
    pub commit: bool,
    /// The second transaction protocol: each transaction has an epoch of its own (KIP-890).
    pub bumps: bool,
    pub now: Timestamp,
}

/// Why a transaction does not end so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndError {
    #[error("transactional id {id:?} is not known; the producer must be initialized first")]
    UnknownId { id: String },
    #[error("transactional id {id:?} belongs to producer {}, and producer {} asks", current.producer, found.producer)]
    OtherProducer { id: String, current: Identity, found: Identity },
    #[error("the producer of transactional id {id:?} has epoch {}, and epoch {} asks", current.epoch, found.epoch)]
    Fenced { id: String, current: Identity, found: Identity },
    #[error("the transaction of {id:?} was {}, and cannot be {}", done(!wanted), done(*wanted))]
    EndedOtherwise { id: String, wanted: bool },
    #[error("transactional id {id:?} has no open transaction")]
    NotOpen { id: String },
}

fn done(commit: bool) -> &'static str {
    if commit { "committed" } else { "aborted" }
}

impl State {
    /// Decides how a transaction ends; the outcome is the identity to go on with. Said again, it answers the same and
    /// changes nothing.
    pub fn decide_end(&self, wish: EndTransaction, rolling: Rolling<'_>) -> Result<Decision<Identity>, EndError> {
        let EndTransaction { id, identity: found, commit, bumps, now } = wish;
        let Some(known) = self.transactions.get(&id) else { return Err(EndError::UnknownId { id }) };
        let current = known.identity();
        let repeated = known.ended.filter(|ended| ended.by == Some(found) && known.open.is_none());
        match repeated {
            Some(ended) if ended.committed == commit => return Ok(Decision::nothing(current)),
            Some(_) => return Err(EndError::EndedOtherwise { id, wanted: commit }),
            None => {}
        }
        if current.producer != found.producer {
            return Err(EndError::OtherProducer { id, current, found });
        }
        if current.epoch != found.epoch {
            return Err(EndError::Fenced { id, current, found });
        }
        // With an epoch of its own even a transaction that touched nothing can be aborted, and so be told from the next.
        if known.open.is_none() && (commit || !bumps) {
            return Err(EndError::NotOpen { id });
        }
        let reason = match (commit, bumps) {
            (true, true) => EndReason::CommittedNext,
            (true, false) => EndReason::Committed,
            (false, true) => EndReason::AbortedNext,
            (false, false) => EndReason::Aborted,
        };
        let ended = self.ended(&id, known, reason, now, rolling);
        let next = ended.next;
        Ok(Decision::one(Entry::TransactionEnded(ended), next))
    }

    /// Aborts an open transaction at the operator's wish; its producer is fenced. The outcome says whether there was one.
    pub fn decide_abort(&self, id: &str, now: Timestamp, rolling: Rolling<'_>) -> Decision<bool> {
        match self.transactions.get(id).filter(|known| known.open.is_some()) {
            Some(known) => {
                let ended = self.ended(id, known, EndReason::Operator, now, rolling);
                Decision::one(Entry::TransactionEnded(ended), true)
            }
            None => Decision::nothing(false),
        }
    }

    /// Ends the transactions that were open for too long, a share of them. Their producers are fenced.
    pub fn decide_timeouts(&self, now: Timestamp, rolling: Rolling<'_>) -> Decision<()> {
        let mut next_producer = self.next_producer;
        let end = |(id, known)| {
            let mut ended = self.ended(id, known, EndReason::TimedOut, now, rolling);
            // Several may run out of epochs at once, and each needs a producer id of its own.
            if ended.next.producer != ended.by.producer {
                ended.next.producer = next_producer;
                next_producer.0 += 1;
            }
            Entry::TransactionEnded(ended)
        };
        let mut share = Share::new();
        let touched = |known: &Transactional| known.open().map_or(0, OpenTransaction::num_touched);
        let due = self.transactions.due(now).take_while(|(_, known)| share.takes(touched(known)));
        Decision { entries: due.map(end).collect(), outcome: () }
    }

    /// How the open transaction, if there is one, ends.
    pub(super) fn ended(
        &self,
        id: &str,
        known: &Transactional,
        reason: EndReason,
        now: Timestamp,
        rolling: Rolling<'_>,
    ) -> TransactionEnded {
        let current = known.identity();
        let nothing = OpenTransaction::new(now);
        let open = known.open.as_ref().unwrap_or(&nothing);
        let rolls = |(feed, partition): &(FeedId, PartitionId)| {
            let known = self.feed(*feed)?.partition(*partition)?;
            known.rolls_for_marker(rolling(*feed), now).then_some((*feed, *partition))
        };
        let (marker_epoch, next) = match reason.bumps() {
            true => (current.epoch.saturating_add(1), self.next_identity(current)),
            false => (current.epoch, current),
        };
        TransactionEnded {
            id: id.to_owned(),
            by: current,
            at: self.end_time(open, now),
            reason,
            seals: if reason.commits() { self.seals(open) } else { Vec::new() },
            rolls: open.partitions.iter().filter_map(rolls).collect(),
            marker_epoch,
            next,
        }
    }

    fn end_time(&self, open: &OpenTransaction, now: Timestamp) -> Timestamp {
        let last = open.streams.keys().filter_map(|feed| self.feed(*feed)).map(|feed| feed.last_sealed_at).max();
        now.max(last.unwrap_or_default()).max(self.time_floor)
    }

    /// On each feed that gets a commit its implicit stream first, if it holds anything: the order of commits is the order
    /// in which records become visible.
    fn seals(&self, open: &OpenTransaction) -> Vec<StreamSealed> {
        let mut seals = Vec::new();
        for (id, stream) in &open.streams {
            let Some(feed) = self.feed(*id) else { continue };
            if feed.open.get(stream).is_some_and(|stream| stream.becomes_commit()) {
                seals.extend(feed.implicit.map(|cut| sealed(feed, cut, SealReason::Cut)));
                seals.push(sealed(feed, *stream, SealReason::Transaction));
            }
        }
        seals
    }
}

fn sealed(feed: &Feed, stream: StreamId, reason: SealReason) -> StreamSealed {
    StreamSealed { feed: feed.id, stream, reason, label: None, metadata: None, sealed_by: None }
}

impl EndReason {
    /// What was written counts.
    pub fn commits(self) -> bool {
        matches!(self, EndReason::Committed | EndReason::CommittedNext)
    }

    /// The producer asked for it, and is told how it goes on.
    pub(super) fn was_asked(self) -> bool {
        !matches!(self, EndReason::Fenced | EndReason::TimedOut | EndReason::Operator)
    }

    /// The markers carry a higher epoch, so that nothing of the transaction can come after them.
    fn bumps(self) -> bool {
        !matches!(self, EndReason::Committed | EndReason::Aborted)
    }
}

impl Partition {
    fn rolls_for_marker(&self, (segment_bytes, segment_ms): (u64, i64), now: Timestamp) -> bool {
        let segment = self.segment;
        let full = segment.bytes + MARKER_BYTES > segment_bytes;
        let old = now.0.saturating_sub(segment.first_at.0) >= segment_ms;
        // Markers that are decided at the same time come to lie behind each other.
        let wide = self.log_end.0 + ENDED_MAX as i64 - segment.base.0 > i64::from(i32::MAX);
        segment.bytes > 0 && (full || old || wide)
    }
}

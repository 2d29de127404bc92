//! Records sent to `<feed>..seal` inside a transaction: each names the transaction's stream on the feed, and has it
//! sealed even when it holds nothing.

use super::super::decision::Decision;
use super::super::entry::{Entry, SealProducer, StreamNamed};
use super::super::ids::{FeedId, Timestamp};
use super::super::producers::{Sequence, SequenceError};
use super::super::seal::{SealError, SealWish, SealingProducer, check_wishes};
use super::super::state::State;
use super::super::stream::OpenStream;
use super::{Enlist, EnlistError, Identity, InTransaction};

/// Bytes that may be kept of what `..seal` was told of all open transactions.
const NAMED_BYTES_MAX: u64 = 256 << 20;

/// A batch to `<feed>..seal` that is part of a transaction.
#[derive(Clone, Debug)]
pub struct NameStream<'a> {
    pub feed: FeedId,
    pub transaction: InTransaction<'a>,
    pub producer: SealingProducer,
    /// One: a transaction seals one stream on a feed. What a later batch says replaces what an earlier one said.
    pub wishes: Vec<SealWish>,
    pub now: Timestamp,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameOutcome {
    /// It was said before.
    pub duplicate: bool,
}

/// Why a stream is not named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a transaction seals one stream on a feed, and the batch holds {found} records that each ask for one")]
    Several { found: usize },
    #[error(
        "what ..seal was told of open transactions takes {bytes} bytes, and {NAMED_BYTES_MAX} is the most; end some of them"
    )]
    TooMuchNamed { bytes: u64 },
    #[error(transparent)]
    Transaction(#[from] EnlistError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Sequence(#[from] SequenceError),
}

impl State {
    /// Decides what the stream of a transaction is called, and what its commit carries.
    pub fn decide_name_stream(&self, wish: NameStream<'_>) -> Result<Decision<NameOutcome>, NameError> {
        let NameStream { feed: id, transaction, producer: by, mut wishes, now } = wish;
        let identity = Identity { producer: by.producer, epoch: by.epoch };
        let known = self.admit(transaction.id, identity)?;
        let is_enlisted = known.open().is_some_and(|open| open.seals.contains(&id));
        if !is_enlisted && !transaction.enlists {
            return Err(EnlistError::SealNotEnlisted { id: transaction.id.to_owned(), feed: id }.into());
        }
        let feed = self.feed(id).ok_or(EnlistError::UnknownFeed { feed: id })?;
        let records = check_wishes(&wishes)?;
        match feed.seal_producers.check_in_transaction(&by.sequenced(records), transaction.enlists)? {
            Sequence::Repeated { .. } => return Ok(Decision::nothing(NameOutcome { duplicate: true })),
            Sequence::Next => {}
        }
        let named = match (wishes.pop(), wishes.len()) {
            (Some(named), 0) => named,
            (_, others) => return Err(NameError::Several { found: others + 1 }),
        };
        let open = known.open().and_then(|open| feed.open.get(&open.stream_on(id)?));
        self.check_named(open.map_or(0, OpenStream::named_bytes), &named)?;
        let mut entries = Vec::new();
        if !is_enlisted {
            let (id, partitions, groups) = (transaction.id.to_owned(), Vec::new(), Vec::new());
            entries =
                self.decide_enlist(Enlist { id, identity, partitions, seals: vec![feed.id], groups, now })?.entries;
        }
        let by = SealProducer { producer: by.producer, epoch: by.epoch, sequence: by.sequence, records };
        let SealWish { label, metadata } = named;
        entries.push(Entry::StreamNamed(StreamNamed { feed: feed.id, at: now, by, label, metadata }));
        Ok(Decision { entries, outcome: NameOutcome { duplicate: false } })
    }

    /// There is room for what is said in place of so many bytes.
    fn check_named(&self, before: u64, named: &SealWish) -> Result<(), NameError> {
        let texts = named.label.iter().chain(&named.metadata);
        let more: u64 = texts.map(|text| text.len() as u64).sum();
        let bytes = self.named_bytes - before + more;
        match more > before && bytes > NAMED_BYTES_MAX {
            true => Err(NameError::TooMuchNamed { bytes }),
            false => Ok(()),
        }
    }
}

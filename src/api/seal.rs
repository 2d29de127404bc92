//! Records sent to `<feed>..seal`: each seals the feed's stream as a commit. Key = label, value = metadata (JSON).
//!
//! The first record takes the open stream, if there is one; each further record of the batch makes an empty commit. The
//! offset answered is the number of the first commit. Inside a transaction the record names the transaction's stream, which is
//! sealed when it commits, with or without records: the number of the commit is not known yet, and -1 is answered.

use bytes::Bytes;
use kafka_protocol::ResponseError;

use super::produce::{Appended, Outcome, Refused, bad_batch};
use crate::batch::{self, Limits, RecordError, RecordRef};
use crate::broker::{Broker, FeedHandle};
use crate::model::{
    AppendError, InTransaction, Lsn, NameStream, ProducerId, Seal, SealReason, SealWish, SealingProducer,
};
use crate::wire::error::{self, ToldTo};
use crate::wire::produce_request::PartitionData;

/// The commit has no number yet.
const UNKNOWN: i64 = -1;

/// Seals as the records of a batch ask.
pub(super) fn by_records(
    broker: &Broker,
    feed: &FeedHandle,
    wanted: &PartitionData,
    limits: &Limits,
    transaction: Option<InTransaction<'_>>,
    told: ToldTo,
) -> Outcome {
    if wanted.index != 0 {
        let message = format!("{}..seal has one partition, 0", feed.name);
        return (Err(Refused::new(ResponseError::UnknownTopicOrPartition, message)), Lsn(0));
    }
    let (wishes, batch) = match checked(&wanted.records, limits) {
        Ok(checked) => checked,
        Err(refused) => return (Err(refused), Lsn(0)),
    };
    let header = &batch.header;
    let producer = SealingProducer {
        producer: ProducerId(header.producer_id),
        epoch: header.producer_epoch,
        sequence: header.base_sequence,
    };
    if header.attributes.is_transactional() {
        return in_transaction(broker, feed, wishes, producer, transaction, told);
    }
    let gated = broker.seal(Seal {
        feed: feed.id,
        wishes,
        producer: header.has_producer().then_some(producer),
        reason: SealReason::Control,
        producer_expiration_ms: broker.settings().typed().producer_id_expiration_ms,
        now: broker.now(),
    });
    let outcome = gated.value.map(|sealed| Appended {
        base_offset: sealed.first.0,
        log_append_time: -1,
        log_start: sealed.first.0,
    });
    (outcome.map_err(|error| Refused::new(error::of_seal(&error), error.to_string())), gated.durable_at)
}

fn in_transaction(
    broker: &Broker,
    feed: &FeedHandle,
    wishes: Vec<SealWish>,
    producer: SealingProducer,
    transaction: Option<InTransaction<'_>>,
    told: ToldTo,
) -> Outcome {
    let Some(transaction) = transaction else {
        let error = AppendError::NoTransactionalId;
        return (Err(Refused::new(told.of_append(&error), error.to_string())), Lsn(0));
    };
    let gated = broker.name_stream(NameStream { feed: feed.id, transaction, producer, wishes, now: broker.now() });
    let named = Appended { base_offset: UNKNOWN, log_append_time: -1, log_start: UNKNOWN };
    let outcome = gated.value.map(|_| named);
    (outcome.map_err(|error| Refused::new(told.of_name(&error), error.to_string())), gated.durable_at)
}

fn checked(records: &Bytes, limits: &Limits) -> Result<(Vec<SealWish>, batch::Batch), Refused> {
    // Keys are optional here, whatever the feed's own records need.
    let limits = Limits { compacted: false, ..*limits };
    let batch = batch::check_produced(records.clone(), &limits).map_err(|error| bad_batch(&error))?;
    let inner = batch::records(&batch.bytes, limits.max_decompressed_bytes)
        .map_err(|error| Refused::new(ResponseError::InvalidRecord, error.to_string()))?;
    let mut wishes = Vec::new();
    let mut wrong = Vec::new();
    for (index, record) in inner.iter().enumerate() {
        let record = record.map_err(|error| Refused::new(ResponseError::InvalidRecord, error.to_string()))?;
        match wish(&record) {
            Ok(wish) => wishes.push(wish),
            Err(message) => wrong.push(RecordError { index: index as i32, message }),
        }
    }
    match wrong.first() {
        None => Ok((wishes, batch)),
        Some(first) => {
            Err(Refused { error: ResponseError::InvalidRecord, message: first.message.clone(), record_errors: wrong })
        }
    }
}

/// What a record asks for. Lengths, and whether the metadata is JSON, the model checks.
fn wish(record: &RecordRef<'_>) -> Result<SealWish, String> {
    let label = text(record.key, "the key is the commit's label")?;
    let metadata = text(record.value, "the value is the commit's metadata")?;
    Ok(SealWish { label, metadata })
}

fn text(bytes: Option<&[u8]>, what: &str) -> Result<Option<String>, String> {
    let bytes = bytes.unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{what} and must be UTF-8"))?;
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

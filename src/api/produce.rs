//! Produce (key 0): batches for plain topics, and seals by records to `<feed>..seal`.
//!
//! The answer is encoded at once, since offsets are assigned when a batch is decided on, and leaves when all that it
//! rests on is durable. `acks` 1 and -1 mean the same; 0 gets no answer.

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::ResponseError;

use super::topic::{self, Named, Refusal};
use super::{Close, Reply, RequestContext, seal};
use crate::batch::{self, Limits, RecordError};
use crate::broker::{Broker, FeedHandle};
use crate::config::{TimestampType, TopicSettings};
use crate::metrics;
use crate::model::{Append, InTransaction, Lsn, PartitionId};
use crate::view::name::{self, TopicName};
use crate::view::{Selector, ViewName};
use crate::wire::error::{self, ToldTo};
use crate::wire::produce_request::{PartitionData, ProduceRequest, TopicData};
use crate::wire::produce_response::{self as answer, PartitionResponse, ProduceResponse, TopicResponse};

/// Records of one batch may have so many bytes when decompressed; a small batch that claims more is a bomb.
const DECOMPRESSED_BYTES_MAX: usize = 128 << 20;

/// zstd came with this version (KIP-110).
const ZSTD_VERSION_MIN: i16 = 7;

/// From this version on a transaction touches a partition by writing to it (KIP-890).
const ENLISTS_VERSION_MIN: i16 = 12;

/// From this version on topics are named by their ids (KIP-516).
const IDS_VERSION_MIN: i16 = 13;

/// What was appended to a partition, or to a control topic.
pub(super) struct Appended {
    pub base_offset: i64,
    pub log_append_time: i64,
    pub log_start: i64,
}

/// Why nothing was appended.
pub(super) struct Refused {
    pub error: ResponseError,
    pub message: String,
    pub record_errors: Vec<RecordError>,
}

/// An outcome, and the lsn below which all must be durable before it is told.
pub(super) type Outcome = (Result<Appended, Refused>, Lsn);

impl Refused {
    pub fn new(error: ResponseError, message: impl Into<String>) -> Refused {
        Refused { error, message: message.into(), record_errors: Vec::new() }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::new(refusal.error, refusal.message)
    }
}

/// Answers a Produce.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext, body: Bytes) -> Reply {
    let request = match ProduceRequest::decode(&body, context.version) {
        Ok(request) => request,
        Err(error) => return Reply::Close(Close::new(format!("Produce v{}: {error}", context.version))),
    };
    let mut produce = Produce { broker, request: &request, told: context.told_to(), gate: Lsn(0), failure: None };
    let topics = request.topics.iter().map(|topic| produce.topic(topic)).collect();
    let Produce { gate, failure, .. } = produce;
    match (request.acks, failure) {
        (0, None) => Reply::None,
        // A client that wants no answers learns of a failure only so (Kafka does the same).
        (0, Some(failure)) => Reply::Close(Close::new(format!("produce with acks=0 failed: {failure}"))),
        _ => {
            let response = ProduceResponse { topics, throttle_time_ms: 0 };
            Reply::Ready { frames: vec![response.encode(context.version, context.correlation_id)], durable_at: gate }
        }
    }
}

struct Produce<'a> {
    broker: &'a Broker,
    request: &'a ProduceRequest,
    told: ToldTo,
    gate: Lsn,
    failure: Option<String>,
}

/// Where a topic's batches go.
enum Target {
    Feed(Arc<FeedHandle>),
    Seal(Arc<FeedHandle>),
}

impl Produce<'_> {
    fn topic(&mut self, topic: &TopicData) -> TopicResponse {
        let target = self.target(topic);
        let partitions = topic.partitions.iter().map(|partition| {
            let (outcome, durable_at) = match &target {
                Ok(target) => self.partition(target, partition),
                Err(refusal) => (Err(refusal.clone().into()), Lsn(0)),
            };
            self.gate = self.gate.max(durable_at);
            if let Err(refused) = &outcome {
                self.failure = Some(refused.message.clone());
            }
            to_answer(partition.index, outcome)
        });
        let partitions = partitions.collect();
        TopicResponse { name: topic.name.clone(), topic_id: topic.topic_id, partitions }
    }

    fn target(&self, topic: &TopicData) -> Result<Target, Refusal> {
        if !(-1..=1).contains(&self.request.acks) {
            let message = format!("acks is {}; it can be -1, 0 or 1", self.request.acks);
            return Err(Refusal { error: ResponseError::InvalidRequiredAcks, message });
        }
        if self.told.version >= IDS_VERSION_MIN {
            return match topic::named_by_id(self.broker, &topic.topic_id)? {
                Named::Plain(feed) => Ok(Target::Feed(feed)),
                Named::View(view) => self.view_target(&view),
            };
        }
        match name::parse_topic(&topic.name) {
            Ok(TopicName::Plain(plain)) => Ok(Target::Feed(self.feed(plain)?)),
            Ok(TopicName::View(view)) => self.view_target(&view),
            Err(error) => Err(Refusal { error: ResponseError::InvalidTopicException, message: error.to_string() }),
        }
    }

    fn view_target(&self, view: &ViewName) -> Result<Target, Refusal> {
        match view.selector {
            Selector::Seal => Ok(Target::Seal(self.feed(&view.feed)?)),
            _ => Err(Refusal {
                error: ResponseError::InvalidTopicException,
                message: format!("{view} is a view and read-only; produce to {}", view.feed),
            }),
        }
    }

    fn feed(&self, name: &str) -> Result<Arc<FeedHandle>, Refusal> {
        let feed = self.broker.catalog().by_name(name).ok_or_else(topic::unknown_topic)?;
        topic::not_an_alias(feed)
    }

    fn partition(&self, target: &Target, wanted: &PartitionData) -> Outcome {
        if let Some(failure) = self.broker.failure() {
            let message = format!("the broker is stopping, for its disk failed: {failure}");
            return (Err(Refused::new(ResponseError::KafkaStorageError, message)), Lsn(0));
        }
        if !self.broker.has_space() {
            metrics::all().produce_refused_space.increment();
            let message =
                "the disk has less free space than streamstack.disk.free.min.bytes; free some, then send again";
            return (Err(Refused::new(ResponseError::KafkaStorageError, message)), Lsn(0));
        }
        let Some(partition) = topic::partition_id(wanted.index) else {
            return (Err(topic::unknown_topic().into()), Lsn(0));
        };
        match target {
            Target::Feed(feed) => self.append(feed, partition, &wanted.records),
            Target::Seal(feed) => {
                let limits = self.limits(&feed.config().settings);
                seal::by_records(self.broker, feed, wanted, &limits, self.transaction(), self.told)
            }
        }
    }

    fn append(&self, feed: &FeedHandle, partition: PartitionId, records: &Bytes) -> Outcome {
        let config = feed.config();
        let limits = self.limits(&config.settings);
        let batch = match batch::check_produced(records.clone(), &limits) {
            Ok(batch) => batch,
            Err(error) => return (Err(bad_batch(&error)), Lsn(0)),
        };
        let count = batch.header.record_count;
        let log_append_time = match config.settings.timestamp_type {
            TimestampType::LogAppend => limits.now_ms,
            TimestampType::Create => -1,
        };
        let now = self.broker.now();
        let gated = self.broker.append(Append {
            feed: feed.id,
            partition,
            batch,
            settings: &config.model,
            transaction: self.transaction(),
            now,
        });
        let outcome = gated.value.map(|appended| {
            metrics::all().batches_appended.increment();
            metrics::all().records_appended.add(u64::from(count.unsigned_abs()));
            Appended { base_offset: appended.base_offset.0, log_append_time, log_start: appended.log_start.0 }
        });
        let outcome = outcome.map_err(|error| Refused::new(self.told.of_append(&error), error.to_string()));
        (outcome, gated.durable_at)
    }

    /// What the request says of the transaction that its batches may be part of.
    fn transaction(&self) -> Option<InTransaction<'_>> {
        let id = self.request.transactional_id.as_ref()?;
        Some(InTransaction { id, enlists: self.told.version >= ENLISTS_VERSION_MIN })
    }

    fn limits(&self, settings: &TopicSettings) -> Limits {
        Limits {
            max_message_bytes: settings.max_message_bytes,
            max_decompressed_bytes: DECOMPRESSED_BYTES_MAX,
            compacted: settings.compact,
            timestamp_type: match settings.timestamp_type {
                TimestampType::Create => batch::TimestampType::Create,
                TimestampType::LogAppend => batch::TimestampType::LogAppend,
            },
            before_max_ms: settings.timestamp_before_max_ms,
            after_max_ms: settings.timestamp_after_max_ms,
            now_ms: self.broker.wall_now().0,
            zstd_allowed: self.told.version >= ZSTD_VERSION_MIN,
        }
    }
}

/// A batch that was not taken.
pub(super) fn bad_batch(error: &batch::BatchError) -> Refused {
    Refused { error: error::of_batch(error), message: error.to_string(), record_errors: error.record_errors().to_vec() }
}

fn to_answer(index: i32, outcome: Result<Appended, Refused>) -> PartitionResponse {
    match outcome {
        Ok(appended) => PartitionResponse {
            index,
            base_offset: appended.base_offset,
            log_append_time_ms: appended.log_append_time,
            log_start_offset: appended.log_start,
            ..PartitionResponse::default()
        },
        Err(refused) => PartitionResponse {
            index,
            error_code: refused.error.code(),
            record_errors: refused.record_errors.into_iter().map(to_record_error).collect(),
            error_message: Some(refused.message),
            ..PartitionResponse::default()
        },
    }
}

fn to_record_error(error: RecordError) -> answer::RecordError {
    answer::RecordError { index: error.index, message: error.message }
}

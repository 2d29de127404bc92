//! Fetch (key 1): records of plain topics and of views, at once or as soon as there are enough.
//!
//! Sessions (KIP-227) are declined: every answer has session id 0 and names every partition asked for, which clients
//! take as a full answer each time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::FetchRequest;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use tokio::time::Instant;

use super::node::LEADER_EPOCH;
use super::topic::{self, Readable};
use super::{Close, Reply, RequestContext};
use crate::broker::{Broker, Sleeper};
use crate::metrics;
use crate::model::AbortedRow;
use crate::view::{Bounds, Budget, Extremes, Isolation, Reader, ViewReadError};
use crate::wire::fetch_response::{AbortedTransaction, FetchResponse, PartitionResponse, TopicResponse};

/// The longest that a fetch waits, whatever its client asks for.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Where much is read for few records, whoever asked gets those of the partitions read so far.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// Answers a Fetch.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext, request: FetchRequest) -> Reply {
    let broker = broker.clone();
    let (version, correlation) = (context.version, context.correlation_id);
    Reply::later(async move {
        let response = match refusal(&request) {
            Some(error) => FetchResponse { error_code: error.code(), ..FetchResponse::default() },
            None => Fetch::new(broker, request, version).run().await,
        };
        Ok::<Vec<Bytes>, Close>(response.encode(version, correlation))
    })
}

/// Requests that no consumer of ours sends.
fn refusal(request: &FetchRequest) -> Option<ResponseError> {
    let replica = request.replica_id.0.max(request.replica_state.replica_id.0);
    if replica >= 0 {
        // There are no followers; a client in a follower's clothes could otherwise read past the durable end.
        return Some(ResponseError::ClusterAuthorizationFailed);
    }
    (request.session_id != 0).then_some(ResponseError::FetchSessionIdNotFound)
}

struct Fetch {
    broker: Arc<Broker>,
    request: FetchRequest,
    version: i16,
    topics: Vec<Result<Readable, ResponseError>>,
    isolation: Isolation,
}

impl Fetch {
    fn new(broker: Arc<Broker>, request: FetchRequest, version: i16) -> Fetch {
        let isolation = topic::isolation(request.isolation_level);
        Fetch { broker, request, version, topics: Vec::new(), isolation }
    }

    async fn run(self) -> FetchResponse {
        let wait = Duration::from_millis(u64::try_from(self.request.max_wait_ms).unwrap_or(0)).min(WAIT_MAX);
        let deadline = Instant::now() + wait;
        let (mut fetch, ()) = self.read(Fetch::open_topics).await;
        loop {
            let sleeper = Sleeper::default();
            let attempt;
            (fetch, attempt) = fetch.read(Fetch::attempt).await;
            if attempt.is_enough(fetch.request.min_bytes) || Instant::now() >= deadline {
                return attempt.response;
            }
            fetch.wake_for_news(&sleeper);
            // Once more: something may have been published before the sleeper was known.
            let attempt;
            (fetch, attempt) = fetch.read(Fetch::attempt).await;
            if attempt.is_enough(fetch.request.min_bytes) {
                return attempt.response;
            }
            let waiting = metrics::all().fetches_waiting.hold(1);
            if tokio::time::timeout_at(deadline, sleeper.notified()).await.is_err() {
                return fetch.read(Fetch::attempt).await.1.response;
            }
            drop(waiting);
            (fetch, ()) = fetch.read(Fetch::look_again).await;
        }
    }

    /// On this worker, or aside when it would have to wait for the disk.
    async fn read<T: Send + 'static>(self, read: fn(&mut Fetch) -> T) -> (Fetch, T) {
        self.broker.clone().read(self, read).await
    }

    fn open_topics(&mut self) {
        let topics = self.request.topics.iter().map(|t| readable(&self.broker, t, self.version)).collect();
        self.topics = topics;
    }

    /// An open stream may be sealed by now, and its name then means the commit; and a feed may be deleted.
    fn look_again(&mut self) {
        for (topic, wanted) in self.topics.iter_mut().zip(&self.request.topics) {
            let Ok(readable) = topic else { continue };
            if self.broker.catalog().by_id(readable.feed.id).is_some() {
                readable.reopen(&self.broker);
                continue;
            }
            *topic = Err(match wanted.topic_id.is_nil() {
                true => ResponseError::UnknownTopicOrPartition,
                false => ResponseError::UnknownTopicId,
            });
        }
    }

    fn wake_for_news(&self, sleeper: &Sleeper) {
        for (topic, readable) in self.request.topics.iter().zip(&self.topics) {
            let Ok(readable) = readable else { continue };
            readable.feed.wake_for_history(sleeper);
            if readable.view.is_filtered() {
                readable.feed.wake_for_index(sleeper);
            }
            for partition in &topic.partitions {
                if let Some(id) = topic::partition_id(partition.partition) {
                    readable.feed.wake_for(id, sleeper);
                }
            }
        }
    }

    fn attempt(&mut self) -> Attempt {
        let mut attempt = Attempt::default();
        let begun = Instant::now();
        let allowed = usize::try_from(self.request.max_bytes).unwrap_or(0);
        let mut room = allowed.min(self.broker.settings().typed().fetch_bytes_max);
        for (topic, readable) in self.request.topics.iter().zip(&self.topics) {
            let mut partitions = Vec::with_capacity(topic.partitions.len());
            let mut reader = readable.as_ref().map(|readable| (readable, readable.view.reader()));
            for wanted in &topic.partitions {
                let at_least_one = attempt.bytes == 0;
                if !at_least_one && begun.elapsed() > LOOK_MAX {
                    room = 0;
                }
                let answer = match &mut reader {
                    Ok((readable, reader)) => self.partition(readable, reader, wanted, room, at_least_one),
                    Err(error) => refused(wanted.partition, **error, None),
                };
                let bytes = answer.records_len();
                room = room.saturating_sub(bytes);
                attempt.bytes += bytes;
                attempt.failed |= answer.error_code != 0;
                partitions.push(answer);
            }
            let name = topic.topic.0.to_string();
            attempt.response.topics.push(TopicResponse { name, topic_id: topic.topic_id, partitions });
        }
        attempt
    }

    fn partition(
        &self,
        readable: &Readable,
        reader: &mut Reader<'_>,
        wanted: &FetchPartition,
        room: usize,
        at_least_one: bool,
    ) -> PartitionResponse {
        let index = wanted.partition;
        let Some(id) = topic::partition_id(index) else {
            return refused(index, ResponseError::UnknownTopicOrPartition, None);
        };
        if wanted.current_leader_epoch > LEADER_EPOCH {
            return refused(index, ResponseError::UnknownLeaderEpoch, None);
        }
        let max_bytes = room.min(usize::try_from(wanted.partition_max_bytes).unwrap_or(0));
        match reader.read(id, wanted.fetch_offset, Budget { max_bytes, at_least_one }, self.isolation) {
            Ok((bounds, reading)) => {
                let Extremes { high_watermark, last_stable } = readable.view.extremes(id, bounds, wanted.fetch_offset);
                let aborted = reading.aborted.iter().map(to_aborted).collect();
                PartitionResponse {
                    index,
                    high_watermark,
                    last_stable_offset: last_stable,
                    log_start_offset: bounds.start,
                    aborted: (self.isolation == Isolation::ReadCommitted).then_some(aborted),
                    records: reading.parts,
                    ..PartitionResponse::default()
                }
            }
            Err(ViewReadError::OutOfRange { bounds, .. }) => {
                refused(index, ResponseError::OffsetOutOfRange, Some(bounds))
            }
            Err(failure) => refused(index, topic::read_failure(&self.broker, readable, index, &failure), None),
        }
    }
}

#[derive(Default)]
struct Attempt {
    response: FetchResponse,
    bytes: usize,
    failed: bool,
}

impl Attempt {
    fn is_enough(&self, min_bytes: i32) -> bool {
        self.failed || self.bytes >= usize::try_from(min_bytes).unwrap_or(0)
    }
}

fn readable(broker: &Broker, wanted: &FetchTopic, version: i16) -> Result<Readable, ResponseError> {
    let found = match version {
        ..=12 => topic::by_name(broker, &wanted.topic.0),
        _ => topic::by_id(broker, &wanted.topic_id),
    };
    // Consumers know this answer to Fetch as "ask for metadata again", which then gives the reason.
    found.map_err(|refusal| refusal.for_reader())
}

fn to_aborted(row: &AbortedRow) -> AbortedTransaction {
    AbortedTransaction { producer_id: row.producer.0, first_offset: row.first.0 }
}

fn refused(index: i32, error: ResponseError, bounds: Option<Bounds>) -> PartitionResponse {
    PartitionResponse {
        index,
        error_code: error.code(),
        high_watermark: bounds.map_or(-1, |b| b.end),
        last_stable_offset: bounds.map_or(-1, |b| b.end),
        log_start_offset: bounds.map_or(-1, |b| b.start),
        ..PartitionResponse::default()
    }
}

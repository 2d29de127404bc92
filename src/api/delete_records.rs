//! DeleteRecords (key 21): the log of a partition begins later. Offset -1 stands for its high watermark.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use kafka_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::resource;
use super::topic::{self, Refusal, unknown_topic};
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};
use crate::model::Offset;
use crate::wire::error;

/// The offset that stands for the high watermark.
const HIGH_WATERMARK: i64 = -1;

/// The low watermark of a partition from which nothing was deleted.
const NO_LOW_WATERMARK: i64 = -1;

/// Answers a DeleteRecords.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DeleteRecordsRequest) -> Reply {
    let (broker, answer) = (broker.clone(), context.answerer());
    Reply::later(async move {
        let mut topics = Vec::with_capacity(request.topics.len());
        for topic in &request.topics {
            topics.push(delete_from_topic(&broker, topic).await);
        }
        answer.encode(&DeleteRecordsResponse::default().with_topics(topics))
    })
}

async fn delete_from_topic(broker: &Broker, topic: &DeleteRecordsTopic) -> DeleteRecordsTopicResult {
    let feed = resource::feed_to_change(broker, &topic.name).and_then(deletable);
    let mut partitions = Vec::with_capacity(topic.partitions.len());
    for wanted in &topic.partitions {
        let deleted = match &feed {
            Ok(feed) => delete(broker, feed, wanted).await,
            Err(refusal) => Err(refusal.clone()),
        };
        let result = DeleteRecordsPartitionResult::default().with_partition_index(wanted.partition_index);
        partitions.push(match deleted {
            Ok(low_watermark) => result.with_low_watermark(low_watermark),
            Err(Refusal { error, message }) => {
                // The answer has no room for the reason.
                tracing::info!(topic = %topic.name.0, partition = wanted.partition_index, message, "no records deleted");
                result.with_low_watermark(NO_LOW_WATERMARK).with_error_code(error.code())
            }
        });
    }
    DeleteRecordsTopicResult::default().with_name(topic.name.clone()).with_partitions(partitions)
}

/// As in Kafka, records of a topic that is only compacted are not deleted.
fn deletable(feed: Arc<FeedHandle>) -> Result<Arc<FeedHandle>, Refusal> {
    if feed.config().settings.delete {
        return Ok(feed);
    }
    let message = format!("cleanup.policy of {} has no delete, so that its records cannot be deleted", feed.name);
    Err(Refusal { error: ResponseError::PolicyViolation, message })
}

async fn delete(broker: &Broker, feed: &FeedHandle, wanted: &DeleteRecordsPartition) -> Result<i64, Refusal> {
    let partition = topic::partition_id(wanted.partition_index).ok_or_else(unknown_topic)?;
    let deleted = broker.delete_records(feed, partition, below(wanted.offset)?.map(Offset)).await;
    deleted.map(|start| start.0).map_err(|error| Refusal { error: error::of_trim(&error), message: error.to_string() })
}

fn below(offset: i64) -> Result<Option<i64>, Refusal> {
    match offset {
        HIGH_WATERMARK => Ok(None),
        0.. => Ok(Some(offset)),
        _ => Err(Refusal {
            error: ResponseError::OffsetOutOfRange,
            message: format!("offset {offset} is none; {HIGH_WATERMARK} stands for the high watermark"),
        }),
    }
}

//! DeleteRecords (key 21): the log of a partition begins later, or, on `<feed>..commits`, the history of a feed: whole
//! commits are dropped with all their records. Offset -1 stands for the high watermark.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use kafka_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::resource;
use super::topic::{self, Refusal, unknown_topic};
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};
use crate::model::{CommitNumber, Offset};
use crate::view::name::{self, TopicName};
use crate::view::{Selector, ViewName};
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

/// What may begin later.
enum Target {
    Log(Arc<FeedHandle>),
    Commits(Arc<FeedHandle>),
}

async fn delete_from_topic(broker: &Broker, topic: &DeleteRecordsTopic) -> DeleteRecordsTopicResult {
    let target = target(broker, &topic.name);
    let mut partitions = Vec::with_capacity(topic.partitions.len());
    for wanted in &topic.partitions {
        let deleted = match &target {
            Ok(Target::Log(feed)) => delete(broker, feed, wanted).await,
            Ok(Target::Commits(feed)) => drop_commits(broker, feed, wanted).await,
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

fn target(broker: &Broker, name: &str) -> Result<Target, Refusal> {
    match name::parse_topic(name) {
        Ok(TopicName::View(ViewName { feed, selector: Selector::CommitLog, .. })) => {
            resource::feed_to_change(broker, &feed)
                .and_then(topic::not_an_alias)
                .and_then(deletable)
                .map(Target::Commits)
        }
        _ => resource::feed_to_change(broker, name).and_then(topic::not_an_alias).and_then(deletable).map(Target::Log),
    }
}

/// As in Kafka, records of a topic that is only compacted are not deleted.
fn deletable(feed: Arc<FeedHandle>) -> Result<Arc<FeedHandle>, Refusal> {
    if feed.config().settings.delete {
        return Ok(feed);
    }
    let message = format!("cleanup.policy of {} has no delete, so that its records cannot be deleted", feed.name);
    Err(Refusal { error: ResponseError::PolicyViolation, message })
}

async fn delete(broker: &Broker, feed: &Arc<FeedHandle>, wanted: &DeleteRecordsPartition) -> Result<i64, Refusal> {
    let partition = topic::partition_id(wanted.partition_index).ok_or_else(unknown_topic)?;
    let deleted = broker.delete_records(feed, partition, below(wanted.offset)?.map(Offset)).await;
    deleted.map(|start| start.0).map_err(|error| Refusal { error: error::of_trim(&error), message: error.to_string() })
}

async fn drop_commits(
    broker: &Broker,
    feed: &Arc<FeedHandle>,
    wanted: &DeleteRecordsPartition,
) -> Result<i64, Refusal> {
    if wanted.partition_index != 0 {
        return Err(unknown_topic());
    }
    let deleted = broker.delete_commits(feed, below(wanted.offset)?.map(CommitNumber)).await;
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

//! DescribeLogDirs (key 35): the data folder, what each partition takes there, and the room on its volume.
//!
//! User interfaces ask for it before they call a broker healthy. Views take no room of their own and are not listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use kafka_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use kafka_protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse};
use kafka_protocol::protocol::StrBytes;

use super::metadata::topic_name;
use super::{Reply, RequestContext, topic};
use crate::broker::{Broker, FeedHandle};
use crate::model::PartitionId;
use crate::store::FileError;

/// First version with the volume's size.
const VOLUME_SINCE: i16 = 4;

/// What is said of a size that is not known.
const UNKNOWN: i64 = -1;

/// Answers a DescribeLogDirs.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeLogDirsRequest) -> Reply {
    let broker = broker.clone();
    let version = context.version;
    context.made_aside(broker.clone(), move || {
        let dir = data_dir(&broker, &request, version);
        DescribeLogDirsResponse::default().with_results(vec![dir])
    })
}

fn data_dir(broker: &Broker, request: &DescribeLogDirsRequest, version: i16) -> DescribeLogDirsResult {
    let name = StrBytes::from_string(broker.data_dir().to_string_lossy().into_owned());
    let dir = DescribeLogDirsResult::default().with_log_dir(name);
    let dir = match topics(broker, request) {
        Ok(topics) => dir.with_topics(topics),
        Err(error) => {
            tracing::error!(%error, "the sizes of partitions cannot be told");
            dir.with_error_code(ResponseError::KafkaStorageError.code())
        }
    };
    if version < VOLUME_SINCE {
        return dir;
    }
    dir.with_total_bytes(volume(broker.volume_bytes())).with_usable_bytes(volume(broker.free_bytes()))
}

fn volume(bytes: Result<u64, FileError>) -> i64 {
    match bytes {
        Ok(bytes) => i64::try_from(bytes).unwrap_or(i64::MAX),
        Err(error) => {
            tracing::warn!(%error, "the size of the volume cannot be told");
            UNKNOWN
        }
    }
}

fn topics(broker: &Broker, request: &DescribeLogDirsRequest) -> Result<Vec<DescribeLogDirsTopic>, FileError> {
    match &request.topics {
        None => broker.catalog().all().iter().map(|feed| sizes(feed, 0..feed.partitions())).collect(),
        Some(asked) => asked.iter().filter_map(|topic| asked_sizes(broker, topic)).collect(),
    }
}

/// None for a topic that stores nothing here; partitions that are not there are left out too.
fn asked_sizes(broker: &Broker, asked: &DescribableLogDirTopic) -> Option<Result<DescribeLogDirsTopic, FileError>> {
    let feed = broker.catalog().by_name(&asked.topic)?;
    let indexes: BTreeSet<u32> =
        asked.partitions.iter().filter_map(|index| Some(topic::partition_id(*index)?.0)).collect();
    Some(sizes(&feed, indexes.into_iter()))
}

fn sizes(feed: &FeedHandle, indexes: impl Iterator<Item = u32>) -> Result<DescribeLogDirsTopic, FileError> {
    let mut partitions = Vec::new();
    for index in indexes {
        let Some(files) = feed.files.partition(PartitionId(index)) else { continue };
        let size = match files.log_bytes() {
            Ok(size) => size,
            // The feed is being deleted.
            Err(error) if error.is_absence() => continue,
            Err(error) => return Err(error),
        };
        partitions.push(
            DescribeLogDirsPartition::default()
                .with_partition_index(index as i32)
                .with_partition_size(i64::try_from(size).unwrap_or(i64::MAX)),
        );
    }
    Ok(DescribeLogDirsTopic::default().with_name(topic_name(&feed.name)).with_partitions(partitions))
}

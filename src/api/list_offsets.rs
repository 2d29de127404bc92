//! ListOffsets (key 2): where a partition begins and ends, and what stands there at a time.

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use kafka_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};
use kafka_protocol::protocol::Message;

use super::node::LEADER_EPOCH;
use super::topic::{self, Readable};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::Timestamp;
use crate::view::{Found, Isolation, Reader};

/// Special timestamps of the protocol.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

/// Answers a ListOffsets in any version that is served.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, body: Bytes) -> Reply {
    let layout = context.as_version(context.version.min(ListOffsetsRequest::VERSIONS.max));
    match super::decode(&layout, body) {
        Ok(request) => {
            let (broker, version, by_time) = (broker.clone(), context.version, asks_by_time(&request));
            layout.looked_up(broker.clone(), by_time, move || answer_all(&broker, &request, version))
        }
        Err(close) => Reply::Close(close),
    }
}

/// Records are decompressed to find a time among them, so that nobody knows how long it takes.
fn asks_by_time(request: &ListOffsetsRequest) -> bool {
    let mut partitions = request.topics.iter().flat_map(|topic| &topic.partitions);
    partitions.any(|partition| partition.timestamp >= 0 || partition.timestamp == MAX_TIMESTAMP)
}

fn answer_all(broker: &Broker, request: &ListOffsetsRequest, version: i16) -> ListOffsetsResponse {
    let isolation = topic::isolation(request.isolation_level);
    let topics = request.topics.iter().map(|t| answer_topic(broker, t, isolation, version)).collect();
    ListOffsetsResponse::default().with_topics(topics)
}

fn answer_topic(
    broker: &Broker,
    wanted: &ListOffsetsTopic,
    isolation: Isolation,
    version: i16,
) -> ListOffsetsTopicResponse {
    let readable = topic::by_name(broker, &wanted.name.0).map_err(|refusal| refusal.for_reader());
    let mut reader = readable.as_ref().map(|readable| (readable, readable.view.reader()));
    let partitions = wanted.partitions.iter().map(|partition| {
        let index = partition.partition_index;
        let found = match &mut reader {
            Ok((readable, reader)) => find(broker, readable, reader, partition, isolation, version),
            Err(error) => Err(**error),
        };
        match found {
            Ok(found) => answer(index, found, version),
            Err(error) => refused(index, error),
        }
    });
    ListOffsetsTopicResponse::default().with_name(wanted.name.clone()).with_partitions(partitions.collect())
}

fn find(
    broker: &Broker,
    readable: &Readable,
    reader: &mut Reader<'_>,
    wanted: &ListOffsetsPartition,
    isolation: Isolation,
    version: i16,
) -> Result<Option<Found>, ResponseError> {
    if version < first_version(wanted.timestamp) {
        return Err(ResponseError::UnsupportedVersion);
    }
    let id = topic::partition_id(wanted.partition_index).ok_or(ResponseError::UnknownTopicOrPartition)?;
    if wanted.current_leader_epoch > LEADER_EPOCH {
        return Err(ResponseError::UnknownLeaderEpoch);
    }
    let found = match wanted.timestamp {
        LATEST => reader.bounds(id, isolation).map(|bounds| Some(untimed(bounds.end))),
        EARLIEST | EARLIEST_LOCAL => reader.bounds(id, isolation).map(|bounds| Some(untimed(bounds.start))),
        MAX_TIMESTAMP => reader.newest(id, isolation),
        time if time >= 0 => reader.find_time(id, Timestamp(time), isolation),
        // Tiered offsets: there is nothing of the kind here.
        _ => reader.bounds(id, isolation).map(|_| None),
    };
    found.map_err(|failure| topic::read_failure(broker, readable, wanted.partition_index, &failure))
}

/// The version from which on a time may be asked for; Kafka refuses special times in older versions, as unknown ones.
fn first_version(timestamp: i64) -> i16 {
    match timestamp {
        MAX_TIMESTAMP => 7,
        EARLIEST_LOCAL => 8,
        LATEST_TIERED => 9,
        EARLIEST_PENDING_UPLOAD => 11,
        LATEST.. | EARLIEST => 0,
        _ => i16::MAX,
    }
}

fn untimed(offset: i64) -> Found {
    Found { offset, timestamp: Timestamp(-1) }
}

fn answer(index: i32, found: Option<Found>, version: i16) -> ListOffsetsPartitionResponse {
    let epoch = if version >= 4 && found.is_some() { LEADER_EPOCH } else { -1 };
    let found = found.unwrap_or(untimed(-1));
    ListOffsetsPartitionResponse::default()
        .with_partition_index(index)
        .with_timestamp(found.timestamp.0)
        .with_offset(found.offset)
        .with_leader_epoch(epoch)
}

fn refused(index: i32, error: ResponseError) -> ListOffsetsPartitionResponse {
    ListOffsetsPartitionResponse::default()
        .with_partition_index(index)
        .with_error_code(error.code())
        .with_timestamp(-1)
        .with_offset(-1)
        .with_leader_epoch(-1)
}

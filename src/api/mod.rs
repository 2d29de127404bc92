//! THE TABLE: every API that is served, its versions and its handler. ApiVersions, dispatch and metrics derive from it.
//!
//! A new API is a file `<name>.rs` and a row. Its versions come from the message type itself, never from
//! `ApiKey::valid_versions`, which names versions that the decoder does not know, and from a cap of ours.

mod alter_configs;
mod api_versions;
mod create_partitions;
mod create_topics;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_topic_partitions;
mod described;
mod fetch;
mod find_coordinator;
mod incremental_alter_configs;
mod init_producer_id;
mod list_offsets;
mod metadata;
mod node;
mod offset_for_leader_epoch;
mod produce;
mod repeated;
mod reply;
mod resource;
mod seal;
mod topic;

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::messages::{
    AlterConfigsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, DescribeClusterRequest,
    DescribeConfigsRequest, DescribeTopicPartitionsRequest, FetchRequest, FindCoordinatorRequest,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, ListOffsetsRequest, MetadataRequest,
    OffsetForLeaderEpochRequest, ProduceRequest,
};
use kafka_protocol::protocol::{Decodable, Message, VersionRange};

pub use self::reply::{Close, ConnectionInfo, Reply, RequestContext};
use crate::broker::Broker;
use crate::metrics;
use crate::wire::guard;
use crate::wire::header::{self, RequestStart};
use crate::wire::schema::{self, Schema};

/// An API that is served.
pub struct Api {
    pub key: i16,
    pub name: &'static str,
    /// Versions that are served.
    pub min: i16,
    pub max: i16,
    /// The lowest version that ApiVersions names.
    pub advertised_min: i16,
    pub schema: &'static Schema,
    handler: Handler,
}

type Handler = fn(&Arc<Broker>, &RequestContext<'_>, Bytes) -> Reply;

/// A row whose request `kafka-protocol` decodes.
macro_rules! api {
    ($key:literal, $name:literal, $request:ty, $schema:ident, $handler:path) => {
        Api {
            key: $key,
            name: $name,
            min: <$request>::VERSIONS.min,
            max: <$request>::VERSIONS.max,
            advertised_min: <$request>::VERSIONS.min,
            schema: &schema::$schema,
            handler: |broker, context, body| match decode::<$request>(context, body) {
                Ok(request) => $handler(broker, context, request),
                Err(close) => Reply::Close(close),
            },
        }
    };
}

/// Produce is listed from 0 on, as Kafka does: without version 0 librdkafka before 2.11.1 believes that no compression is
/// served, and sends without. It ends at 11: clients take 12 as a promise of the second transaction protocol.
const PRODUCE: Api = Api {
    key: 0,
    name: "Produce",
    min: ProduceRequest::VERSIONS.min,
    max: least(ProduceRequest::VERSIONS, 11),
    advertised_min: 0,
    schema: &schema::PRODUCE,
    handler: produce::handle,
};

/// Version 5 is version 4 and two fields of the request.
const API_VERSIONS: Api = Api {
    key: 18,
    name: "ApiVersions",
    min: 0,
    max: 5,
    advertised_min: 0,
    schema: &schema::API_VERSIONS,
    handler: api_versions::handle,
};

/// All of them, by key.
pub static TABLE: &[Api] = &[
    PRODUCE,
    api!(1, "Fetch", FetchRequest, FETCH, fetch::handle),
    api!(2, "ListOffsets", ListOffsetsRequest, LIST_OFFSETS, list_offsets::handle),
    api!(3, "Metadata", MetadataRequest, METADATA, metadata::handle),
    api!(10, "FindCoordinator", FindCoordinatorRequest, FIND_COORDINATOR, find_coordinator::handle),
    API_VERSIONS,
    api!(19, "CreateTopics", CreateTopicsRequest, CREATE_TOPICS, create_topics::handle),
    api!(20, "DeleteTopics", DeleteTopicsRequest, DELETE_TOPICS, delete_topics::handle),
    api!(22, "InitProducerId", InitProducerIdRequest, INIT_PRODUCER_ID, init_producer_id::handle),
    api!(
        23,
        "OffsetForLeaderEpoch",
        OffsetForLeaderEpochRequest,
        OFFSET_FOR_LEADER_EPOCH,
        offset_for_leader_epoch::handle
    ),
    api!(32, "DescribeConfigs", DescribeConfigsRequest, DESCRIBE_CONFIGS, describe_configs::handle),
    api!(33, "AlterConfigs", AlterConfigsRequest, ALTER_CONFIGS, alter_configs::handle),
    api!(37, "CreatePartitions", CreatePartitionsRequest, CREATE_PARTITIONS, create_partitions::handle),
    api!(
        44,
        "IncrementalAlterConfigs",
        IncrementalAlterConfigsRequest,
        INCREMENTAL_ALTER_CONFIGS,
        incremental_alter_configs::handle
    ),
    api!(60, "DescribeCluster", DescribeClusterRequest, DESCRIBE_CLUSTER, describe_cluster::handle),
    api!(
        75,
        "DescribeTopicPartitions",
        DescribeTopicPartitionsRequest,
        DESCRIBE_TOPIC_PARTITIONS,
        describe_topic_partitions::handle
    ),
];

impl Api {
    /// True when requests of that version are answered.
    pub fn serves(&self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// True when the response's header has a section of tags. That of ApiVersions never has: its reader does not know yet
    /// which versions the broker speaks.
    pub fn response_is_tagged(&self, version: i16) -> bool {
        self.key != API_VERSIONS.key && self.schema.is_flexible(version)
    }
}

/// The row of a key.
pub fn find(key: i16) -> Option<&'static Api> {
    TABLE.iter().find(|api| api.key == key)
}

/// Answers the request in a frame.
pub fn handle(broker: &Arc<Broker>, connection: &ConnectionInfo, frame: Bytes) -> Reply {
    dispatch(broker, connection, frame).unwrap_or_else(|close| {
        metrics::all().connections_broken.increment();
        Reply::Close(close)
    })
}

fn dispatch(broker: &Arc<Broker>, connection: &ConnectionInfo, frame: Bytes) -> Result<Reply, Close> {
    let start @ RequestStart { key, version, correlation_id } = RequestStart::read(&frame)?;
    metrics::all().requests.of(key).increment();
    let Some(api) = find(key).filter(|api| api.serves(version)) else { return unserved(start, connection) };
    let (client_id, body) = header::split_body(frame, api.schema.is_flexible(version))?;
    let context = RequestContext { api, version, correlation_id, client_id, connection };
    Ok((api.handler)(broker, &context, body))
}

/// A client may ask for a version of ApiVersions that is too new, and is then told which there are. Any other unknown
/// request closes the connection, as there is no body that its client would understand.
fn unserved(start: RequestStart, connection: &ConnectionInfo) -> Result<Reply, Close> {
    let RequestStart { key, version, correlation_id } = start;
    match find(key) {
        Some(api) if api.key == API_VERSIONS.key => {
            let context = RequestContext { api, version: 0, correlation_id, client_id: None, connection };
            Ok(api_versions::unsupported(&context))
        }
        Some(api) => Err(Close::new(format!("{} version {version} is not served", api.name))),
        None => Err(Close::new(format!("API key {key} (version {version}) is not served"))),
    }
}

/// Decodes what the guard has passed.
fn decode<R: Decodable>(context: &RequestContext<'_>, mut body: Bytes) -> Result<R, Close> {
    guard::check(context.api.schema, context.version, &body).map_err(|error| context.close(error))?;
    R::decode(&mut body, context.version).map_err(|error| context.close(error))
}

const fn least(versions: VersionRange, cap: i16) -> i16 {
    if versions.max < cap { versions.max } else { cap }
}

#[cfg(test)]
mod tests;

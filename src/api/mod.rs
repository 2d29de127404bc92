//! THE TABLE: every API that is served, its versions and its handler. ApiVersions, dispatch and metrics derive from it.
//!
//! A new API is a file `<name>.rs` and a row. Its versions come from the message type itself, never from
//! `ApiKey::valid_versions`, which names versions that the decoder does not know, and from a cap of ours.

mod about;
mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod alter_configs;
mod alter_partition_reassignments;
mod api_versions;
mod asked_positions;
mod consumer_group_describe;
mod consumer_group_heartbeat;
mod create_acls;
mod create_partitions;
mod create_topics;
mod delete_acls;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_acls;
mod describe_client_quotas;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_topic_partitions;
mod describe_transactions;
mod describe_user_scram_credentials;
mod described;
mod elect_leaders;
mod end_txn;
mod fetch;
mod find_coordinator;
mod group;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_config_resources;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod list_transactions;
mod listed_transaction;
mod metadata;
mod node;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod repeated;
mod reply;
mod resource;
mod seal;
mod sync_group;
mod topic;
mod transactional;
mod txn_offset_commit;
mod update_features;
mod write_txn_markers;

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, AlterConfigsRequest, AlterPartitionReassignmentsRequest,
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest, CreatePartitionsRequest,
    CreateTopicsRequest, DeleteAclsRequest, DeleteGroupsRequest, DeleteRecordsRequest, DeleteTopicsRequest,
    DescribeAclsRequest, DescribeClientQuotasRequest, DescribeClusterRequest, DescribeConfigsRequest,
    DescribeGroupsRequest, DescribeLogDirsRequest, DescribeProducersRequest, DescribeTopicPartitionsRequest,
    DescribeTransactionsRequest, DescribeUserScramCredentialsRequest, ElectLeadersRequest, EndTxnRequest, FetchRequest,
    FindCoordinatorRequest, HeartbeatRequest, IncrementalAlterConfigsRequest, InitProducerIdRequest, JoinGroupRequest,
    LeaveGroupRequest, ListConfigResourcesRequest, ListGroupsRequest, ListOffsetsRequest,
    ListPartitionReassignmentsRequest, ListTransactionsRequest, MetadataRequest, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, OffsetForLeaderEpochRequest, ProduceRequest, SyncGroupRequest,
    TxnOffsetCommitRequest, UpdateFeaturesRequest, WriteTxnMarkersRequest,
};
use kafka_protocol::protocol::{Decodable, Message};

pub use self::about::{ABOUT_TAG, About};
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
/// served, and sends without.
const PRODUCE: Api = Api {
    key: 0,
    name: "Produce",
    min: ProduceRequest::VERSIONS.min,
    max: ProduceRequest::VERSIONS.max,
    advertised_min: 0,
    schema: &schema::PRODUCE,
    handler: produce::handle,
};

/// From version 4 on it is what the brokers of a cluster say to each other; clients that see those versions use them.
const ADD_PARTITIONS_TO_TXN: Api = Api {
    key: 24,
    name: "AddPartitionsToTxn",
    min: AddPartitionsToTxnRequest::VERSIONS.min,
    max: 3,
    advertised_min: AddPartitionsToTxnRequest::VERSIONS.min,
    schema: &schema::ADD_PARTITIONS_TO_TXN,
    handler: |broker, context, body| match decode(context, body) {
        Ok(request) => add_partitions_to_txn::handle(broker, context, request),
        Err(close) => Reply::Close(close),
    },
};

/// Version 11 is version 10 to a client that may ask for one special timestamp more.
const LIST_OFFSETS: Api = Api {
    key: 2,
    name: "ListOffsets",
    min: ListOffsetsRequest::VERSIONS.min,
    max: 11,
    advertised_min: ListOffsetsRequest::VERSIONS.min,
    schema: &schema::LIST_OFFSETS,
    handler: list_offsets::handle,
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
    LIST_OFFSETS,
    api!(3, "Metadata", MetadataRequest, METADATA, metadata::handle),
    api!(8, "OffsetCommit", OffsetCommitRequest, OFFSET_COMMIT, offset_commit::handle),
    api!(9, "OffsetFetch", OffsetFetchRequest, OFFSET_FETCH, offset_fetch::handle),
    api!(10, "FindCoordinator", FindCoordinatorRequest, FIND_COORDINATOR, find_coordinator::handle),
    api!(11, "JoinGroup", JoinGroupRequest, JOIN_GROUP, join_group::handle),
    api!(12, "Heartbeat", HeartbeatRequest, HEARTBEAT, heartbeat::handle),
    api!(13, "LeaveGroup", LeaveGroupRequest, LEAVE_GROUP, leave_group::handle),
    api!(14, "SyncGroup", SyncGroupRequest, SYNC_GROUP, sync_group::handle),
    api!(15, "DescribeGroups", DescribeGroupsRequest, DESCRIBE_GROUPS, describe_groups::handle),
    api!(16, "ListGroups", ListGroupsRequest, LIST_GROUPS, list_groups::handle),
    API_VERSIONS,
    api!(19, "CreateTopics", CreateTopicsRequest, CREATE_TOPICS, create_topics::handle),
    api!(20, "DeleteTopics", DeleteTopicsRequest, DELETE_TOPICS, delete_topics::handle),
    api!(21, "DeleteRecords", DeleteRecordsRequest, DELETE_RECORDS, delete_records::handle),
    api!(22, "InitProducerId", InitProducerIdRequest, INIT_PRODUCER_ID, init_producer_id::handle),
    api!(
        23,
        "OffsetForLeaderEpoch",
        OffsetForLeaderEpochRequest,
        OFFSET_FOR_LEADER_EPOCH,
        offset_for_leader_epoch::handle
    ),
    ADD_PARTITIONS_TO_TXN,
    api!(25, "AddOffsetsToTxn", AddOffsetsToTxnRequest, ADD_OFFSETS_TO_TXN, add_offsets_to_txn::handle),
    api!(26, "EndTxn", EndTxnRequest, END_TXN, end_txn::handle),
    api!(27, "WriteTxnMarkers", WriteTxnMarkersRequest, WRITE_TXN_MARKERS, write_txn_markers::handle),
    api!(28, "TxnOffsetCommit", TxnOffsetCommitRequest, TXN_OFFSET_COMMIT, txn_offset_commit::handle),
    api!(29, "DescribeAcls", DescribeAclsRequest, DESCRIBE_ACLS, describe_acls::handle),
    api!(30, "CreateAcls", CreateAclsRequest, CREATE_ACLS, create_acls::handle),
    api!(31, "DeleteAcls", DeleteAclsRequest, DELETE_ACLS, delete_acls::handle),
    api!(32, "DescribeConfigs", DescribeConfigsRequest, DESCRIBE_CONFIGS, describe_configs::handle),
    api!(33, "AlterConfigs", AlterConfigsRequest, ALTER_CONFIGS, alter_configs::handle),
    api!(35, "DescribeLogDirs", DescribeLogDirsRequest, DESCRIBE_LOG_DIRS, describe_log_dirs::handle),
    api!(37, "CreatePartitions", CreatePartitionsRequest, CREATE_PARTITIONS, create_partitions::handle),
    api!(42, "DeleteGroups", DeleteGroupsRequest, DELETE_GROUPS, delete_groups::handle),
    api!(43, "ElectLeaders", ElectLeadersRequest, ELECT_LEADERS, elect_leaders::handle),
    api!(
        44,
        "IncrementalAlterConfigs",
        IncrementalAlterConfigsRequest,
        INCREMENTAL_ALTER_CONFIGS,
        incremental_alter_configs::handle
    ),
    api!(
        45,
        "AlterPartitionReassignments",
        AlterPartitionReassignmentsRequest,
        ALTER_PARTITION_REASSIGNMENTS,
        alter_partition_reassignments::handle
    ),
    api!(
        46,
        "ListPartitionReassignments",
        ListPartitionReassignmentsRequest,
        LIST_PARTITION_REASSIGNMENTS,
        list_partition_reassignments::handle
    ),
    api!(47, "OffsetDelete", OffsetDeleteRequest, OFFSET_DELETE, offset_delete::handle),
    api!(
        48,
        "DescribeClientQuotas",
        DescribeClientQuotasRequest,
        DESCRIBE_CLIENT_QUOTAS,
        describe_client_quotas::handle
    ),
    api!(
        50,
        "DescribeUserScramCredentials",
        DescribeUserScramCredentialsRequest,
        DESCRIBE_USER_SCRAM_CREDENTIALS,
        describe_user_scram_credentials::handle
    ),
    api!(57, "UpdateFeatures", UpdateFeaturesRequest, UPDATE_FEATURES, update_features::handle),
    api!(60, "DescribeCluster", DescribeClusterRequest, DESCRIBE_CLUSTER, describe_cluster::handle),
    api!(61, "DescribeProducers", DescribeProducersRequest, DESCRIBE_PRODUCERS, describe_producers::handle),
    api!(65, "DescribeTransactions", DescribeTransactionsRequest, DESCRIBE_TRANSACTIONS, describe_transactions::handle),
    api!(66, "ListTransactions", ListTransactionsRequest, LIST_TRANSACTIONS, list_transactions::handle),
    api!(
        68,
        "ConsumerGroupHeartbeat",
        ConsumerGroupHeartbeatRequest,
        CONSUMER_GROUP_HEARTBEAT,
        consumer_group_heartbeat::handle
    ),
    api!(
        69,
        "ConsumerGroupDescribe",
        ConsumerGroupDescribeRequest,
        CONSUMER_GROUP_DESCRIBE,
        consumer_group_describe::handle
    ),
    api!(74, "ListConfigResources", ListConfigResourcesRequest, LIST_CONFIG_RESOURCES, list_config_resources::handle),
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

#[cfg(test)]
mod tests;

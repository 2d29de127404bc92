//! A broker in memory, and a client that speaks to it in frames.

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse,
    AlterConfigsRequest, AlterConfigsResponse, AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
    ApiVersionsRequest, ApiVersionsResponse, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, CreateAclsRequest, CreateAclsResponse,
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse, DeleteAclsRequest,
    DeleteAclsResponse, DeleteGroupsRequest, DeleteGroupsResponse, DeleteRecordsRequest, DeleteRecordsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse, DescribeAclsRequest, DescribeAclsResponse, DescribeClientQuotasRequest,
    DescribeClientQuotasResponse, DescribeClusterRequest, DescribeClusterResponse, DescribeConfigsRequest,
    DescribeConfigsResponse, DescribeGroupsRequest, DescribeGroupsResponse, DescribeLogDirsRequest,
    DescribeLogDirsResponse, DescribeProducersRequest, DescribeProducersResponse, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, DescribeTransactionsRequest, DescribeTransactionsResponse,
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, ElectLeadersRequest,
    ElectLeadersResponse, EndTxnRequest, EndTxnResponse, FetchRequest, FetchResponse, FindCoordinatorRequest,
    FindCoordinatorResponse, HeartbeatRequest, HeartbeatResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse, InitProducerIdRequest, InitProducerIdResponse, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse, ListConfigResourcesRequest, ListConfigResourcesResponse,
    ListGroupsRequest, ListGroupsResponse, ListOffsetsRequest, ListOffsetsResponse, ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse, ListTransactionsRequest, ListTransactionsResponse, MetadataRequest,
    MetadataResponse, OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest, OffsetDeleteResponse,
    OffsetFetchRequest, OffsetFetchResponse, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, ProduceRequest,
    ProduceResponse, SyncGroupRequest, SyncGroupResponse, TxnOffsetCommitRequest, TxnOffsetCommitResponse,
    UpdateFeaturesRequest, UpdateFeaturesResponse, WriteTxnMarkersRequest, WriteTxnMarkersResponse,
};
use kafka_protocol::protocol::{Decodable, Encodable, Message};

use super::super::{Close, ConnectionInfo, Reply, find, handle};
use crate::broker::Broker;
use crate::config::{ServerConfig, Sources};
use crate::disk::{FaultyDisk, ManualClock};

const CORRELATION_ID: i32 = 77;

/// A request that knows its key and its answer.
pub trait Request: Encodable + Message {
    const KEY: i16;
    type Response: Decodable + Message;
}

macro_rules! requests {
    ($($key:literal $request:ty => $response:ty,)*) => {
        $(impl Request for $request {
            const KEY: i16 = $key;
            type Response = $response;
        })*
    };
}

requests! {
    0 ProduceRequest => ProduceResponse,
    1 FetchRequest => FetchResponse,
    2 ListOffsetsRequest => ListOffsetsResponse,
    3 MetadataRequest => MetadataResponse,
    8 OffsetCommitRequest => OffsetCommitResponse,
    9 OffsetFetchRequest => OffsetFetchResponse,
    10 FindCoordinatorRequest => FindCoordinatorResponse,
    11 JoinGroupRequest => JoinGroupResponse,
    12 HeartbeatRequest => HeartbeatResponse,
    13 LeaveGroupRequest => LeaveGroupResponse,
    14 SyncGroupRequest => SyncGroupResponse,
    15 DescribeGroupsRequest => DescribeGroupsResponse,
    16 ListGroupsRequest => ListGroupsResponse,
    18 ApiVersionsRequest => ApiVersionsResponse,
    19 CreateTopicsRequest => CreateTopicsResponse,
    20 DeleteTopicsRequest => DeleteTopicsResponse,
    21 DeleteRecordsRequest => DeleteRecordsResponse,
    22 InitProducerIdRequest => InitProducerIdResponse,
    23 OffsetForLeaderEpochRequest => OffsetForLeaderEpochResponse,
    24 AddPartitionsToTxnRequest => AddPartitionsToTxnResponse,
    25 AddOffsetsToTxnRequest => AddOffsetsToTxnResponse,
    26 EndTxnRequest => EndTxnResponse,
    27 WriteTxnMarkersRequest => WriteTxnMarkersResponse,
    28 TxnOffsetCommitRequest => TxnOffsetCommitResponse,
    29 DescribeAclsRequest => DescribeAclsResponse,
    30 CreateAclsRequest => CreateAclsResponse,
    31 DeleteAclsRequest => DeleteAclsResponse,
    32 DescribeConfigsRequest => DescribeConfigsResponse,
    33 AlterConfigsRequest => AlterConfigsResponse,
    35 DescribeLogDirsRequest => DescribeLogDirsResponse,
    37 CreatePartitionsRequest => CreatePartitionsResponse,
    42 DeleteGroupsRequest => DeleteGroupsResponse,
    43 ElectLeadersRequest => ElectLeadersResponse,
    44 IncrementalAlterConfigsRequest => IncrementalAlterConfigsResponse,
    45 AlterPartitionReassignmentsRequest => AlterPartitionReassignmentsResponse,
    46 ListPartitionReassignmentsRequest => ListPartitionReassignmentsResponse,
    47 OffsetDeleteRequest => OffsetDeleteResponse,
    48 DescribeClientQuotasRequest => DescribeClientQuotasResponse,
    50 DescribeUserScramCredentialsRequest => DescribeUserScramCredentialsResponse,
    57 UpdateFeaturesRequest => UpdateFeaturesResponse,
    60 DescribeClusterRequest => DescribeClusterResponse,
    61 DescribeProducersRequest => DescribeProducersResponse,
    65 DescribeTransactionsRequest => DescribeTransactionsResponse,
    66 ListTransactionsRequest => ListTransactionsResponse,
    68 ConsumerGroupHeartbeatRequest => ConsumerGroupHeartbeatResponse,
    69 ConsumerGroupDescribeRequest => ConsumerGroupDescribeResponse,
    74 ListConfigResourcesRequest => ListConfigResourcesResponse,
    75 DescribeTopicPartitionsRequest => DescribeTopicPartitionsResponse,
}

pub struct TestBroker {
    pub broker: Arc<Broker>,
    pub clock: Arc<ManualClock>,
    disk: Arc<FaultyDisk>,
    config: ServerConfig,
    connection: ConnectionInfo,
}

impl TestBroker {
    pub fn start() -> TestBroker {
        TestBroker::with(&[])
    }

    /// With configs `key=value` beside the defaults.
    pub fn with(overrides: &[&str]) -> TestBroker {
        let overrides = overrides.iter().map(|text| (*text).to_owned()).chain(["log.dirs=data".to_owned()]).collect();
        let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
        TestBroker::open(Arc::new(FaultyDisk::new()), Arc::new(ManualClock::new(1_767_258_000_000)), config)
    }

    fn open(disk: Arc<FaultyDisk>, clock: Arc<ManualClock>, config: ServerConfig) -> TestBroker {
        let broker = Broker::open(disk.clone(), clock.clone(), config.clone()).unwrap();
        let connection = ConnectionInfo {
            peer: "192.0.2.1:999".parse().unwrap(),
            local: "192.0.2.7:9092".parse().unwrap(),
            listener: "PLAINTEXT".to_owned(),
        };
        TestBroker { broker, clock, disk, config, connection }
    }

    /// Another broker on what this one leaves.
    pub async fn restart(self) -> TestBroker {
        self.broker.shut_down().await.unwrap();
        drop(self.broker);
        TestBroker::open(self.disk, self.clock, self.config)
    }

    /// The answer, which must decode whole in the version asked for.
    pub async fn call<R: Request>(&self, version: i16, request: &R) -> R::Response {
        let mut body = BytesMut::new();
        // Versions that the encoder does not know have the layout of the last that it knows.
        request.encode(&mut body, version.min(R::VERSIONS.max)).unwrap();
        let frame = self.send(R::KEY, version, &body).await.unwrap();
        self.decode::<R>(version, frame)
    }

    pub fn decode<R: Request>(&self, version: i16, mut frame: Bytes) -> R::Response {
        assert_eq!(frame.get_i32() as usize, frame.len());
        assert_eq!(frame.get_i32(), CORRELATION_ID);
        if find(R::KEY).unwrap().response_is_tagged(version) {
            assert_eq!(frame.get_u8(), 0, "key {} version {version}: no section of tags", R::KEY);
        }
        let response = R::Response::decode(&mut frame, version.min(R::Response::VERSIONS.max));
        let response = response.unwrap_or_else(|error| panic!("key {} version {version}: {error}", R::KEY));
        assert!(frame.is_empty(), "key {} version {version}: {} bytes left", R::KEY, frame.len());
        response
    }

    /// Sends a request with that body; gives the answer's frame once it may leave.
    pub async fn send(&self, key: i16, version: i16, body: &[u8]) -> Result<Bytes, Close> {
        let mut frame = BytesMut::new();
        frame.put_i16(key);
        frame.put_i16(version);
        frame.put_i32(CORRELATION_ID);
        frame.put_i16(1);
        frame.put_slice(b"t");
        if find(key).is_some_and(|api| api.schema.is_flexible(version)) {
            frame.put_u8(0);
        }
        frame.put_slice(body);
        let frames = match handle(&self.broker, &self.connection, frame.freeze()) {
            Reply::Ready { frames, durable_at } => {
                self.broker.durable(durable_at).await.unwrap();
                frames
            }
            Reply::Later(making) => making.await?,
            Reply::None => Vec::new(),
            Reply::Close(close) => return Err(close),
        };
        Ok(frames.concat().into())
    }
}

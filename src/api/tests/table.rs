//! What the table promises: versions that are listed are served, others are answered as clients expect.

use bytes::BytesMut;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::describe_user_scram_credentials_request::UserName;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::update_features_request::FeatureUpdateKey;
use kafka_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, AlterConfigsRequest, AlterPartitionReassignmentsRequest,
    ApiVersionsRequest, ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest,
    CreatePartitionsRequest, CreateTopicsRequest, DeleteAclsRequest, DeleteRecordsRequest, DeleteTopicsRequest,
    DescribeAclsRequest, DescribeClientQuotasRequest, DescribeClusterRequest, DescribeConfigsRequest,
    DescribeLogDirsRequest, DescribeProducersRequest, DescribeTopicPartitionsRequest, DescribeTransactionsRequest,
    DescribeUserScramCredentialsRequest, ElectLeadersRequest, EndTxnRequest, FetchRequest, FindCoordinatorRequest,
    GroupId, IncrementalAlterConfigsRequest, InitProducerIdRequest, ListConfigResourcesRequest, ListOffsetsRequest,
    ListPartitionReassignmentsRequest, ListTransactionsRequest, MetadataRequest, OffsetForLeaderEpochRequest,
    ProducerId, TxnOffsetCommitRequest, UpdateFeaturesRequest, WriteTxnMarkersRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::super::metadata::topic_name;
use super::super::{TABLE, find};
use super::TestBroker;
use super::test_broker::Request;

/// Asks in every version that is served; the client's decoder must take each answer whole.
async fn in_every_version<R: Request>(request: impl Fn(i16) -> R) {
    let test = TestBroker::start();
    let api = find(R::KEY).unwrap();
    for version in api.min..=api.max {
        test.call(version, &request(version)).await;
    }
}

#[tokio::test]
async fn every_version_is_answered_in_its_own_layout() {
    in_every_version(|_| FetchRequest::default()).await;
    in_every_version(|_| ListOffsetsRequest::default()).await;
    in_every_version(|version| {
        let named = MetadataRequestTopic::default().with_name(Some(topic_name("orders")));
        let view = MetadataRequestTopic::default().with_name(Some(topic_name("orders..commit-3")));
        let _ = version;
        MetadataRequest::default().with_topics(Some(vec![named, view]))
    })
    .await;
    in_every_version(|version| match version {
        4.. => FindCoordinatorRequest::default().with_coordinator_keys(vec![StrBytes::from_static_str("g")]),
        _ => FindCoordinatorRequest::default().with_key(StrBytes::from_static_str("g")),
    })
    .await;
    in_every_version(|_| {
        let config = CreatableTopicConfig::default()
            .with_name(StrBytes::from_static_str("retention.ms"))
            .with_value(Some(StrBytes::from_static_str("5")));
        let good = CreatableTopic::default().with_name(topic_name("orders")).with_num_partitions(2);
        let good = good.with_replication_factor(1).with_configs(vec![config]);
        let bad = CreatableTopic::default().with_name(topic_name("or..ders"));
        CreateTopicsRequest::default().with_topics(vec![good, bad])
    })
    .await;
    in_every_version(|version| match version {
        6.. => DeleteTopicsRequest::default()
            .with_topics(vec![DeleteTopicState::default().with_name(Some(topic_name("orders")))]),
        _ => DeleteTopicsRequest::default().with_topic_names(vec![topic_name("orders")]),
    })
    .await;
    in_every_version(|_| {
        let partition = DeleteRecordsPartition::default().with_offset(-1);
        let topic = DeleteRecordsTopic::default().with_name(topic_name("orders")).with_partitions(vec![partition]);
        DeleteRecordsRequest::default().with_topics(vec![topic])
    })
    .await;
    in_every_version(|_| InitProducerIdRequest::default().with_transactional_id(None)).await;
    in_every_version(|_| {
        let partition = OffsetForLeaderPartition::default();
        let topic = OffsetForLeaderTopic::default().with_topic(topic_name("orders"));
        OffsetForLeaderEpochRequest::default().with_topics(vec![topic.with_partitions(vec![partition])])
    })
    .await;
    in_every_version(|_| {
        let broker = DescribeConfigsResource::default().with_resource_type(4);
        let broker = broker.with_resource_name(StrBytes::from_static_str("1")).with_configuration_keys(None);
        let topic = DescribeConfigsResource::default().with_resource_type(2);
        let topic = topic.with_resource_name(StrBytes::from_static_str("orders"));
        DescribeConfigsRequest::default().with_resources(vec![broker, topic]).with_include_synonyms(true)
    })
    .await;
    in_every_version(|_| AlterConfigsRequest::default()).await;
    in_every_version(|_| {
        let topic = CreatePartitionsTopic::default().with_name(topic_name("orders")).with_count(3);
        CreatePartitionsRequest::default().with_topics(vec![topic.with_assignments(None)])
    })
    .await;
    in_every_version(|_| IncrementalAlterConfigsRequest::default()).await;
    in_every_version(|_| DescribeClusterRequest::default()).await;
    in_every_version(|_| DescribeTopicPartitionsRequest::default().with_response_partition_limit(9)).await;
}

#[tokio::test]
async fn every_version_of_the_operators_requests_is_answered_in_its_own_layout() {
    let text = StrBytes::from_static_str;
    in_every_version(|_| DescribeAclsRequest::default()).await;
    in_every_version(|_| CreateAclsRequest::default().with_creations(vec![AclCreation::default()])).await;
    in_every_version(|_| DeleteAclsRequest::default().with_filters(vec![DeleteAclsFilter::default()])).await;
    in_every_version(|_| DescribeLogDirsRequest::default().with_topics(None)).await;
    in_every_version(|_| ElectLeadersRequest::default()).await;
    in_every_version(|_| {
        let partition = ReassignablePartition::default().with_replicas(None);
        let topic = ReassignableTopic::default().with_name(topic_name("orders")).with_partitions(vec![partition]);
        AlterPartitionReassignmentsRequest::default().with_topics(vec![topic])
    })
    .await;
    in_every_version(|_| ListPartitionReassignmentsRequest::default()).await;
    in_every_version(|_| DescribeClientQuotasRequest::default()).await;
    in_every_version(|_| {
        DescribeUserScramCredentialsRequest::default()
            .with_users(Some(vec![UserName::default().with_name(text("ann"))]))
    })
    .await;
    in_every_version(|_| {
        let feature = FeatureUpdateKey::default().with_feature(text("metadata.version"));
        UpdateFeaturesRequest::default().with_feature_updates(vec![feature])
    })
    .await;
    in_every_version(|_| {
        let topic = TopicRequest::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
        DescribeProducersRequest::default().with_topics(vec![topic])
    })
    .await;
    in_every_version(|version| match version {
        1.. => ListConfigResourcesRequest::default().with_resource_types(vec![4]),
        _ => ListConfigResourcesRequest::default(),
    })
    .await;
}

#[tokio::test]
async fn every_version_of_the_requests_of_transactions_is_answered_in_its_own_layout() {
    let text = StrBytes::from_static_str;
    in_every_version(|_| {
        let topic = AddPartitionsToTxnTopic::default().with_name(topic_name("orders")).with_partitions(vec![0]);
        AddPartitionsToTxnRequest::default().with_v3_and_below_topics(vec![topic])
    })
    .await;
    in_every_version(|_| AddOffsetsToTxnRequest::default()).await;
    in_every_version(|_| EndTxnRequest::default().with_transactional_id(text("t").into())).await;
    in_every_version(|_| {
        let topic = WritableTxnMarkerTopic::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
        WriteTxnMarkersRequest::default().with_markers(vec![WritableTxnMarker::default().with_topics(vec![topic])])
    })
    .await;
    in_every_version(|_| {
        let partitions = vec![TxnOffsetCommitRequestPartition::default()];
        let topic = TxnOffsetCommitRequestTopic::default().with_name(topic_name("orders")).with_partitions(partitions);
        TxnOffsetCommitRequest::default().with_topics(vec![topic])
    })
    .await;
    in_every_version(|_| DescribeTransactionsRequest::default().with_transactional_ids(vec![text("t").into()])).await;
    in_every_version(|_| ListTransactionsRequest::default()).await;
}

#[tokio::test]
async fn every_version_of_the_consumer_groups_requests_is_answered_in_its_own_layout() {
    in_every_version(|_| ConsumerGroupHeartbeatRequest::default()).await;
    in_every_version(|_| ConsumerGroupDescribeRequest::default().with_group_ids(vec![GroupId::default()])).await;
}

#[tokio::test]
async fn api_versions_lists_the_table_in_every_version() {
    let test = TestBroker::start();
    for version in 0..=4 {
        let request = match version {
            3.. => ApiVersionsRequest::default()
                .with_client_software_name(StrBytes::from_static_str("t"))
                .with_client_software_version(StrBytes::from_static_str("1")),
            _ => ApiVersionsRequest::default(),
        };
        let response = test.call(version, &request).await;
        assert_eq!(response.error_code, 0);
        let listed = |key| {
            let api = response.api_keys.iter().find(|api| api.api_key == key).unwrap();
            (api.min_version, api.max_version)
        };
        assert_eq!(response.api_keys.len(), TABLE.len());
        assert_eq!(listed(0), (0, 13), "librdkafka looks for Produce 0");
        assert_eq!(listed(24), (0, 3), "what brokers say to each other is not for clients");
        let features: Vec<&str> = response.supported_features.iter().map(|one| one.name.as_str()).collect();
        let finalized: Vec<&str> = response.finalized_features.iter().map(|one| one.name.as_str()).collect();
        match version {
            ..3 => assert_eq!((features.len(), finalized.len()), (0, 0)),
            3 => assert_eq!(
                (&features[..], &finalized[..]),
                (&["group.version"][..], &["group.version", "transaction.version"][..])
            ),
            _ => assert_eq!((&features, &features[..]), (&finalized, &["group.version", "transaction.version"][..])),
        }
        assert_eq!((listed(1), listed(2), listed(3), listed(18)), ((4, 18), (1, 11), (0, 13), (0, 5)));
    }
}

#[tokio::test]
async fn version_5_is_answered_as_version_4_unless_another_node_is_meant() {
    let test = TestBroker::start();
    let ask = async |cluster_id: &str, node_id: i32| {
        let mut body = BytesMut::from(&b"\x02t\x021"[..]);
        body.extend_from_slice(&[if cluster_id.is_empty() { 0 } else { cluster_id.len() as u8 + 1 }]);
        body.extend_from_slice(cluster_id.as_bytes());
        body.extend_from_slice(&node_id.to_be_bytes());
        body.extend_from_slice(&[0]);
        let frame = test.send(18, 5, &body).await.unwrap();
        test.decode::<ApiVersionsRequest>(4, frame)
    };
    assert_eq!(ask("", -1).await.error_code, 0);
    assert_eq!(ask(test.broker.cluster_id(), 1).await.api_keys.len(), TABLE.len());
    assert_eq!(ask(test.broker.cluster_id(), 2).await.error_code, ResponseError::RebootstrapRequired.code());
    assert_eq!(ask("another", 1).await.error_code, ResponseError::RebootstrapRequired.code());
}

#[tokio::test]
async fn a_version_too_new_is_told_what_there_is() {
    let test = TestBroker::start();
    let frame = test.send(18, 99, b"whatever it may hold").await.unwrap();
    let response = test.decode::<ApiVersionsRequest>(0, frame);
    assert_eq!(response.error_code, ResponseError::UnsupportedVersion.code());
    let [this] = &response.api_keys[..] else { panic!("{response:?}") };
    assert_eq!((this.api_key, this.min_version, this.max_version), (18, 0, 5));
}

#[tokio::test]
async fn a_client_with_a_strange_name_is_refused() {
    let test = TestBroker::start();
    let request = ApiVersionsRequest::default().with_client_software_name(StrBytes::from_static_str("a b"));
    assert_eq!(test.call(3, &request).await.error_code, ResponseError::InvalidRequest.code());
}

#[tokio::test]
async fn what_is_not_served_closes_and_says_so() {
    let test = TestBroker::start();
    let close = async |key, version, body: &[u8]| test.send(key, version, body).await.unwrap_err().to_string();
    assert_eq!(close(0, 2, b"").await, "Produce version 2 is not served");
    assert_eq!(close(71, 0, b"").await, "API key 71 (version 0) is not served");
    let huge = close(3, 1, &i32::MAX.to_be_bytes()).await;
    assert_eq!(huge, "Metadata version 1, correlation id 77: byte 4, field topics: 2147483647 elements in 0 bytes");
}

#[test]
fn the_table_is_in_order_and_within_the_decoders() {
    assert!(TABLE.iter().map(|api| api.key).is_sorted());
    assert!(TABLE.iter().all(|api| api.advertised_min <= api.min && api.min <= api.max));
}

#[tokio::test]
async fn idempotent_producers_get_different_ids() {
    let test = TestBroker::start();
    let idempotent = InitProducerIdRequest::default().with_transactional_id(None);
    let first = test.call(5, &idempotent.clone().with_producer_id(ProducerId(-1)).with_producer_epoch(-1)).await;
    let second = test.call(0, &InitProducerIdRequest::default().with_transactional_id(None)).await;
    assert_eq!((first.error_code, second.error_code), (0, 0));
    assert_ne!(first.producer_id, second.producer_id);
    let half = idempotent.with_producer_id(ProducerId(5)).with_producer_epoch(-1);
    assert_eq!(test.call(5, &half).await.error_code, ResponseError::InvalidRequest.code());
}

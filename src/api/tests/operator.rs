//! What the operator's tools ask about the machine: sizes, replicas, leaders, producers, features.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use kafka_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use kafka_protocol::messages::describe_log_dirs_response::DescribeLogDirsResult;
use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::describe_producers_response::PartitionResponse;
use kafka_protocol::messages::elect_leaders_request::TopicPartitions;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::update_features_request::FeatureUpdateKey;
use kafka_protocol::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, DescribeLogDirsRequest, DescribeProducersRequest,
    ElectLeadersRequest, ListConfigResourcesRequest, ListOffsetsRequest, ListPartitionReassignmentsRequest,
    ProduceRequest, UpdateFeaturesRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::super::metadata::topic_name;
use super::TestBroker;
use crate::batch::{BatchBuilder, NewRecord, Producer};
use crate::broker::CreateFeed;

async fn with_topics(topics: &[(&str, u32)]) -> TestBroker {
    let test = TestBroker::start();
    for (name, partitions) in topics {
        let wanted = CreateFeed { name: (*name).to_owned(), partitions: *partitions, overrides: Default::default() };
        let created = test.broker.create_feed(wanted, false);
        created.value.unwrap();
        test.broker.durable(created.durable_at).await.unwrap();
    }
    test
}

/// Produces one batch; returns its bytes.
async fn produce(test: &TestBroker, topic: &str, partition: i32, producer: Producer, values: &[&str]) -> usize {
    let mut batch = BatchBuilder::new(0).producer(producer);
    for value in values {
        batch = batch.record(NewRecord {
            timestamp: 1_767_258_000_000,
            value: Some(value.as_bytes()),
            ..NewRecord::default()
        });
    }
    let batch = batch.build();
    let len = batch.len();
    let data = PartitionProduceData::default().with_index(partition).with_records(Some(batch));
    let topic = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_timeout_ms(1000).with_topic_data(vec![topic]);
    let response = test.call(11, &request).await;
    let answer = &response.responses[0].partition_responses[0];
    assert_eq!(answer.error_code, 0, "{answer:?}");
    len
}

async fn log_dir(test: &TestBroker, topics: Option<Vec<DescribableLogDirTopic>>) -> DescribeLogDirsResult {
    let response = test.call(4, &DescribeLogDirsRequest::default().with_topics(topics)).await;
    assert_eq!((response.error_code, response.results.len()), (0, 1));
    response.results[0].clone()
}

/// `topic-partition: size` for each.
fn sizes(dir: &DescribeLogDirsResult) -> Vec<String> {
    let mut sizes = Vec::new();
    for topic in &dir.topics {
        for partition in &topic.partitions {
            assert_eq!((partition.offset_lag, partition.is_future_key), (0, false));
            sizes.push(format!("{}-{}: {}", topic.name.as_str(), partition.partition_index, partition.partition_size));
        }
    }
    sizes
}

#[tokio::test]
async fn a_log_dir_tells_the_bytes_of_each_partition_and_of_the_volume() {
    let test = with_topics(&[("a", 2), ("b", 1)]).await;
    let first = produce(&test, "a", 1, Producer::NONE, &["one", "two"]).await;
    let second = produce(&test, "a", 1, Producer::NONE, &["three"]).await;
    let dir = log_dir(&test, None).await;
    assert_eq!(sizes(&dir), ["a-0: 0".to_owned(), format!("a-1: {}", first + second), "b-0: 0".to_owned()]);
    let name = std::path::Path::new(dir.log_dir.as_str());
    assert!(name.is_absolute() && name.ends_with("data"), "{name:?}");
    assert_eq!((dir.error_code, dir.total_bytes), (0, 1 << 50));
    assert!(0 < dir.usable_bytes && dir.usable_bytes <= dir.total_bytes);
}

#[tokio::test]
async fn log_dirs_hold_what_is_asked_for_and_there_once_each() {
    let test = with_topics(&[("a", 3), ("b", 1)]).await;
    let asked = |name: &str, partitions: &[i32]| {
        DescribableLogDirTopic::default().with_topic(topic_name(name)).with_partitions(partitions.to_vec())
    };
    let topics = vec![asked("a", &[2, 0, 2, 9, -1]), asked("zz", &[0]), asked("b..feed", &[0])];
    assert_eq!(sizes(&log_dir(&test, Some(topics)).await), ["a-0: 0", "a-2: 0"]);
    assert_eq!(log_dir(&test, Some(Vec::new())).await.topics, []);
}

#[tokio::test]
async fn configs_are_those_of_topics_and_of_this_broker() {
    let test = with_topics(&[("a", 1), ("b", 1)]).await;
    let list = async |version, types: &[i8]| {
        let request = ListConfigResourcesRequest::default().with_resource_types(types.to_vec());
        let response = test.call(version, &request).await;
        let resource = |r: &kafka_protocol::messages::list_config_resources_response::ConfigResource| {
            format!("{} {}", r.resource_type, r.resource_name.as_str())
        };
        let names: Vec<String> = response.config_resources.iter().map(resource).collect();
        (response.error_code, names.join(", "))
    };
    assert_eq!(list(1, &[]).await, (0, "2 a, 2 b, 4 1".to_owned()));
    assert_eq!(list(1, &[4, 4, 16, 32]).await, (0, "4 1".to_owned()));
    assert_eq!(list(0, &[]).await, (0, String::new()), "version 0 asks for client metrics");
    assert_eq!(list(1, &[2, 7]).await, (ResponseError::UnsupportedVersion.code(), String::new()));
}

#[tokio::test]
async fn replicas_stay_where_they_are() {
    let test = with_topics(&[("a", 1)]).await;
    let reassign = async |topic: &str, partition, replicas: Option<&[i32]>| {
        let replicas = replicas.map(|ids| ids.iter().map(|id| BrokerId(*id)).collect());
        let wanted = ReassignablePartition::default().with_partition_index(partition).with_replicas(replicas);
        let topic = ReassignableTopic::default().with_name(topic_name(topic)).with_partitions(vec![wanted]);
        let request = AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]);
        let answer = test.call(1, &request).await.responses[0].partitions[0].clone();
        (answer.error_code, answer.error_message.unwrap_or_default().to_string())
    };
    assert_eq!(reassign("a", 0, Some(&[1])).await, (0, String::new()));
    let (code, message) = reassign("a", 0, Some(&[1, 2])).await;
    assert_eq!(code, ResponseError::InvalidReplicaAssignment.code());
    assert!(message.contains("broker 2"), "{message}");
    assert_eq!(reassign("a", 0, Some(&[])).await.0, ResponseError::InvalidReplicaAssignment.code());
    assert_eq!(reassign("a", 0, None).await.0, ResponseError::NoReassignmentInProgress.code());
    let unknown = ResponseError::UnknownTopicOrPartition.code();
    assert_eq!(reassign("a", 1, None).await, (unknown, "Unable to find partition a:1.".to_owned()));
    assert_eq!(reassign("zz", 0, Some(&[1])).await.0, unknown);
    assert_eq!(reassign("a..feed", 0, Some(&[1])).await.0, ResponseError::InvalidTopicException.code());
    let under_way = test.call(0, &ListPartitionReassignmentsRequest::default().with_topics(None)).await;
    assert_eq!((under_way.error_code, under_way.topics.len()), (0, 0));
}

#[tokio::test]
async fn no_partition_needs_a_leader() {
    let test = with_topics(&[("a", 2)]).await;
    let elect = async |kind, topic: &str, partition| {
        let asked = TopicPartitions::default().with_topic(topic_name(topic)).with_partitions(vec![partition]);
        let request = ElectLeadersRequest::default().with_election_type(kind).with_topic_partitions(Some(vec![asked]));
        let response = test.call(2, &request).await;
        let results = &response.replica_election_results;
        let codes: Vec<i16> = results.iter().map(|topic| topic.partition_result[0].error_code).collect();
        (response.error_code, codes)
    };
    let (needless, unknown) = (ResponseError::ElectionNotNeeded.code(), ResponseError::UnknownTopicOrPartition.code());
    assert_eq!(elect(0, "a", 1).await, (0, vec![needless]));
    assert_eq!(elect(1, "a..commits", 0).await, (0, vec![needless]));
    assert_eq!(elect(0, "a", 2).await, (0, vec![unknown]));
    assert_eq!(elect(0, "a", -1).await, (0, vec![unknown]));
    assert_eq!(elect(0, "zz", 0).await, (0, vec![unknown]));
    assert_eq!(elect(0, "a..x", 0).await, (0, vec![ResponseError::InvalidTopicException.code()]));
    assert_eq!(elect(7, "a", 0).await, (ResponseError::InvalidRequest.code(), Vec::new()));
    let all = test.call(2, &ElectLeadersRequest::default().with_topic_partitions(None)).await;
    assert_eq!((all.error_code, all.replica_election_results.len()), (0, 0));
}

async fn producers(test: &TestBroker, topic: &str, partitions: &[i32]) -> Vec<PartitionResponse> {
    let topic = TopicRequest::default().with_name(topic_name(topic)).with_partition_indexes(partitions.to_vec());
    let response = test.call(0, &DescribeProducersRequest::default().with_topics(vec![topic.clone(), topic])).await;
    assert_eq!(response.topics[1].partitions, [], "what is asked for twice is told once");
    response.topics[0].partitions.clone()
}

#[tokio::test]
async fn idempotent_producers_are_told_with_their_last_sequence() {
    let test = with_topics(&[("a", 2)]).await;
    produce(&test, "a", 0, Producer::NONE, &["nobody's"]).await;
    produce(&test, "a", 0, Producer { id: 7, epoch: 2, base_sequence: 0 }, &["x", "y"]).await;
    produce(&test, "a", 0, Producer { id: 7, epoch: 2, base_sequence: 2 }, &["z"]).await;
    produce(&test, "a", 0, Producer { id: 9, epoch: 0, base_sequence: 0 }, &["z"]).await;
    let told = producers(&test, "a", &[0, 1]).await;
    let active = &told[0].active_producers;
    let seen: Vec<_> = active.iter().map(|p| (p.producer_id.0, p.producer_epoch, p.last_sequence)).collect();
    assert_eq!(seen, [(7, 2, 2), (9, 0, 0)]);
    let first = &active[0];
    assert_eq!((first.last_timestamp, first.coordinator_epoch), (1_767_258_000_000, -1));
    assert_eq!(first.current_txn_start_offset, -1);
    assert_eq!((told[1].error_code, told[1].active_producers.len()), (0, 0));
}

#[tokio::test]
async fn who_seals_is_told_of_the_control_topic_and_nobody_of_views() {
    let test = with_topics(&[("a", 1)]).await;
    produce(&test, "a..seal", 0, Producer { id: 5, epoch: 0, base_sequence: 0 }, &["{}"]).await;
    let told = producers(&test, "a..seal", &[0, 1]).await;
    assert_eq!((told[0].active_producers[0].producer_id.0, told[0].active_producers.len()), (5, 1));
    let invalid = ResponseError::InvalidTopicException.code();
    assert_eq!((told[1].error_code, producers(&test, "a..feed", &[0]).await[0].error_code), (invalid, invalid));
    let unknown = ResponseError::UnknownTopicOrPartition.code();
    let codes: Vec<i16> = producers(&test, "a", &[1, -1]).await.iter().map(|p| p.error_code).collect();
    assert_eq!(codes, [unknown, unknown]);
    assert_eq!(producers(&test, "zz", &[0]).await[0].error_code, unknown);
}

#[tokio::test]
async fn a_producer_silent_for_too_long_is_not_told() {
    let test = with_topics(&[("a", 1)]).await;
    produce(&test, "a", 0, Producer { id: 7, epoch: 0, base_sequence: 0 }, &["x"]).await;
    test.clock.advance_ms(2 * 86_400_000);
    assert_eq!(producers(&test, "a", &[0]).await[0].active_producers, []);
}

#[tokio::test]
async fn offsets_of_tiered_storage_are_none() {
    let test = with_topics(&[("a", 1)]).await;
    produce(&test, "a", 0, Producer::NONE, &["x"]).await;
    let find = async |version, timestamp| {
        let partition = ListOffsetsPartition::default().with_timestamp(timestamp);
        let topic = ListOffsetsTopic::default().with_name(topic_name("a")).with_partitions(vec![partition]);
        let response = test.call(version, &ListOffsetsRequest::default().with_topics(vec![topic])).await;
        let found = &response.topics[0].partitions[0];
        (found.error_code, found.offset)
    };
    const LATEST: i64 = -1;
    const LATEST_TIERED: i64 = -5;
    const EARLIEST_PENDING_UPLOAD: i64 = -6;
    assert_eq!(find(11, LATEST).await, (0, 1));
    assert_eq!(find(10, LATEST_TIERED).await, (0, -1));
    assert_eq!(find(11, EARLIEST_PENDING_UPLOAD).await, (0, -1));
}

#[tokio::test]
async fn no_feature_can_be_changed() {
    let test = TestBroker::start();
    let wanted = FeatureUpdateKey::default().with_feature(StrBytes::from_static_str("transaction.version"));
    let request = UpdateFeaturesRequest::default().with_feature_updates(vec![wanted.with_max_version_level(2)]);
    let code = ResponseError::InvalidUpdateVersion.code();
    let whole = test.call(2, &request).await;
    assert_eq!(whole.error_code, code);
    assert!(whole.error_message.unwrap().contains("version 2 for feature transaction.version"));
    let each = test.call(1, &request).await;
    assert_eq!((each.error_code, each.results[0].error_code), (0, code));
    assert_eq!(test.call(2, &UpdateFeaturesRequest::default()).await.error_code, 0);
}

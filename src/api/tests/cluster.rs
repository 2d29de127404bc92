//! Metadata, coordinators, the cluster and pages of topics.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{
    DescribeClusterRequest, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, FindCoordinatorRequest,
    MetadataRequest,
};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::super::metadata::topic_name;
use super::super::{ABOUT_TAG, About};
use super::TestBroker;
use crate::broker::CreateFeed;

pub async fn make(test: &TestBroker, name: &str, partitions: u32) -> Uuid {
    let wanted = CreateFeed { name: name.to_owned(), partitions, overrides: Default::default() };
    let created = test.broker.create_feed(wanted, false);
    test.broker.durable(created.durable_at).await.unwrap();
    created.value.unwrap().topic_id
}

fn named(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic::default().with_name(Some(topic_name(name)))
}

async fn ask(test: &TestBroker, version: i16, topic: MetadataRequestTopic, create: bool) -> MetadataResponseTopic {
    let mut request = MetadataRequest::default().with_topics(Some(vec![topic]));
    request.allow_auto_topic_creation = create;
    let response = test.call(version, &request).await;
    assert_eq!(response.topics.len(), 1);
    response.topics[0].clone()
}

#[tokio::test]
async fn a_topic_is_made_when_asked_for_unless_client_or_broker_say_no() {
    let test = TestBroker::with(&["num.partitions=3"]);
    let unknown = ResponseError::UnknownTopicOrPartition.code();
    assert_eq!(ask(&test, 12, named("a"), false).await.error_code, unknown);
    let made = ask(&test, 12, named("a"), true).await;
    assert_eq!((made.error_code, made.partitions.len()), (0, 3));
    assert!(!made.topic_id.is_nil());
    assert_eq!(ask(&test, 12, named("a"), false).await, made);
    assert_eq!(ask(&test, 1, named("b"), true).await.partitions.len(), 3, "version 1 has no flag and means yes");
    let strict = TestBroker::with(&["auto.create.topics.enable=false"]);
    assert_eq!(ask(&strict, 12, named("a"), true).await.error_code, unknown);
}

#[tokio::test]
async fn views_are_never_made_and_told_only_by_name() {
    let test = TestBroker::start();
    let invalid = ResponseError::InvalidTopicException.code();
    let unknown = ResponseError::UnknownTopicOrPartition.code();
    assert_eq!(ask(&test, 12, named("orders..nonsense"), true).await.error_code, invalid);
    assert_eq!(ask(&test, 12, named("or ders"), true).await.error_code, invalid);
    let view = ask(&test, 12, named("orders..feed"), true).await;
    assert_eq!(view.error_code, unknown, "the feed is not made by the way");
    make(&test, "orders", 2).await;
    let view = ask(&test, 12, named("orders..feed"), true).await;
    assert_eq!((view.error_code, view.partitions.len(), view.is_internal), (0, 2, false));
    assert_eq!(ask(&test, 12, named("orders..commits"), true).await.partitions.len(), 1);
    let seal = ask(&test, 12, named("orders..seal"), true).await;
    assert_eq!((seal.error_code, seal.partitions.len(), seal.is_internal), (0, 1, false));
    let waiting = ask(&test, 12, named("orders..commit-0"), true).await;
    assert_eq!(waiting.error_code, ResponseError::LeaderNotAvailable.code());
    assert_eq!(ask(&test, 12, named("orders..live"), true).await.error_code, invalid, "it has no end");
    let waiting = ask(&test, 12, named("orders..commit-0..latest"), true).await;
    assert_eq!(waiting.error_code, ResponseError::LeaderNotAvailable.code());
    let all = test.call(12, &MetadataRequest::default().with_topics(None)).await;
    assert_eq!(all.topics.len(), 1);
    let by_id = MetadataRequestTopic::default().with_topic_id(view.topic_id).with_name(None);
    assert_eq!(ask(&test, 12, by_id, false).await.name.unwrap().as_str(), "orders..feed");
}

#[tokio::test]
async fn topics_are_found_by_id_from_version_12_on() {
    let test = TestBroker::start();
    let id = make(&test, "orders", 1).await;
    let by_id = |id| MetadataRequestTopic::default().with_topic_id(id).with_name(None);
    assert_eq!(ask(&test, 12, by_id(id), false).await.name.unwrap().as_str(), "orders");
    let unknown = ask(&test, 13, by_id(Uuid::from_u128(5)), false).await;
    assert_eq!((unknown.error_code, unknown.name), (ResponseError::UnknownTopicId.code(), None));
    assert_eq!(ask(&test, 11, by_id(id), false).await.error_code, ResponseError::InvalidRequest.code());
}

#[tokio::test]
async fn metadata_names_the_node_that_the_client_reached() {
    let test = TestBroker::start();
    make(&test, "orders", 1).await;
    let all = test.call(0, &MetadataRequest::default().with_topics(Some(Vec::new()))).await;
    assert_eq!(all.topics.len(), 1, "version 0 has no null: empty means all");
    let none = test.call(9, &MetadataRequest::default().with_topics(Some(Vec::new()))).await;
    assert_eq!(none.topics.len(), 0);
    let node = &none.brokers[0];
    assert_eq!((node.node_id.0, node.host.as_str(), node.port), (1, "192.0.2.7", 9092));
    assert_eq!((none.controller_id.0, none.cluster_authorized_operations), (1, i32::MIN));
    assert_eq!(none.cluster_id.unwrap().as_str(), test.broker.cluster_id());
    let advertised = TestBroker::with(&["advertised.listeners=PLAINTEXT://broker.example:7"]);
    let response = advertised.call(9, &MetadataRequest::default().with_topics(Some(Vec::new()))).await;
    assert_eq!((response.brokers[0].host.as_str(), response.brokers[0].port), ("broker.example", 7));
}

#[tokio::test]
async fn this_broker_coordinates_groups_and_transactions() {
    let test = TestBroker::start();
    let ask = async |key_type| {
        let request = FindCoordinatorRequest::default()
            .with_coordinator_keys(vec![StrBytes::from_static_str("g"), StrBytes::from_static_str("h")]);
        test.call(6, &request.with_key_type(key_type)).await.coordinators
    };
    for key_type in [0, 1] {
        let found = ask(key_type).await;
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].error_code, found[0].node_id.0, found[0].host.as_str()), (0, 1, "192.0.2.7"));
    }
    assert_eq!(ask(9).await[1].error_code, ResponseError::InvalidRequest.code());
}

#[tokio::test]
async fn the_cluster_is_described_to_those_who_ask_a_broker() {
    let test = TestBroker::start();
    let asked = DescribeClusterRequest::default().with_include_cluster_authorized_operations(true);
    let response = test.call(2, &asked).await;
    assert_eq!((response.error_code, response.brokers.len(), response.cluster_authorized_operations), (0, 1, 8096));
    let controllers = test.call(2, &DescribeClusterRequest::default().with_endpoint_type(2)).await;
    assert_eq!(controllers.error_code, ResponseError::MismatchedEndpointType.code());
    let unknown = test.call(2, &DescribeClusterRequest::default().with_endpoint_type(9)).await;
    assert_eq!(unknown.error_code, ResponseError::UnsupportedEndpointType.code());
}

#[tokio::test]
async fn only_who_sends_our_field_is_told_of_program_and_clocks() {
    let test = TestBroker::start();
    let stock = test.call(2, &DescribeClusterRequest::default()).await;
    assert!(stock.unknown_tagged_fields.is_empty(), "{:?}", stock.unknown_tagged_fields);
    let asked = DescribeClusterRequest::default().with_unknown_tagged_field(ABOUT_TAG, Bytes::new());
    for version in 0..=2 {
        let answer = test.call(version, &asked).await;
        let about: About = serde_json::from_slice(&answer.unknown_tagged_fields[&ABOUT_TAG]).unwrap();
        assert_eq!(about.version, env!("CARGO_PKG_VERSION"));
        assert_eq!((about.wall_ms, about.steady_ms), (test.broker.wall_now().0, test.broker.now().0));
    }
}

/// `topic:first-end` for each topic of a page, and the cursor.
fn told(response: &DescribeTopicPartitionsResponse) -> String {
    let topic =
        |topic: &kafka_protocol::messages::describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic| {
            let indexes: Vec<String> = topic.partitions.iter().map(|p| p.partition_index.to_string()).collect();
            format!("{}:{}", topic.name.as_ref().unwrap().as_str(), indexes.join(","))
        };
    let topics: Vec<String> = response.topics.iter().map(topic).collect();
    let next = response.next_cursor.as_ref();
    let next = next.map_or("end".to_owned(), |next| format!("{}/{}", next.topic_name.as_str(), next.partition_index));
    format!("{} then {next}", topics.join(" "))
}

#[tokio::test]
async fn pages_of_topics_join_without_gap_or_overlap() {
    let test = TestBroker::start();
    for (name, partitions) in [("a", 2), ("b", 3), ("c", 1)] {
        make(&test, name, partitions).await;
    }
    let mut cursor = None;
    let mut pages = Vec::new();
    loop {
        let mut request = DescribeTopicPartitionsRequest::default().with_response_partition_limit(2);
        request.cursor = cursor;
        let response = test.call(0, &request).await;
        pages.push(told(&response));
        let Some(next) = response.next_cursor else { break };
        let next = Cursor::default().with_topic_name(next.topic_name).with_partition_index(next.partition_index);
        cursor = Some(next);
    }
    assert_eq!(pages, ["a:0,1 then b/0", "b:0,1 then b/2", "b:2 c:0 then end"]);
    let asked = ["c", "zz", "a", "a..commits"].map(|name| TopicRequest::default().with_name(topic_name(name)));
    let request = DescribeTopicPartitionsRequest::default().with_topics(asked.to_vec());
    let response = test.call(0, &request.with_response_partition_limit(2000)).await;
    assert_eq!(told(&response), "a:0,1 a..commits:0 c:0 zz: then end");
    assert_eq!(response.topics[3].error_code, ResponseError::UnknownTopicOrPartition.code());
}

//! Topics made, given partitions, and deleted.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::create_topics_response::CreatableTopicResult;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::{
    BrokerId, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest,
};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::super::metadata::topic_name;
use super::TestBroker;

fn wanted(name: &str, partitions: i32, replicas: i16) -> CreatableTopic {
    let topic = CreatableTopic::default().with_name(topic_name(name));
    topic.with_num_partitions(partitions).with_replication_factor(replicas)
}

fn config(name: &'static str, value: &'static str) -> CreatableTopicConfig {
    let config = CreatableTopicConfig::default().with_name(StrBytes::from_static_str(name));
    config.with_value(Some(StrBytes::from_static_str(value)))
}

async fn create(test: &TestBroker, topic: CreatableTopic) -> CreatableTopicResult {
    let response = test.call(7, &CreateTopicsRequest::default().with_topics(vec![topic])).await;
    response.topics[0].clone()
}

async fn num_topics(test: &TestBroker) -> usize {
    test.call(12, &MetadataRequest::default().with_topics(None)).await.topics.len()
}

#[tokio::test]
async fn connect_finds_its_topic_at_every_start() {
    let test = TestBroker::start();
    let topic = wanted("connect-configs", 1, 3).with_configs(vec![config("cleanup.policy", "compact")]);
    let made = create(&test, topic.clone()).await;
    assert_eq!((made.error_code, made.num_partitions, made.replication_factor), (0, 1, 1));
    let policy = made.configs.unwrap().into_iter().find(|config| config.name.as_str() == "cleanup.policy").unwrap();
    assert_eq!((policy.value.unwrap().as_str(), policy.config_source), ("compact", 1));
    let again = create(&test, topic.with_replication_factor(-7)).await;
    assert_eq!(again.error_code, ResponseError::TopicAlreadyExists.code());
}

#[tokio::test]
async fn defaults_stand_for_minus_one() {
    let test = TestBroker::with(&["num.partitions=4"]);
    let made = create(&test, wanted("a", -1, -1)).await;
    assert_eq!((made.error_code, made.num_partitions), (0, 4));
    assert!(!made.topic_id.is_nil());
}

#[tokio::test]
async fn a_bad_topic_is_refused_with_its_reason() {
    let test = TestBroker::with(&["streamstack.replication.factor.clamp=false"]);
    let refused = async |topic: CreatableTopic, error: ResponseError, reason: &str| {
        let result = create(&test, topic).await;
        let message = result.error_message.unwrap_or_default();
        assert_eq!(result.error_code, error.code(), "{}", message.as_str());
        assert!(message.contains(reason), "{}", message.as_str());
    };
    refused(wanted("a..b", 1, 1), ResponseError::InvalidTopicException, "..").await;
    refused(wanted("a", 0, 1), ResponseError::InvalidPartitions, "non-positive").await;
    refused(wanted("a", 1, 0), ResponseError::InvalidReplicationFactor, "larger than 0").await;
    refused(wanted("a", 1, 3), ResponseError::InvalidReplicationFactor, "clamp").await;
    refused(wanted("a", 999_999, 1), ResponseError::InvalidPartitions, "10000").await;
    let unknown = wanted("a", 1, 1).with_configs(vec![config("retention.sm", "1")]);
    refused(unknown, ResponseError::InvalidConfig, "retention.ms").await;
    let bad = wanted("a", 1, 1).with_configs(vec![config("retention.ms", "soon")]);
    refused(bad, ResponseError::InvalidConfig, "soon").await;
    let placed = |broker| {
        let assignment = CreatableReplicaAssignment::default().with_broker_ids(vec![BrokerId(broker)]);
        wanted("placed", -1, -1).with_assignments(vec![assignment])
    };
    refused(placed(2), ResponseError::InvalidReplicaAssignment, "no such broker").await;
    assert_eq!(num_topics(&test).await, 0);
    assert_eq!(create(&test, placed(1)).await.error_code, 0);
}

#[tokio::test]
async fn names_that_are_taken_are_refused_in_kafkas_words() {
    let test = TestBroker::start();
    create(&test, wanted("a.b", 1, 1)).await;
    let refused =
        async |name: &str| create(&test, wanted(name, 1, 1)).await.error_message.unwrap_or_default().to_string();
    assert_eq!(refused("a.b").await, "Topic 'a.b' already exists.");
    assert_eq!(refused("a_b").await, "Topic 'a_b' collides with existing topic: a.b");
}

#[tokio::test]
async fn validation_and_repetition_make_nothing() {
    let test = TestBroker::start();
    let valid = CreateTopicsRequest::default().with_topics(vec![wanted("a", 2, 1)]).with_validate_only(true);
    let result = test.call(7, &valid).await.topics[0].clone();
    assert_eq!((result.error_code, result.num_partitions, result.topic_id), (0, 2, Uuid::nil()));
    let twice = CreateTopicsRequest::default().with_topics(vec![wanted("a", 2, 1), wanted("a", 2, 1)]);
    let results = test.call(7, &twice).await.topics;
    assert!(results.iter().all(|result| result.error_code == ResponseError::InvalidRequest.code()));
    assert_eq!(num_topics(&test).await, 0);
}

async fn delete(test: &TestBroker, topics: Vec<DeleteTopicState>) -> Vec<i16> {
    let response = test.call(6, &DeleteTopicsRequest::default().with_topics(topics)).await;
    response.responses.iter().map(|result| result.error_code).collect()
}

#[tokio::test]
async fn topics_are_deleted_by_name_or_id_and_each_is_answered() {
    let test = TestBroker::start();
    let id = create(&test, wanted("a", 1, 1)).await.topic_id;
    create(&test, wanted("b", 1, 1)).await;
    let by_name = |name: &str| DeleteTopicState::default().with_name(Some(topic_name(name)));
    let by_id = |id| DeleteTopicState::default().with_name(None).with_topic_id(id);
    let codes = delete(&test, vec![by_id(id), by_name("zz"), by_name("b..feed"), by_id(Uuid::from_u128(9))]).await;
    let expected = [
        0,
        ResponseError::UnknownTopicOrPartition.code(),
        ResponseError::InvalidTopicException.code(),
        ResponseError::UnknownTopicId.code(),
    ];
    assert_eq!(codes, expected);
    let invalid = ResponseError::InvalidRequest.code();
    assert_eq!(delete(&test, vec![by_name("b"), by_name("b")]).await, [invalid, invalid]);
    assert_eq!(delete(&test, vec![by_name("b").with_topic_id(id), by_id(Uuid::nil())]).await, [invalid, invalid]);
    assert_eq!(num_topics(&test).await, 1);
    let old = DeleteTopicsRequest::default().with_topic_names(vec![topic_name("b")]);
    assert_eq!(test.call(1, &old).await.responses[0].error_code, 0);
    assert_eq!(num_topics(&test).await, 0);
    assert_ne!(create(&test, wanted("a", 1, 1)).await.topic_id, id);
}

#[tokio::test]
async fn deletion_can_be_switched_off() {
    let test = TestBroker::with(&["delete.topic.enable=false"]);
    create(&test, wanted("a", 1, 1)).await;
    let codes = delete(&test, vec![DeleteTopicState::default().with_name(Some(topic_name("a")))]).await;
    assert_eq!(codes, [ResponseError::TopicDeletionDisabled.code()]);
}

#[tokio::test]
async fn partitions_only_become_more() {
    let test = TestBroker::start();
    create(&test, wanted("a", 2, 1)).await;
    let grow = async |name: &str, count: i32, validate_only: bool| {
        let topic = CreatePartitionsTopic::default().with_name(topic_name(name)).with_count(count);
        let request = CreatePartitionsRequest::default().with_topics(vec![topic.with_assignments(None)]);
        let result = test.call(3, &request.with_validate_only(validate_only)).await.results[0].clone();
        (result.error_code, result.error_message.unwrap_or_default().to_string())
    };
    let code = ResponseError::InvalidPartitions.code();
    assert_eq!(grow("a", 2, false).await, (code, "Topic already has 2 partition(s).".to_owned()));
    assert_eq!(grow("a", 1, false).await.0, code);
    assert_eq!(grow("a", -1, false).await.0, code);
    assert_eq!(grow("zz", 9, false).await.0, ResponseError::UnknownTopicOrPartition.code());
    assert_eq!(grow("a..feed", 9, false).await.0, ResponseError::InvalidTopicException.code());
    assert_eq!(grow("a", 5, true).await.0, 0);
    assert_eq!(test.broker.catalog().by_name("a").unwrap().partitions(), 2);
    assert_eq!(grow("a", 5, false).await.0, 0);
    assert_eq!(test.broker.catalog().by_name("a").unwrap().partitions(), 5);
    let elsewhere = vec![CreatePartitionsAssignment::default().with_broker_ids(vec![BrokerId(4)])];
    let topic = CreatePartitionsTopic::default().with_name(topic_name("a")).with_count(6);
    let request = CreatePartitionsRequest::default().with_topics(vec![topic.with_assignments(Some(elsewhere))]);
    let result = test.call(3, &request).await.results[0].clone();
    assert_eq!(result.error_code, ResponseError::InvalidReplicaAssignment.code());
}

//! Configs described, changed one by one, and replaced.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{DescribeConfigsResourceResult, DescribeConfigsResult};
use kafka_protocol::messages::{
    AlterConfigsRequest, CreateTopicsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest,
    alter_configs_request, create_topics_request::CreatableTopic, incremental_alter_configs_request,
};
use kafka_protocol::protocol::StrBytes;

use super::super::metadata::topic_name;
use super::TestBroker;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;

pub const SET: i8 = 0;
pub const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

pub fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

async fn with_topic() -> TestBroker {
    let test = TestBroker::start();
    let topic = CreatableTopic::default().with_name(topic_name("a")).with_num_partitions(1).with_replication_factor(1);
    test.call(7, &CreateTopicsRequest::default().with_topics(vec![topic])).await;
    test
}

pub async fn describe(test: &TestBroker, kind: i8, name: &str, keys: Option<&[&str]>) -> DescribeConfigsResult {
    let keys = keys.map(|keys| keys.iter().map(|key| text(key)).collect());
    let resource = DescribeConfigsResource::default().with_resource_type(kind).with_resource_name(text(name));
    let resource = resource.with_configuration_keys(keys);
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]).with_include_synonyms(true);
    test.call(4, &request.with_include_documentation(true)).await.results[0].clone()
}

pub async fn value(test: &TestBroker, kind: i8, name: &str, key: &str) -> String {
    let result = describe(test, kind, name, Some(&[key])).await;
    let [config] = &result.configs[..] else { panic!("{result:?}") };
    config.value.as_ref().map_or("null".to_owned(), ToString::to_string)
}

pub async fn alter(test: &TestBroker, kind: i8, name: &str, changes: &[(&str, i8, Option<&str>)]) -> (i16, String) {
    let config = |(name, op, value): &(&str, i8, Option<&str>)| {
        incremental_alter_configs_request::AlterableConfig::default()
            .with_name(text(name))
            .with_config_operation(*op)
            .with_value(value.map(text))
    };
    let resource = incremental_alter_configs_request::AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(changes.iter().map(config).collect());
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    let response = test.call(1, &request).await.responses[0].clone();
    (response.error_code, response.error_message.unwrap_or_default().to_string())
}

#[tokio::test]
async fn every_config_of_a_topic_is_told_with_its_source() {
    let test = with_topic().await;
    let all = describe(&test, TOPIC, "a", None).await.configs;
    let find = |name: &str| -> &DescribeConfigsResourceResult {
        all.iter().find(|config| config.name.as_str() == name).unwrap_or_else(|| panic!("{name}"))
    };
    for name in ["cleanup.policy", "retention.ms", "min.compaction.lag.ms", "max.message.bytes", "streamstack.seal.ms"]
    {
        assert_eq!(find(name).config_source, 5, "{name}");
    }
    assert_eq!(find("retention.ms").config_type, 5);
    assert!(find("cleanup.policy").documentation.is_some());
    assert!(!find("max.message.bytes").synonyms.is_empty());
    assert_eq!(describe(&test, TOPIC, "a", Some(&[])).await.configs.len(), all.len());
    let view = describe(&test, TOPIC, "a..feed", None).await.configs;
    assert!(view.len() == all.len() && view.iter().all(|config| config.read_only));
    let unknown = describe(&test, TOPIC, "zz", None).await;
    assert_eq!(unknown.error_code, ResponseError::UnknownTopicOrPartition.code());
}

#[tokio::test]
async fn brokers_are_named_by_number_and_all_of_them_by_nothing() {
    let test = with_topic().await;
    assert_eq!(value(&test, BROKER, "1", "node.id").await, "1");
    assert!(describe(&test, BROKER, "", None).await.configs.is_empty());
    assert_eq!(describe(&test, BROKER, "2", None).await.error_code, ResponseError::InvalidRequest.code());
    assert_eq!(describe(&test, 16, "x", None).await.error_code, ResponseError::InvalidRequest.code());
    assert_eq!(alter(&test, BROKER, "", &[("log.segment.bytes", SET, Some("5000000"))]).await.0, 0);
    assert_eq!(value(&test, TOPIC, "a", "segment.bytes").await, "5000000");
    assert_eq!(alter(&test, BROKER, "1", &[("log.segment.bytes", SET, Some("6000000"))]).await.0, 0);
    assert_eq!(value(&test, TOPIC, "a", "segment.bytes").await, "6000000");
    let fixed = alter(&test, BROKER, "1", &[("node.id", SET, Some("5"))]).await;
    assert_eq!(fixed.0, ResponseError::InvalidRequest.code(), "{}", fixed.1);
}

#[tokio::test]
async fn overrides_are_set_removed_and_lists_changed() {
    let test = with_topic().await;
    assert_eq!(alter(&test, TOPIC, "a", &[("cleanup.policy", APPEND, Some("compact"))]).await.0, 0);
    assert_eq!(value(&test, TOPIC, "a", "cleanup.policy").await, "delete,compact");
    let both = [("cleanup.policy", SUBTRACT, Some("delete")), ("retention.ms", SET, Some("7"))];
    assert_eq!(alter(&test, TOPIC, "a", &both).await.0, 0);
    assert_eq!(value(&test, TOPIC, "a", "cleanup.policy").await, "compact");
    assert_eq!(alter(&test, TOPIC, "a", &[("retention.ms", DELETE, None)]).await.0, 0);
    assert_eq!(value(&test, TOPIC, "a", "retention.ms").await, "604800000");
}

#[tokio::test]
async fn a_wrong_change_changes_nothing() {
    let test = with_topic().await;
    let invalid = ResponseError::InvalidRequest.code();
    let config = ResponseError::InvalidConfig.code();
    assert_eq!(alter(&test, TOPIC, "a", &[("retention.ms", APPEND, Some("1"))]).await.0, config);
    assert_eq!(alter(&test, TOPIC, "a", &[("retention.ms", SET, Some("x"))]).await.0, config);
    assert_eq!(alter(&test, TOPIC, "a", &[("retention.ms", SET, None)]).await.0, invalid);
    assert_eq!(alter(&test, TOPIC, "a", &[("retention.ms", 9, Some("1"))]).await.0, invalid);
    let twice = [("retention.ms", SET, Some("1")), ("retention.ms", SET, Some("2"))];
    assert_eq!(alter(&test, TOPIC, "a", &twice).await.0, invalid);
    let half = [("segment.ms", SET, Some("5")), ("nonsense", SET, Some("2"))];
    assert_eq!(alter(&test, TOPIC, "a", &half).await.0, config);
    assert_eq!(value(&test, TOPIC, "a", "segment.ms").await, "604800000");
    let view = alter(&test, TOPIC, "a..feed", &[("retention.ms", SET, Some("1"))]).await;
    assert_eq!(view.0, ResponseError::InvalidTopicException.code());
    assert!(view.1.contains("view of a"));
}

#[tokio::test]
async fn tools_are_told_what_kafka_would_tell_them() {
    let test = with_topic().await;
    let gone = alter(&test, TOPIC, "zz", &[("retention.ms", SET, Some("1"))]).await;
    assert_eq!(gone, (ResponseError::UnknownTopicOrPartition.code(), "The topic 'zz' does not exist.".to_owned()));
    for (kind, name) in [(TOPIC, "a"), (BROKER, "1"), (BROKER, "")] {
        let unset = alter(&test, kind, name, &[("no.such.config", DELETE, None)]).await;
        assert_eq!(unset, (0, String::new()), "{kind} {name}");
    }
    let wrong = alter(&test, BROKER, "1", &[("message.max.bytes", SET, Some("many"))]).await;
    assert_eq!(wrong.0, ResponseError::InvalidRequest.code(), "{}", wrong.1);
}

#[tokio::test]
async fn the_older_way_replaces_all() {
    let test = with_topic().await;
    alter(&test, TOPIC, "a", &[("retention.ms", SET, Some("7"))]).await;
    let config =
        alter_configs_request::AlterableConfig::default().with_name(text("segment.ms")).with_value(Some(text("9")));
    let resource = alter_configs_request::AlterConfigsResource::default().with_resource_type(TOPIC);
    let resource = resource.with_resource_name(text("a")).with_configs(vec![config]);
    let response = test.call(2, &AlterConfigsRequest::default().with_resources(vec![resource])).await;
    assert_eq!(response.responses[0].error_code, 0);
    assert_eq!(value(&test, TOPIC, "a", "segment.ms").await, "9");
    assert_eq!(value(&test, TOPIC, "a", "retention.ms").await, "604800000");
}

#[tokio::test]
async fn of_two_changes_at_a_time_both_count() {
    let test = with_topic().await;
    let (segment, retention) = ([("segment.ms", SET, Some("9"))], [("retention.ms", SET, Some("7"))]);
    // The second is decided on before the first is durable and published.
    let (first, second) = tokio::join!(alter(&test, TOPIC, "a", &segment), alter(&test, TOPIC, "a", &retention));
    assert_eq!((first.0, second.0), (0, 0));
    assert_eq!(value(&test, TOPIC, "a", "segment.ms").await, "9");
    assert_eq!(value(&test, TOPIC, "a", "retention.ms").await, "7");
}

#[tokio::test]
async fn a_resource_asked_for_often_is_told_once() {
    let test = with_topic().await;
    let resource = DescribeConfigsResource::default().with_resource_type(TOPIC).with_resource_name(text("a"));
    let request = DescribeConfigsRequest::default().with_resources(vec![resource; 1000]);
    assert_eq!(test.call(4, &request).await.results.len(), 1);
}

//! Configs of consumer groups: set, told, listed, and what members make of them.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{AlterConfigsRequest, ListConfigResourcesRequest, alter_configs_request};

use super::TestBroker;
use super::cluster::make as create;
use super::configs::{DELETE, SET, alter, describe, text, value};
use super::consumer_groups::{describe as describe_group, join_group, told};

const GROUP: i8 = 32;
const SESSION: &str = "consumer.session.timeout.ms";
const HEARTBEAT: &str = "consumer.heartbeat.interval.ms";

async fn listed(test: &TestBroker) -> Vec<String> {
    let request = ListConfigResourcesRequest::default().with_resource_types(vec![GROUP]);
    let resources = test.call(1, &request).await.config_resources;
    resources.iter().map(|resource| resource.resource_name.to_string()).collect()
}

#[tokio::test]
async fn what_is_set_on_a_group_is_told_and_listed_until_it_is_removed() {
    let test = TestBroker::start();
    assert!(listed(&test).await.is_empty());
    assert_eq!(alter(&test, GROUP, "g", &[(SESSION, SET, Some("50000"))]).await, (0, String::new()));
    assert_eq!(value(&test, GROUP, "g", SESSION).await, "50000");
    assert_eq!(value(&test, GROUP, "other", SESSION).await, "45000");
    let told = describe(&test, GROUP, "g", Some(&[SESSION])).await.configs.remove(0);
    let sources: Vec<i8> = told.synonyms.iter().map(|synonym| synonym.source).collect();
    assert_eq!((told.config_source, sources), (8, vec![8, 5]));
    assert_eq!(listed(&test).await, ["g"]);
    assert_eq!(alter(&test, GROUP, "g", &[(SESSION, DELETE, None)]).await.0, 0);
    assert_eq!(value(&test, GROUP, "g", SESSION).await, "45000");
    assert!(listed(&test).await.is_empty());
}

#[tokio::test]
async fn what_is_wrong_or_not_served_is_refused_and_changes_nothing() {
    let test = TestBroker::start();
    let config = ResponseError::InvalidConfig.code();
    let refusals = [
        (SESSION, "1000", "consumer.session.timeout.ms must be greater than or equal to group.consumer.min"),
        (HEARTBEAT, "x", "Invalid value x for configuration consumer.heartbeat.interval.ms"),
        ("share.session.timeout.ms", "50000", "share groups (KIP-932) are not served"),
        ("streams.session.timeout.ms", "50000", "Streams groups (KIP-1071) are not served"),
        ("nonsense", "1", "Unknown group config name: nonsense"),
    ];
    for (name, value, words) in refusals {
        let both = [("consumer.assignment.interval.ms", SET, Some("5")), (name, SET, Some(value))];
        let (code, message) = alter(&test, GROUP, "g", &both).await;
        assert_eq!(code, config, "{name}: {message}");
        assert!(message.contains(words), "{message}");
    }
    assert!(listed(&test).await.is_empty());
    let nobody = alter(&test, GROUP, "", &[(SESSION, SET, Some("50000"))]).await;
    assert_eq!(nobody, (ResponseError::InvalidRequest.code(), "Default group resources are not allowed.".to_owned()));
    let nobody = describe(&test, GROUP, "", None).await;
    assert_eq!(nobody.error_message.unwrap().as_str(), "Group name must not be empty");
}

#[tokio::test]
async fn the_older_way_replaces_all_of_a_groups_configs() {
    let test = TestBroker::start();
    alter(&test, GROUP, "g", &[(SESSION, SET, Some("50000"))]).await;
    let config = alter_configs_request::AlterableConfig::default().with_name(text(HEARTBEAT));
    let resource = alter_configs_request::AlterConfigsResource::default()
        .with_resource_type(GROUP)
        .with_resource_name(text("g"))
        .with_configs(vec![config.with_value(Some(text("7000")))]);
    let response = test.call(2, &AlterConfigsRequest::default().with_resources(vec![resource])).await;
    assert_eq!(response.responses[0].error_code, 0);
    assert_eq!(value(&test, GROUP, "g", HEARTBEAT).await, "7000");
    assert_eq!(value(&test, GROUP, "g", SESSION).await, "45000");
}

#[tokio::test]
async fn members_go_by_what_is_set_on_their_group() {
    let bounds = ["group.consumer.min.session.timeout.ms=1000", "group.consumer.min.heartbeat.interval.ms=100"];
    let test = TestBroker::with(&bounds);
    create(&test, "t", 1).await;
    alter(&test, GROUP, "short", &[(SESSION, SET, Some("2000")), (HEARTBEAT, SET, Some("500"))]).await;
    assert_eq!(told(&test, &join_group("short", "a", &["t"])).await.heartbeat_interval_ms, 500);
    assert_eq!(told(&test, &join_group("long", "a", &["t"])).await.heartbeat_interval_ms, 5_000);
    test.clock.advance_ms(1_999);
    while test.broker.wake_due_group() {}
    assert_eq!(describe_group(&test, "short").await.group_state.as_str(), "Stable");
    test.clock.advance_ms(1);
    while test.broker.wake_due_group() {}
    assert_eq!(describe_group(&test, "short").await.group_state.as_str(), "Empty");
    assert_eq!(describe_group(&test, "long").await.group_state.as_str(), "Stable");
}

#[tokio::test]
async fn what_is_set_on_a_group_outlives_the_group_and_a_restart() {
    let test = TestBroker::start();
    alter(&test, GROUP, "g", &[(HEARTBEAT, SET, Some("7000"))]).await;
    let test = test.restart().await;
    assert_eq!(value(&test, GROUP, "g", HEARTBEAT).await, "7000");
    create(&test, "t", 1).await;
    assert_eq!(told(&test, &join_group("g", "a", &["t"])).await.heartbeat_interval_ms, 7_000);
}

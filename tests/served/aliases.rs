//! Plain names of views, and views that stand in lists of topics.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::describe_topic_partitions_request::Cursor;
use kafka_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{
    CreatePartitionsRequest, DescribeTopicPartitionsRequest, IncrementalAlterConfigsRequest, MetadataRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::broker::Served;
use super::peer::Peer;
use super::requests::*;

const VIEW: &str = "streamstack.view";
const LISTED: &str = "streamstack.views.listed";
const METADATA: i16 = 12;
const SEALS: (&str, &str) = ("streamstack.seal.records", "2");

/// A feed of two partitions with one commit in each, and a name of what it holds.
fn orders(client: &mut Peer) {
    client.create_topic("orders", 2, &[SEALS]);
    client.ask(PRODUCE, &produce("orders", vec![(0, batch(&["a", "b"]))]));
    client.ask(PRODUCE, &produce("orders", vec![(1, batch(&["c", "d"]))]));
    client.create_topic("orders-all", -1, &[(VIEW, "orders..feed")]);
}

fn metadata(client: &mut Peer, topics: Option<&[&str]>) -> Vec<MetadataResponseTopic> {
    let topic = |name: &&str| MetadataRequestTopic::default().with_name(Some(topic_name(name)));
    let topics = topics.map(|topics| topics.iter().map(topic).collect());
    let request = MetadataRequest::default().with_topics(topics).with_allow_auto_topic_creation(true);
    client.ask(METADATA, &request).topics
}

fn created(client: &mut Peer, topic: &str, partitions: i32, configs: &[(&str, &str)]) -> (i16, String) {
    let answer = client.ask(5, &create_topic(topic, partitions, configs)).topics.remove(0);
    (answer.error_code, answer.error_message.unwrap_or_default().to_string())
}

/// Sets a config of a topic, or takes it away.
fn set(client: &mut Peer, topic: &str, name: &str, value: Option<&str>) -> (i16, String) {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let config = AlterableConfig::default()
        .with_name(text(name))
        .with_config_operation(i8::from(value.is_none()))
        .with_value(value.map(text));
    let resource = AlterConfigsResource::default()
        .with_resource_type(2)
        .with_resource_name(text(topic))
        .with_configs(vec![config]);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    let answer = client.ask(1, &request).responses.remove(0);
    (answer.error_code, answer.error_message.unwrap_or_default().to_string())
}

fn code(error: ResponseError) -> i16 {
    error.code()
}

#[test]
fn a_name_of_a_view_is_listed_and_read_as_the_view() {
    let mut served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    for pass in ["before", "after a restart"] {
        let listed = metadata(&mut client, None);
        let names: Vec<_> = listed.iter().map(|topic| topic.name.as_ref().unwrap().to_string()).collect();
        assert_eq!(names, ["orders", "orders-all"], "{pass}");
        assert!(listed.iter().all(|topic| !topic.is_internal && topic.partitions.len() == 2), "{pass}: {listed:?}");
        let named = metadata(&mut client, Some(&["orders-all"])).remove(0);
        assert_eq!(named.topic_id, listed[1].topic_id, "{pass}");
        for partition in [0, 1] {
            let end = client.list_offsets("orders-all", partition, -1).offset;
            assert_eq!(end, 2, "{pass}");
            let (read, of_view) = (client.values("orders-all", partition), client.values("orders..feed", partition));
            assert_eq!(read, of_view, "{pass}");
            assert_eq!(read.len(), 2, "{pass}");
        }
        served.restart();
        client = served.connect();
    }
}

#[test]
fn a_name_of_a_view_is_only_read() {
    let served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    let invalid = code(ResponseError::InvalidTopicException);
    for topic in ["orders-all", "orders-all..seal"] {
        let answer = client.ask(PRODUCE, &produce(topic, vec![(0, batch(&["x"]))]));
        let refused = &answer.responses[0].partition_responses[0];
        assert_eq!(refused.error_code, invalid);
        assert!(refused.error_message.as_ref().unwrap().contains("orders..feed"), "{refused:?}");
    }
    let more = CreatePartitionsTopic::default().with_name(topic_name("orders-all")).with_count(3);
    let answer = client.ask(3, &CreatePartitionsRequest::default().with_topics(vec![more]).with_timeout_ms(1_000));
    assert_eq!(answer.results[0].error_code, invalid);
    // A view of it would be a view of nothing.
    assert_eq!(metadata(&mut client, Some(&["orders-all..feed"]))[0].error_code, invalid);
    client.delete_topic("orders-all");
    assert_eq!(client.values("orders", 0).len(), 2, "the feed stays");
}

#[test]
fn a_name_that_cannot_stand_for_a_view_is_refused_with_the_reason() {
    let served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    for (view, word) in [
        ("orders", "no view"),
        ("orders..seal", "read-only"),
        ("nobody..feed", "no feed"),
        ("orders-all..feed", "itself"),
        ("orders..feeds", "no view is called"),
    ] {
        let (error, message) = created(&mut client, "other", -1, &[(VIEW, view)]);
        assert_eq!(error, code(ResponseError::InvalidConfig), "{view}: {message}");
        assert!(message.contains(word), "{view}: {message}");
    }
    let (error, message) = created(&mut client, "other", 5, &[(VIEW, "orders..feed")]);
    assert_eq!(
        (error, message.contains("has 2 partitions")),
        (code(ResponseError::InvalidPartitions), true),
        "{message}"
    );
    // The commits have one.
    assert_eq!(created(&mut client, "orders-commits", 1, &[(VIEW, "orders..commits")]).0, 0);
    let (error, message) = set(&mut client, "orders", VIEW, Some("orders-commits..feed"));
    assert_eq!(error, code(ResponseError::InvalidConfig), "{message}");
    let (error, message) = set(&mut client, "orders", VIEW, Some("orders..feed"));
    assert_eq!((error, message.contains("has held")), (code(ResponseError::InvalidConfig), true), "{message}");
}

#[test]
fn an_empty_topic_becomes_a_name_of_a_view_and_a_topic_again() {
    let served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    client.create_topic("later", 1, &[]);
    assert_eq!(set(&mut client, "later", VIEW, Some("orders..commits")).0, 0);
    assert_eq!(client.values("later", 0).len(), 2);
    assert_eq!(set(&mut client, "later", VIEW, None).0, 0);
    assert_eq!(client.values("later", 0).len(), 0);
    let answer = client.ask(PRODUCE, &produce("later", vec![(0, batch(&["x"]))]));
    assert_eq!(answer.responses[0].partition_responses[0].error_code, 0);
}

#[test]
fn a_name_whose_feed_is_gone_says_so_and_is_not_made_again() {
    let served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    client.delete_topic("orders");
    let invalid = code(ResponseError::InvalidTopicException);
    assert_eq!(metadata(&mut client, Some(&["orders-all"]))[0].error_code, invalid);
    let listed = metadata(&mut client, None);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].error_code, invalid);
    client.delete_topic("orders-all");
    assert!(metadata(&mut client, None).is_empty());
}

#[test]
fn listed_views_follow_their_feed_as_internal_topics() {
    let served = Served::start();
    let mut client = served.connect();
    orders(&mut client);
    let (error, message) = set(&mut client, "orders", LISTED, Some("feed,newest"));
    assert_eq!((error, message.contains("no view is called")), (code(ResponseError::InvalidConfig), true), "{message}");
    let (error, message) = set(&mut client, "orders", LISTED, Some("seal"));
    assert_eq!((error, message.contains("seal")), (code(ResponseError::InvalidConfig), true), "{message}");
    assert_eq!(set(&mut client, "orders", LISTED, Some("feed,commits")).0, 0);
    let listed = metadata(&mut client, None);
    let told: Vec<_> =
        listed.iter().map(|topic| (topic.name.as_ref().unwrap().to_string(), topic.is_internal)).collect();
    let expected = [("orders", false), ("orders..feed", true), ("orders..commits", true), ("orders-all", false)];
    assert_eq!(told, expected.map(|(name, internal)| (name.to_owned(), internal)));
    // Asked for by name it is a topic as any.
    assert!(!metadata(&mut client, Some(&["orders..feed"]))[0].is_internal);
    assert_eq!(pages(&mut client, 2), expected.map(|(name, _)| name));
    assert_eq!(pages(&mut client, 1), expected.map(|(name, _)| name));
}

/// The names of all topics, in pages of so many partitions.
fn pages(client: &mut Peer, room: i32) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::<String>::new(), None);
    loop {
        let request =
            DescribeTopicPartitionsRequest::default().with_response_partition_limit(room).with_cursor(cursor.take());
        let answer = client.ask(0, &request);
        for topic in &answer.topics {
            let name = topic.name.as_ref().unwrap().to_string();
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        let Some(next) = answer.next_cursor else { return names };
        cursor = Some(Cursor::default().with_topic_name(next.topic_name).with_partition_index(next.partition_index));
    }
}

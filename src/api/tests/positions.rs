//! Where consumer groups read on: moved, told, forgotten, in every version.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kafka_protocol::messages::{
    CreateTopicsRequest, DeleteTopicsRequest, GroupId, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::super::find;
use super::super::metadata::topic_name;
use super::TestBroker;
use super::test_broker::Request;

/// Partition, offset, leader epoch, metadata, code.
type Told = (i32, i64, i32, String, i16);

fn group(name: &str) -> GroupId {
    GroupId(StrBytes::from_string(name.to_owned()))
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

async fn with_orders() -> TestBroker {
    let test = TestBroker::start();
    create(&test).await;
    test
}

async fn create(test: &TestBroker) {
    let topic = CreatableTopic::default().with_name(topic_name("orders")).with_num_partitions(2);
    let request = CreateTopicsRequest::default().with_topics(vec![topic.with_replication_factor(1)]);
    assert_eq!(test.call(7, &request).await.topics[0].error_code, 0);
}

/// By nobody in particular.
fn commit(name: &str, positions: &[(&str, i32, i64, &str)]) -> OffsetCommitRequest {
    let topics = positions.iter().map(|(topic, partition, offset, metadata)| {
        let partition = OffsetCommitRequestPartition::default()
            .with_partition_index(*partition)
            .with_committed_offset(*offset)
            .with_committed_metadata(Some(text(metadata)));
        OffsetCommitRequestTopic::default().with_name(topic_name(topic)).with_partitions(vec![partition])
    });
    OffsetCommitRequest::default()
        .with_group_id(group(name))
        .with_generation_id_or_member_epoch(-1)
        .with_retention_time_ms(-1)
        .with_topics(topics.collect())
}

async fn codes(test: &TestBroker, version: i16, request: &OffsetCommitRequest) -> Vec<i16> {
    let response = test.call(version, request).await;
    response.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code).collect()
}

fn wanted(name: &str, topic: &str, partitions: &[i32]) -> OffsetFetchRequestGroup {
    let topic = OffsetFetchRequestTopics::default().with_name(topic_name(topic));
    let topics = vec![topic.with_partition_indexes(partitions.to_vec())];
    OffsetFetchRequestGroup::default()
        .with_group_id(group(name))
        .with_member_id(None)
        .with_member_epoch(-1)
        .with_topics(Some(topics))
}

async fn told(test: &TestBroker, name: &str, topic: &str, partitions: &[i32]) -> Vec<Told> {
    let request = OffsetFetchRequest::default().with_groups(vec![wanted(name, topic, partitions)]);
    let mut response = test.call(9, &request).await;
    assert_eq!(response.groups[0].error_code, 0);
    let partitions = response.groups.remove(0).topics.remove(0).partitions.into_iter();
    let told = partitions.map(|p| {
        let metadata = p.metadata.unwrap().to_string();
        (p.partition_index, p.committed_offset, p.committed_leader_epoch, metadata, p.error_code)
    });
    told.collect()
}

async fn offset(test: &TestBroker, name: &str, topic: &str) -> i64 {
    told(test, name, topic, &[0]).await[0].1
}

fn delete(name: &str, topic: &str) -> OffsetDeleteRequest {
    let partitions = vec![OffsetDeleteRequestPartition::default()];
    let topic = OffsetDeleteRequestTopic::default().with_name(topic_name(topic)).with_partitions(partitions);
    OffsetDeleteRequest::default().with_group_id(group(name)).with_topics(vec![topic])
}

const UNKNOWN: i16 = 3;

#[tokio::test]
async fn positions_come_back_as_they_were_sent_in_every_version() {
    let test = with_orders().await;
    let versions = find(OffsetCommitRequest::KEY).unwrap();
    for version in versions.min..=versions.max {
        let offset = i64::from(version) * 10;
        let mut request = commit("g", &[("orders", 1, offset, "as sent \u{1F980}")]);
        request.topics[0].partitions[0].committed_leader_epoch = if version >= 6 { 7 } else { -1 };
        assert_eq!(codes(&test, version, &request).await, [0], "version {version}");
        let epoch = if version >= 6 { 7 } else { -1 };
        let expected = vec![(1, offset, epoch, "as sent \u{1F980}".to_owned(), 0)];
        assert_eq!(told(&test, "g", "orders", &[1]).await, expected, "version {version}");
    }
}

#[tokio::test]
async fn every_version_of_a_fetch_tells_the_same() {
    let test = with_orders().await;
    codes(&test, 9, &commit("g", &[("orders", 0, 5, "m")])).await;
    for version in 1..=7 {
        let topic =
            OffsetFetchRequestTopic::default().with_name(topic_name("orders")).with_partition_indexes(vec![0, 1]);
        let request = OffsetFetchRequest::default().with_group_id(group("g")).with_topics(Some(vec![topic]));
        let request = if version >= 7 { request.with_require_stable(true) } else { request };
        let response = test.call(version, &request).await;
        let partitions = &response.topics[0].partitions;
        let offsets: Vec<i64> = partitions.iter().map(|partition| partition.committed_offset).collect();
        assert_eq!((response.error_code, offsets), (0, vec![5, -1]), "version {version}");
        assert!(partitions.iter().all(|partition| partition.error_code == 0));
    }
    for version in 8..=9 {
        let groups = vec![wanted("g", "orders", &[0, 1]), wanted("unknown", "orders", &[0])];
        let response = test.call(version, &OffsetFetchRequest::default().with_groups(groups)).await;
        let offsets = response.groups.iter().map(|group| {
            let partitions = group.topics[0].partitions.iter();
            (group.error_code, partitions.map(|partition| partition.committed_offset).collect())
        });
        assert_eq!(offsets.collect::<Vec<_>>(), [(0, vec![5, -1]), (0, vec![-1])], "version {version}");
    }
}

#[tokio::test]
async fn without_topics_all_of_a_groups_positions_are_told() {
    let test = with_orders().await;
    let moved = commit("g", &[("orders", 1, 5, ""), ("orders..feed", 0, 6, ""), ("orders..commits", 0, 7, "")]);
    assert_eq!(codes(&test, 8, &moved).await, [0, 0, 0]);
    let request = OffsetFetchRequest::default().with_group_id(group("g")).with_topics(None);
    let response = test.call(5, &request).await;
    let told = response.topics.iter().flat_map(|topic| {
        let partitions = topic.partitions.iter();
        partitions.map(move |partition| (&*topic.name.0, partition.partition_index, partition.committed_offset))
    });
    assert_eq!(told.collect::<Vec<_>>(), [("orders", 1, 5), ("orders..commits", 0, 7), ("orders..feed", 0, 6)]);
    let nobody = wanted("nobody", "orders", &[]).with_topics(None);
    let response = test.call(8, &OffsetFetchRequest::default().with_groups(vec![nobody])).await;
    assert_eq!((response.groups[0].error_code, response.groups[0].topics.len()), (0, 0));
}

#[tokio::test]
async fn groups_have_positions_on_views_but_not_on_the_control_topic_or_where_nothing_is() {
    let test = with_orders().await;
    for view in ["orders..feed", "orders..since-0", "orders..commit-4", "orders..commits-1-4", "orders..stream-3"] {
        assert_eq!(codes(&test, 9, &commit("g", &[(view, 1, 3, "")])).await, [0], "{view}");
        assert_eq!(told(&test, "g", view, &[1]).await[0].1, 3, "{view}");
        assert_eq!(codes(&test, 9, &commit("g", &[(view, 2, 3, "")])).await, [UNKNOWN], "{view}");
    }
    for one_partition in ["orders..commits", "orders..streams"] {
        let positions = [(one_partition, 0, 3, ""), (one_partition, 1, 3, "")];
        assert_eq!(codes(&test, 9, &commit("g", &positions)).await, [0, UNKNOWN], "{one_partition}");
    }
    let invalid = ResponseError::InvalidTopicException.code();
    assert_eq!(codes(&test, 9, &commit("g", &[("orders..seal", 0, 3, "")])).await, [invalid]);
    for nothing in ["visits", "visits..feed", "orders..nothing", "or ders", ""] {
        assert_eq!(codes(&test, 9, &commit("g", &[(nothing, 0, 3, "")])).await, [UNKNOWN], "{nothing}");
        assert_eq!(offset(&test, "g", nothing).await, -1, "{nothing}");
    }
    assert_eq!(codes(&test, 9, &commit("g", &[("orders", -1, 3, "")])).await, [UNKNOWN]);
}

#[tokio::test]
async fn positions_are_kept_as_long_as_their_client_said_also_over_a_restart() {
    let test = with_orders().await;
    let at = [("orders", 0, 5, "")];
    assert_eq!(codes(&test, 2, &commit("short", &at).with_retention_time_ms(60_000)).await, [0]);
    assert_eq!(codes(&test, 4, &commit("moved", &at).with_retention_time_ms(60_000)).await, [0]);
    assert_eq!(codes(&test, 4, &commit("moved", &at)).await, [0]);
    let test = test.restart().await;
    test.clock.advance_ms(59_999);
    test.broker.forget_old_positions();
    assert_eq!(offset(&test, "short", "orders").await, 5);
    test.clock.advance_ms(1);
    test.broker.forget_old_positions();
    assert_eq!(offset(&test, "short", "orders").await, -1);
    assert_eq!(offset(&test, "moved", "orders").await, 5, "the later commit leaves it to the broker");
}

#[tokio::test]
async fn metadata_that_is_too_long_is_refused_alone() {
    let test = TestBroker::with(&["offset.metadata.max.bytes=4"]);
    create(&test).await;
    let too_large = ResponseError::OffsetMetadataTooLarge.code();
    let moved = commit("g", &[("orders", 0, 1, "12345"), ("orders", 1, 2, "1234"), ("visits", 0, 3, "12345")]);
    assert_eq!(codes(&test, 9, &moved).await, [too_large, 0, UNKNOWN]);
    let offsets: Vec<i64> = told(&test, "g", "orders", &[0, 1]).await.iter().map(|told| told.1).collect();
    assert_eq!(offsets, [-1, 2]);
    // Counted as Kafka counts: four letters of two bytes are four.
    assert_eq!(codes(&test, 9, &commit("g", &[("orders", 0, 1, "äöüß")])).await, [0]);
    assert_eq!(codes(&test, 9, &commit("g", &[("orders", 0, 1, "\u{1F980}\u{1F980}a")])).await, [too_large]);
}

#[tokio::test]
async fn a_member_of_no_group_moves_nothing() {
    let test = with_orders().await;
    codes(&test, 9, &commit("g", &[("orders", 0, 5, "")])).await;
    let request = commit("g", &[("orders", 0, 9, "")]).with_member_id(text("m")).with_generation_id_or_member_epoch(4);
    assert_eq!(codes(&test, 9, &request).await, [ResponseError::UnknownMemberId.code()]);
    assert_eq!(offset(&test, "g", "orders").await, 5);
}

#[tokio::test]
async fn a_deleted_topic_takes_the_positions_on_it_and_its_views_along() {
    let test = with_orders().await;
    let names = ["orders", "orders..feed", "orders..commits", "orders..commit-3"];
    for name in names {
        assert_eq!(codes(&test, 9, &commit("g", &[(name, 0, 10, "")])).await, [0], "{name}");
    }
    let gone = DeleteTopicState::default().with_name(Some(topic_name("orders")));
    let deleted = test.call(6, &DeleteTopicsRequest::default().with_topics(vec![gone])).await;
    assert_eq!(deleted.responses[0].error_code, 0);
    create(&test).await;
    for name in names {
        assert_eq!(offset(&test, "g", name).await, -1, "{name}");
    }
}

#[tokio::test]
async fn positions_are_deleted_by_topic() {
    let test = with_orders().await;
    codes(&test, 9, &commit("g", &[("orders", 0, 5, ""), ("orders..feed", 0, 6, "")])).await;
    let answer = test.call(0, &delete("g", "orders")).await;
    assert_eq!((answer.error_code, answer.topics[0].partitions[0].error_code), (0, 0));
    assert_eq!((offset(&test, "g", "orders").await, offset(&test, "g", "orders..feed").await), (-1, 6));
    let mut beyond = delete("g", "orders..feed");
    beyond.topics[0].partitions.push(OffsetDeleteRequestPartition::default().with_partition_index(99));
    let answer = test.call(0, &beyond).await;
    assert_eq!([0, 1].map(|n| answer.topics[0].partitions[n].error_code), [0, UNKNOWN]);
    assert_eq!(offset(&test, "g", "orders..feed").await, -1);
    codes(&test, 9, &commit("g", &[("orders..feed", 0, 6, "")])).await;
    let answer = test.call(0, &delete("g", "visits")).await;
    assert_eq!((answer.error_code, answer.topics[0].partitions[0].error_code), (0, UNKNOWN));
    let unknown = ResponseError::GroupIdNotFound.code();
    assert_eq!(test.call(0, &delete("nobody", "orders")).await.error_code, unknown);
    assert_eq!(test.call(0, &delete("", "orders")).await.error_code, ResponseError::InvalidGroupId.code());
}

#[tokio::test]
async fn what_is_named_several_times_counts_and_is_answered_once() {
    let test = with_orders().await;
    let twice = commit("g", &[("orders", 0, 5, "a"), ("orders", 1, 3, "b"), ("orders", 0, 7, "c")]);
    assert_eq!(codes(&test, 9, &twice).await, [0, 0, 0]);
    assert_eq!(offset(&test, "g", "orders").await, 7);
    let groups = vec![wanted("g", "orders", &[1, 1, 0, 1]), wanted("g", "orders", &[0])];
    let response = test.call(9, &OffsetFetchRequest::default().with_groups(groups)).await;
    assert_eq!(response.groups.len(), 1);
    let told: Vec<i32> = response.groups[0].topics[0].partitions.iter().map(|told| told.partition_index).collect();
    assert_eq!(told, [1, 0]);
}

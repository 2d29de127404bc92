//! Groups of the consumer protocol over the wire: hand-overs, fences, topics that change, and how they are described.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_group_describe_response::DescribedGroup;
use kafka_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use kafka_protocol::messages::{
    ApiVersionsRequest, ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    DeleteTopicsRequest, GroupId, JoinGroupRequest, OffsetCommitRequest, OffsetFetchRequest,
};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::super::metadata::topic_name;
use super::TestBroker;
use super::cluster::make as create;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

fn beat(member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(group("g"))
        .with_member_id(text(member))
        .with_member_epoch(epoch)
        .with_rebalance_timeout_ms(-1)
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None)
}

fn join(member: &str, topics: &[&str]) -> ConsumerGroupHeartbeatRequest {
    let topics = topics.iter().map(|topic| topic_name(topic)).collect();
    owning(beat(member, 0), &[]).with_rebalance_timeout_ms(60_000).with_subscribed_topic_names(Some(topics))
}

pub fn join_group(name: &str, member: &str, topics: &[&str]) -> ConsumerGroupHeartbeatRequest {
    join(member, topics).with_group_id(group(name))
}

fn owning(request: ConsumerGroupHeartbeatRequest, owned: &[(Uuid, &[i32])]) -> ConsumerGroupHeartbeatRequest {
    let topic = |(id, partitions): &(Uuid, &[i32])| {
        TopicPartitions::default().with_topic_id(*id).with_partitions(partitions.to_vec())
    };
    request.with_topic_partitions(Some(owned.iter().map(topic).collect()))
}

pub async fn told(test: &TestBroker, request: &ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse {
    let response = test.call(1, request).await;
    assert_eq!(response.error_code, 0, "{:?}", response.error_message);
    response
}

async fn refused(test: &TestBroker, request: &ConsumerGroupHeartbeatRequest) -> Option<ResponseError> {
    let response = test.call(1, request).await;
    assert!(response.error_message.is_some());
    ResponseError::try_from_code(response.error_code)
}

/// What a member is told to read: nothing when it is not told.
fn assigned(response: &ConsumerGroupHeartbeatResponse) -> Option<Vec<(Uuid, Vec<i32>)>> {
    let assignment = response.assignment.as_ref()?;
    Some(assignment.topic_partitions.iter().map(|topic| (topic.topic_id, topic.partitions.clone())).collect())
}

pub async fn describe(test: &TestBroker, name: &str) -> DescribedGroup {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![group(name)]);
    test.call(1, &request.with_include_authorized_operations(true)).await.groups.remove(0)
}

#[tokio::test]
async fn a_partition_changes_hands_only_after_its_owner_let_go() {
    let test = TestBroker::start();
    let id = create(&test, "t", 2).await;
    assert_eq!(assigned(&told(&test, &join("a", &["t"])).await), Some(vec![(id, vec![0, 1])]));
    let b = told(&test, &join("b", &["t"])).await;
    assert_eq!((b.member_epoch, assigned(&b)), (2, Some(Vec::new())));
    let a = told(&test, &owning(beat("a", 1), &[(id, &[0, 1])])).await;
    assert_eq!((a.member_epoch, assigned(&a)), (1, Some(vec![(id, vec![0])])));
    assert_eq!(assigned(&told(&test, &beat("b", 2)).await), None, "still the other's");
    assert_eq!(told(&test, &owning(beat("a", 1), &[(id, &[0])])).await.member_epoch, 2);
    assert_eq!(assigned(&told(&test, &beat("b", 2)).await), Some(vec![(id, vec![1])]));
    assert_eq!(describe(&test, "g").await.group_state.as_str(), "Stable");
}

#[tokio::test]
async fn refusals_have_the_codes_that_clients_know() {
    let test = TestBroker::with(&["group.consumer.max.size=2"]);
    create(&test, "t", 1).await;
    assert_eq!(refused(&test, &beat("a", 1)).await, Some(ResponseError::GroupIdNotFound));
    assert_eq!(refused(&test, &beat("a", -1)).await, Some(ResponseError::GroupIdNotFound));
    let nameless = join("a", &["t"]).with_group_id(group(""));
    assert_eq!(refused(&test, &nameless).await, Some(ResponseError::InvalidRequest));
    assert_eq!(refused(&test, &join("", &["t"])).await, Some(ResponseError::InvalidRequest));
    told(&test, &join("a", &["t"])).await;
    assert_eq!(refused(&test, &beat("b", 1)).await, Some(ResponseError::UnknownMemberId));
    assert_eq!(refused(&test, &beat("a", 9)).await, Some(ResponseError::FencedMemberEpoch));
    let other = join("b", &["t"]).with_server_assignor(Some(text("other")));
    assert_eq!(refused(&test, &other).await, Some(ResponseError::UnsupportedAssignor));
    let bad = join("b", &[]).with_subscribed_topic_names(None).with_subscribed_topic_regex(Some(text("[")));
    assert_eq!(refused(&test, &bad).await, Some(ResponseError::InvalidRegularExpression));
    let first = |member| join(member, &["t"]).with_instance_id(Some(text("one")));
    told(&test, &first("b")).await;
    assert_eq!(refused(&test, &first("b2")).await, Some(ResponseError::GroupMaxSizeReached));
    told(&test, &beat("a", -1)).await;
    assert_eq!(refused(&test, &first("b2")).await, Some(ResponseError::UnreleasedInstanceId));
    told(&test, &beat("b", -2).with_instance_id(Some(text("one")))).await;
    told(&test, &first("b2")).await;
    let late = beat("b", 2).with_instance_id(Some(text("one")));
    assert_eq!(refused(&test, &late).await, Some(ResponseError::FencedInstanceId));
}

#[tokio::test]
async fn version_0_is_given_a_member_id() {
    let test = TestBroker::start();
    create(&test, "t", 1).await;
    let response = test.call(0, &join("", &["t"])).await;
    assert_eq!(response.error_code, 0);
    let member = response.member_id.unwrap();
    assert_eq!(told(&test, &beat(&member, 1)).await.member_id, Some(member));
}

#[tokio::test]
async fn a_deleted_topic_is_taken_away_and_made_again_it_is_another() {
    let test = TestBroker::start();
    let (t, u) = (create(&test, "t", 1).await, create(&test, "u", 1).await);
    told(&test, &join("a", &["t", "u"])).await;
    let delete = DeleteTopicState::default().with_name(Some(topic_name("t")));
    test.call(6, &DeleteTopicsRequest::default().with_topics(vec![delete])).await;
    let a = told(&test, &owning(beat("a", 1), &[(t, &[0]), (u, &[0])])).await;
    assert_eq!(assigned(&a), Some(vec![(u, vec![0])]));
    told(&test, &owning(beat("a", 1), &[(u, &[0])])).await;
    let again = create(&test, "t", 1).await;
    assert_ne!(t, again);
    let a = told(&test, &beat("a", 2)).await;
    let mut expected = vec![(u, vec![0]), (again, vec![0])];
    expected.sort();
    assert_eq!((a.member_epoch, assigned(&a)), (3, Some(expected)));
}

#[tokio::test]
async fn views_are_subscribed_to_by_name_and_patterns_match_feeds_alone() {
    let test = TestBroker::start();
    let id = create(&test, "t", 3).await;
    let views = told(&test, &join("a", &["t..feed", "t..commits"])).await;
    let assigned_views = assigned(&views).unwrap();
    assert_eq!(assigned_views.iter().map(|(_, partitions)| partitions.len()).sum::<usize>(), 4);
    assert!(assigned_views.iter().all(|(view, _)| *view != id));
    let pattern = join("p", &[]).with_group_id(group("p")).with_subscribed_topic_regex(Some(text("t.*")));
    assert_eq!(assigned(&told(&test, &pattern).await), Some(vec![(id, vec![0, 1, 2])]));
}

#[tokio::test]
async fn a_member_that_is_not_heard_of_is_out_in_time() {
    let test = TestBroker::start();
    let id = create(&test, "t", 1).await;
    told(&test, &join("a", &["t"])).await;
    told(&test, &join("b", &["t"])).await;
    // In steps: a longer time without a look would count as a pause of the process.
    for second in 1..=45 {
        test.clock.advance_ms(1_000);
        while test.broker.wake_due_group() {}
        if second == 40 {
            told(&test, &beat("b", 2)).await;
        }
    }
    assert_eq!(refused(&test, &beat("a", 1)).await, Some(ResponseError::UnknownMemberId));
    assert_eq!(assigned(&told(&test, &beat("b", 2)).await), Some(vec![(id, vec![0])]));
}

#[tokio::test]
async fn a_group_is_described_with_what_its_members_have_and_are_to_have() {
    let test = TestBroker::start();
    let id = create(&test, "t", 2).await;
    told(&test, &join("a", &["t"]).with_instance_id(Some(text("one"))).with_rack_id(Some(text("r")))).await;
    told(&test, &join("b", &["t"])).await;
    let described = describe(&test, "g").await;
    assert_eq!((described.error_code, described.group_state.as_str()), (0, "Reconciling"));
    assert_eq!((described.group_epoch, described.assignment_epoch), (2, 2));
    assert_eq!(described.assignor_name.as_str(), "uniform");
    assert_eq!(described.authorized_operations, super::super::node::GROUP_OPERATIONS);
    let [a, b] = &described.members[..] else { panic!("{described:?}") };
    assert_eq!((a.member_id.as_str(), a.member_epoch, a.member_type), ("a", 1, 1));
    assert_eq!((a.instance_id.as_deref(), a.rack_id.as_deref()), (Some("one"), Some("r")));
    assert_eq!((a.client_id.as_str(), a.client_host.as_str()), ("t", "/192.0.2.1"));
    assert_eq!(a.subscribed_topic_names, [topic_name("t")]);
    let held = &a.assignment.topic_partitions[0];
    assert_eq!((held.topic_id, &held.topic_name, &held.partitions[..]), (id, &topic_name("t"), &[0, 1][..]));
    assert_eq!(a.target_assignment.topic_partitions[0].partitions, [0]);
    assert_eq!((b.member_epoch, b.assignment.topic_partitions.len()), (2, 0));
    assert_eq!(b.target_assignment.topic_partitions[0].partitions, [1]);
    assert_eq!(describe(&test, "other").await.error_code, ResponseError::GroupIdNotFound.code());
}

#[tokio::test]
async fn positions_are_moved_and_told_at_the_present_epoch_alone() {
    let test = TestBroker::start();
    create(&test, "t", 1).await;
    told(&test, &join("a", &["t"])).await;
    let commit = async |member: &str, epoch: i32| {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(7);
        let topic = OffsetCommitRequestTopic::default().with_name(topic_name("t")).with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(group("g"))
            .with_member_id(text(member))
            .with_generation_id_or_member_epoch(epoch)
            .with_topics(vec![topic]);
        ResponseError::try_from_code(test.call(9, &request).await.topics[0].partitions[0].error_code)
    };
    let fetch = async |member: &str, epoch: i32| {
        let member = (!member.is_empty()).then(|| text(member));
        let topic = OffsetFetchRequestTopics::default().with_name(topic_name("t")).with_partition_indexes(vec![0]);
        let asked = OffsetFetchRequestGroup::default().with_group_id(group("g")).with_topics(Some(vec![topic]));
        let asked = asked.with_member_id(member).with_member_epoch(epoch);
        let group = test.call(9, &OffsetFetchRequest::default().with_groups(vec![asked])).await.groups.remove(0);
        let offset = group.topics.first().map(|topic| topic.partitions[0].committed_offset);
        offset.ok_or_else(|| ResponseError::try_from_code(group.error_code).unwrap())
    };
    assert_eq!(commit("a", 5).await, Some(ResponseError::StaleMemberEpoch));
    assert_eq!(commit("b", 1).await, Some(ResponseError::UnknownMemberId));
    assert_eq!(commit("", -1).await, Some(ResponseError::UnknownMemberId), "not while there are members");
    assert_eq!(fetch("", -1).await, Ok(-1), "nothing was stored");
    assert_eq!(commit("a", 1).await, None);
    assert_eq!(fetch("a", 1).await, Ok(7));
    assert_eq!(fetch("a", 0).await, Err(ResponseError::StaleMemberEpoch));
    assert_eq!(fetch("b", 1).await, Err(ResponseError::UnknownMemberId));
}

#[tokio::test]
async fn a_group_without_members_is_of_the_kind_that_its_next_member_makes_it_and_its_epochs_go_on() {
    let test = TestBroker::start();
    create(&test, "t", 1).await;
    told(&test, &join("a", &["t"])).await;
    let classic_join = async || {
        let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
        let request = JoinGroupRequest::default()
            .with_group_id(group("g"))
            .with_session_timeout_ms(30_000)
            .with_rebalance_timeout_ms(30_000)
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol]);
        ResponseError::try_from_code(test.call(4, &request).await.error_code)
    };
    // No bytes are no subscription, which members of a consumer group have.
    assert_eq!(classic_join().await, Some(ResponseError::InconsistentGroupProtocol));
    told(&test, &beat("a", -1)).await;
    assert_eq!(describe(&test, "g").await.group_state.as_str(), "Empty");
    assert_eq!(classic_join().await, Some(ResponseError::MemberIdRequired), "the group is of the classic kind now");
    assert_eq!(describe(&test, "g").await.error_code, ResponseError::GroupIdNotFound.code());
    // Nobody has come with that member id yet.
    assert_eq!(told(&test, &join("b", &["t"])).await.member_epoch, 3);
}

#[tokio::test]
async fn versions_before_member_epochs_move_no_positions_of_members_that_have_them() {
    let test = TestBroker::start();
    create(&test, "t", 1).await;
    told(&test, &join("a", &["t"])).await;
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(7);
    let topic = OffsetCommitRequestTopic::default().with_name(topic_name("t")).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default().with_group_id(group("g")).with_topics(vec![topic]);
    let request = request.with_member_id(text("a")).with_generation_id_or_member_epoch(1);
    let code = async |version| test.call(version, &request).await.topics[0].partitions[0].error_code;
    for version in 2..=8 {
        assert_eq!(code(version).await, ResponseError::UnsupportedVersion.code());
    }
    assert_eq!(code(9).await, 0);
}

#[tokio::test]
async fn the_feature_that_clients_look_for_is_finalized() {
    let test = TestBroker::start();
    let request =
        ApiVersionsRequest::default().with_client_software_name(text("t")).with_client_software_version(text("1"));
    let response = test.call(4, &request).await;
    let finalized =
        response.finalized_features.iter().find(|feature| feature.name.as_str() == "group.version").unwrap();
    assert_eq!((finalized.min_version_level, finalized.max_version_level), (1, 1));
    let supported =
        response.supported_features.iter().find(|feature| feature.name.as_str() == "group.version").unwrap();
    assert_eq!((supported.min_version, supported.max_version), (1, 1));
}

#[tokio::test]
async fn one_regular_expression_too_many_is_refused_with_its_reason() {
    let test = TestBroker::start();
    create(&test, "t", 1).await;
    let subscribed = |member: &str, regex: &str| {
        join(member, &[]).with_subscribed_topic_names(None).with_subscribed_topic_regex(Some(text(regex)))
    };
    for n in 0..32 {
        told(&test, &subscribed(&format!("m{n}"), &format!("t{n}"))).await;
    }
    let response = test.call(1, &subscribed("late", "other")).await;
    assert_eq!(response.error_code, ResponseError::InvalidRegularExpression.code());
    assert!(response.error_message.unwrap().contains("32 different regular expressions"));
    told(&test, &subscribed("late", "t7")).await;
}

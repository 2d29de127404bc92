//! Consumer groups of the classic kind, in every version.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, ListGroupsRequest, SyncGroupRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::TestBroker;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

fn start() -> TestBroker {
    TestBroker::with(&["group.initial.rebalance.delay.ms=0"])
}

fn join(name: &str, member: &str, version: i16) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(group(name))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(if version >= 1 { 60_000 } else { -1 })
        .with_member_id(text(member))
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol.with_metadata(Bytes::from_static(b"\xff\0 metadata"))])
}

/// Joins, twice if the first answer is an id.
async fn joined(test: &TestBroker, name: &str, version: i16) -> JoinGroupResponse {
    let first = test.call(version, &join(name, "", version)).await;
    if version < 4 {
        return first;
    }
    assert_eq!(first.error_code, ResponseError::MemberIdRequired.code());
    assert_eq!((first.generation_id, first.protocol_type), (-1, None));
    test.call(version, &join(name, &first.member_id, version)).await
}

fn sync(name: &str, member: &StrBytes, generation: i32) -> SyncGroupRequest {
    let assignment = SyncGroupRequestAssignment::default().with_member_id(member.clone());
    SyncGroupRequest::default()
        .with_group_id(group(name))
        .with_member_id(member.clone())
        .with_generation_id(generation)
        .with_protocol_type(Some(text("consumer")))
        .with_protocol_name(Some(text("range")))
        .with_assignments(vec![assignment.with_assignment(Bytes::from_static(b"\xfe assignment"))])
}

/// A group of one member; its id.
async fn stable(test: &TestBroker, name: &str) -> StrBytes {
    let member = joined(test, name, 9).await;
    let synced = test.call(5, &sync(name, &member.member_id, member.generation_id)).await;
    assert_eq!(synced.error_code, 0);
    member.member_id
}

#[tokio::test]
async fn members_join_sync_and_leave_in_every_version() {
    let test = start();
    for version in 0..=9 {
        let name = format!("group-{version}");
        let member = joined(&test, &name, version).await;
        assert_eq!((member.error_code, member.generation_id), (0, 1), "version {version}");
        assert!(member.member_id.starts_with("t-"), "{}", member.member_id);
        assert_eq!((member.leader, member.protocol_name.as_deref()), (member.member_id.clone(), Some("range")));
        assert_eq!(member.protocol_type.as_deref(), (version >= 7).then_some("consumer"));
        assert_eq!(member.members[0].metadata.as_ref(), b"\xff\0 metadata");

        let synced = test.call(version.min(5), &sync(&name, &member.member_id, 1)).await;
        assert_eq!((synced.error_code, synced.assignment.as_ref()), (0, b"\xfe assignment".as_slice()));
        assert_eq!(synced.protocol_name.as_deref(), (version >= 5).then_some("range"));

        let beat = HeartbeatRequest::default().with_group_id(group(&name)).with_member_id(member.member_id.clone());
        let stale = test.call(version.min(4), &beat.clone().with_generation_id(0)).await;
        assert_eq!(stale.error_code, ResponseError::IllegalGeneration.code());
        assert_eq!(test.call(version.min(4), &beat.with_generation_id(1)).await.error_code, 0);

        let leave = LeaveGroupRequest::default().with_group_id(group(&name));
        let (leave, wrong) = match version {
            ..=2 => (leave.clone().with_member_id(member.member_id), leave.with_member_id(text("nobody"))),
            _ => {
                let by = |id: StrBytes| leave.clone().with_members(vec![MemberIdentity::default().with_member_id(id)]);
                (by(member.member_id), by(text("nobody")))
            }
        };
        let unknown = ResponseError::UnknownMemberId.code();
        let refused = test.call(version.min(5), &wrong).await;
        assert_eq!(refused.members.first().map_or(refused.error_code, |member| member.error_code), unknown);
        let left = test.call(version.min(5), &leave).await;
        assert_eq!((left.error_code, left.members.first().map_or(0, |member| member.error_code)), (0, 0));
    }
}

#[tokio::test]
async fn version_5_must_tell_the_protocol_that_a_member_syncs_for() {
    let test = start();
    let member = joined(&test, "g", 9).await;
    let sync = sync("g", &member.member_id, member.generation_id);
    for silent in [sync.clone().with_protocol_type(None), sync.clone().with_protocol_name(None)] {
        let refused = test.call(5, &silent).await;
        assert_eq!(refused.error_code, ResponseError::InconsistentGroupProtocol.code());
    }
    assert_eq!(test.call(4, &sync).await.error_code, 0);
}

#[tokio::test]
async fn garbage_of_members_is_stored_and_described_as_sent() {
    let test = start();
    let member = stable(&test, "g").await;
    for version in 0..=6 {
        let request = DescribeGroupsRequest::default().with_groups(vec![group("g"), group("none"), group("g")]);
        let request = request.with_include_authorized_operations(version >= 3);
        let response = test.call(version, &request).await;
        let [known, unknown] = &response.groups[..] else { panic!("{response:?}") };
        assert_eq!(
            (known.error_code, known.group_state.as_str(), known.protocol_data.as_str()),
            (0, "Stable", "range")
        );
        assert_eq!((known.protocol_type.as_str(), known.authorized_operations < 0), ("consumer", version < 3));
        let told = &known.members[0];
        assert_eq!((&told.member_id, told.client_id.as_str(), told.client_host.as_str()), (&member, "t", "/192.0.2.1"));
        assert_eq!(told.member_metadata.as_ref(), b"\xff\0 metadata");
        assert_eq!(told.member_assignment.as_ref(), b"\xfe assignment");
        let not_found = if version >= 6 { ResponseError::GroupIdNotFound.code() } else { 0 };
        assert_eq!((unknown.error_code, unknown.group_state.as_str()), (not_found, "Dead"));
        assert_eq!(unknown.error_message.is_some(), version >= 6);
    }
}

#[tokio::test]
async fn groups_are_listed_by_state_and_type() {
    let test = start();
    stable(&test, "running").await;
    let gone = stable(&test, "gone").await;
    let leave = MemberIdentity::default().with_member_id(gone);
    test.call(3, &LeaveGroupRequest::default().with_group_id(group("gone")).with_members(vec![leave])).await;
    let list = async |version: i16, states: &[&str], types: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|wanted| text(wanted)).collect();
        let request = ListGroupsRequest::default().with_states_filter(texts(states)).with_types_filter(texts(types));
        let groups = test.call(version, &request).await.groups;
        groups.iter().map(|group| format!("{}:{}", &*group.group_id, group.group_state.as_str())).collect::<Vec<_>>()
    };
    for version in 0..=3 {
        assert_eq!(list(version, &[], &[]).await, ["gone:", "running:"]);
    }
    assert_eq!(list(4, &[], &[]).await, ["gone:Empty", "running:Stable"]);
    assert_eq!(list(4, &["stable"], &[]).await, ["running:Stable"]);
    assert_eq!(list(5, &["Empty", "Dead"], &["Classic"]).await, ["gone:Empty"]);
    assert!(list(5, &[], &["consumer"]).await.is_empty());
}

#[tokio::test]
async fn a_group_is_deleted_when_it_has_no_members() {
    let test = start();
    let member = stable(&test, "g").await;
    let delete = async |version: i16| {
        let names = vec![group("g"), group("none"), group("")];
        let response = test.call(version, &DeleteGroupsRequest::default().with_groups_names(names)).await;
        response.results.iter().map(|result| result.error_code).collect::<Vec<_>>()
    };
    let (not_empty, not_found) = (ResponseError::NonEmptyGroup.code(), ResponseError::GroupIdNotFound.code());
    // As in Kafka, a group may be called "" here: its positions once could be committed.
    assert_eq!(delete(0).await, [not_empty, not_found, not_found]);
    let leave = MemberIdentity::default().with_member_id(member);
    test.call(5, &LeaveGroupRequest::default().with_group_id(group("g")).with_members(vec![leave])).await;
    assert_eq!(delete(1).await, [0, not_found, not_found]);
    assert_eq!(delete(2).await, [not_found, not_found, not_found]);
    assert_eq!(joined(&test, "g", 9).await.generation_id, 1, "it begins anew");
}

#[tokio::test]
async fn requests_without_a_groups_name_or_within_no_session_are_refused() {
    let test = start();
    let no_name = ResponseError::InvalidGroupId.code();
    assert_eq!(test.call(9, &join("", "", 9)).await.error_code, no_name);
    assert_eq!(test.call(5, &sync("", &text("m"), 1)).await.error_code, no_name);
    assert_eq!(test.call(4, &HeartbeatRequest::default()).await.error_code, no_name);
    assert_eq!(test.call(5, &LeaveGroupRequest::default()).await.error_code, no_name);
    let short = join("g", "", 9).with_session_timeout_ms(5_999);
    assert_eq!(test.call(9, &short).await.error_code, ResponseError::InvalidSessionTimeout.code());
    assert_eq!(test.call(4, &HeartbeatRequest::default().with_group_id(group("g"))).await.error_code, 25);
}

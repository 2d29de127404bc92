//! Positions that nobody uses any more are forgotten, and those of a group that is at work never are, whatever it does.

use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use kafka_protocol::messages::{
    DescribeGroupsRequest, GroupId, JoinGroupRequest, LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::broker::Served;
use super::peer::Peer;
use super::requests::topic_name;

const JOIN: i16 = 9;
/// Longer than positions are kept.
const MINUTE_MS: u32 = 60_001;

/// Positions are kept for a minute of the test's clock, and looked at all the time.
fn start() -> Served {
    Served::with(&[
        "offsets.retention.minutes=1",
        "offsets.retention.check.interval.ms=20",
        "group.initial.rebalance.delay.ms=0",
    ])
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

/// A static member's wish, so that one request is enough.
fn join(instance: &str) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(group("busy"))
        .with_session_timeout_ms(1_800_000)
        .with_rebalance_timeout_ms(1_800_000)
        .with_group_instance_id(Some(text(instance)))
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol.with_metadata(Bytes::from_static(b"m"))])
}

/// By nobody in particular.
fn commit(peer: &mut Peer, name: &str) {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(7);
    let topic = OffsetCommitRequestTopic::default().with_name(topic_name("orders")).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(group(name))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    assert_eq!(peer.ask(8, &request).topics[0].partitions[0].error_code, 0);
}

fn position(peer: &mut Peer, name: &str) -> i64 {
    let topic = OffsetFetchRequestTopic::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
    let request = OffsetFetchRequest::default().with_group_id(group(name)).with_topics(Some(vec![topic]));
    peer.ask(5, &request).topics[0].partitions[0].committed_offset
}

fn state(peer: &mut Peer) -> String {
    let request = DescribeGroupsRequest::default().with_groups(vec![group("busy")]);
    peer.ask(5, &request).groups[0].group_state.to_string()
}

/// A group that nobody is in is committed to, and forgotten once a minute has passed: then the others were looked at too.
fn a_minute_passes(served: &Served, peer: &mut Peer) {
    commit(peer, "unused");
    served.clock.advance_ms(MINUTE_MS);
    until(|| position(peer, "unused") == -1);
}

fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to that");
}

#[test]
fn positions_of_a_group_that_rebalances_are_kept_and_those_of_one_without_members_are_not() {
    let served = start();
    let (mut operator, mut one, mut other) = (served.connect(), served.connect(), served.connect());
    operator.create_topic("orders", 1, &[]);
    commit(&mut operator, "busy");
    let joined = one.ask(JOIN, &join("one"));
    assert_eq!((joined.error_code, state(&mut operator).as_str()), (0, "CompletingRebalance"));
    a_minute_passes(&served, &mut operator);
    assert_eq!(position(&mut operator, "busy"), 7, "its members have yet to be told what they read");
    // One more, for which the first would have to join again.
    other.send(JOIN, &join("other"));
    until(|| state(&mut operator) == "PreparingRebalance");
    for _ in 0..3 {
        a_minute_passes(&served, &mut operator);
        assert_eq!(state(&mut operator), "PreparingRebalance");
        assert_eq!(position(&mut operator, "busy"), 7);
    }
    let leaving = |instance| MemberIdentity::default().with_group_instance_id(Some(text(instance)));
    let leaving = vec![leaving("one"), leaving("other")];
    let left = operator.ask(5, &LeaveGroupRequest::default().with_group_id(group("busy")).with_members(leaving));
    assert!(left.members.iter().all(|member| member.error_code == 0), "{left:?}");
    let told = other.answer::<JoinGroupRequest>(JOIN);
    assert_eq!(told.error_code, ResponseError::UnknownMemberId.code());
    assert_eq!((state(&mut operator).as_str(), position(&mut operator, "busy")), ("Empty", 7));
    a_minute_passes(&served, &mut operator);
    until(|| position(&mut operator, "busy") == -1);
}

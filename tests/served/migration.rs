//! A group on the wire that goes from the classic to the consumer protocol with its members, and back.

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, GroupId,
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, ListGroupsRequest, OffsetCommitRequest,
    SyncGroupRequest, SyncGroupResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::broker::Served;
use super::peer::Peer;
use super::requests::topic_name;

/// A subscription to `t` in version 0: that topic, no user data.
const SUBSCRIPTION: &[u8] = b"\0\0\0\0\0\x01\0\x01t\xff\xff\xff\xff";

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group() -> GroupId {
    GroupId(text("g"))
}

/// An assignment of these partitions of `t`, as consumers read it.
fn assignment(partitions: &[u8]) -> Bytes {
    let mut bytes = b"\0\0\0\0\0\x01\0\x01t\0\0\0".to_vec();
    bytes.push(partitions.len() as u8);
    partitions.iter().for_each(|partition| bytes.extend([0, 0, 0, *partition]));
    bytes.extend(b"\xff\xff\xff\xff");
    bytes.into()
}

/// The group's only member of the classic protocol.
struct Classic {
    peer: Peer,
    id: StrBytes,
    generation: i32,
}

impl Classic {
    fn start(served: &Served) -> Classic {
        Classic { peer: served.connect(), id: text(""), generation: -1 }
    }

    fn join(&mut self) -> JoinGroupResponse {
        let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
        let request = JoinGroupRequest::default()
            .with_group_id(group())
            .with_session_timeout_ms(30_000)
            .with_rebalance_timeout_ms(60_000)
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol.with_metadata(Bytes::from_static(SUBSCRIPTION))]);
        let mut joined = self.peer.ask(9, &request.clone().with_member_id(self.id.clone()));
        if joined.error_code == ResponseError::MemberIdRequired.code() {
            joined = self.peer.ask(9, &request.with_member_id(joined.member_id));
        }
        assert_eq!(joined.error_code, 0);
        (self.id, self.generation) = (joined.member_id.clone(), joined.generation_id);
        joined
    }

    /// Asks for its assignment, and as the leader brings it.
    fn sync(&mut self, own: Bytes) -> SyncGroupResponse {
        let own = SyncGroupRequestAssignment::default().with_member_id(self.id.clone()).with_assignment(own);
        let request = SyncGroupRequest::default()
            .with_group_id(group())
            .with_member_id(self.id.clone())
            .with_generation_id(self.generation)
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text("range")))
            .with_assignments(vec![own]);
        self.peer.ask(5, &request)
    }

    fn beat(&mut self) -> Option<ResponseError> {
        let request = HeartbeatRequest::default().with_group_id(group()).with_member_id(self.id.clone());
        ResponseError::try_from_code(self.peer.ask(4, &request.with_generation_id(self.generation)).error_code)
    }

    fn commit(&mut self, generation: i32) -> Option<ResponseError> {
        let id = self.id.clone();
        commit(&mut self.peer, 8, id, generation)
    }
}

fn commit(peer: &mut Peer, version: i16, member: StrBytes, generation: i32) -> Option<ResponseError> {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(7);
    let topic = OffsetCommitRequestTopic::default().with_name(topic_name("t")).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(group())
        .with_member_id(member)
        .with_generation_id_or_member_epoch(generation)
        .with_topics(vec![topic]);
    ResponseError::try_from_code(peer.ask(version, &request).topics[0].partitions[0].error_code)
}

/// Member `x` of the consumer protocol says that it is alive, or joins at epoch 0.
fn beat(peer: &mut Peer, epoch: i32) -> ConsumerGroupHeartbeatResponse {
    let request = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(text("x"))
        .with_member_epoch(epoch)
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None);
    let request = match epoch {
        0 => request
            .with_rebalance_timeout_ms(60_000)
            .with_subscribed_topic_names(Some(vec![topic_name("t")]))
            .with_topic_partitions(Some(Vec::<TopicPartitions>::new())),
        _ => request.with_rebalance_timeout_ms(-1),
    };
    peer.ask(1, &request)
}

fn assigned(told: &ConsumerGroupHeartbeatResponse) -> Vec<i32> {
    assert_eq!(told.error_code, 0, "{told:?}");
    let assignment = told.assignment.iter().flat_map(|assignment| &assignment.topic_partitions);
    assignment.flat_map(|topic| topic.partitions.clone()).collect()
}

/// By the list of groups, and the kinds of its members when it is a consumer group.
fn kind(peer: &mut Peer) -> (String, Vec<i8>) {
    let listed = peer.ask(5, &ListGroupsRequest::default()).groups.remove(0);
    let described = peer.ask(1, &ConsumerGroupDescribeRequest::default().with_group_ids(vec![group()]));
    let members = described.groups[0].members.iter().map(|member| member.member_type);
    let mut members: Vec<i8> = members.collect();
    members.sort_unstable();
    (listed.group_type.to_string(), members)
}

/// A group of one member of each protocol, each of which reads one of two partitions.
fn mixed() -> (Served, Classic, Peer) {
    let served = Served::with(&["group.initial.rebalance.delay.ms=0"]);
    let mut classic = Classic::start(&served);
    classic.peer.create_topic("t", 2, &[]);
    classic.join();
    assert_eq!(classic.sync(assignment(&[0, 1])).error_code, 0);
    let mut modern = served.connect();
    assert_eq!(kind(&mut modern), ("classic".to_owned(), vec![]));
    assert_eq!(assigned(&beat(&mut modern, 0)), [0; 0], "the other one has yet to let go");
    assert_eq!(kind(&mut modern), ("consumer".to_owned(), vec![0, 1]));
    assert_eq!(classic.beat(), Some(ResponseError::RebalanceInProgress));
    assert_eq!(classic.join().generation_id, 2);
    let synced = classic.sync(Bytes::new());
    assert_eq!((synced.error_code, synced.assignment), (0, assignment(&[0])));
    assert_eq!(assigned(&beat(&mut modern, 2)), [1]);
    (served, classic, modern)
}

#[test]
fn a_group_is_upgraded_and_downgraded_with_its_members() {
    let (_served, mut classic, mut modern) = mixed();
    assert_eq!(classic.beat(), None);
    assert_eq!(classic.commit(1), Some(ResponseError::IllegalGeneration));
    assert_eq!(classic.commit(2), None);
    assert_eq!(commit(&mut modern, 8, text("x"), 2), Some(ResponseError::UnsupportedVersion));
    assert_eq!(commit(&mut modern, 9, text("x"), 2), None);
    assert_eq!(commit(&mut modern, 9, text("x"), 1), Some(ResponseError::StaleMemberEpoch));

    assert_eq!(beat(&mut modern, -1).error_code, 0);
    assert_eq!(kind(&mut modern), ("classic".to_owned(), vec![]));
    assert_eq!(beat(&mut modern, 2).error_code, ResponseError::GroupIdNotFound.code());
    assert_ne!(classic.beat(), None);
    let joined = classic.join();
    assert_eq!((&joined.leader, joined.members.len()), (&classic.id, 1));
    assert!(joined.generation_id > 2, "{joined:?}");
    assert_eq!(classic.sync(assignment(&[0, 1])).assignment, assignment(&[0, 1]));
    assert_eq!((classic.beat(), classic.commit(joined.generation_id)), (None, None));
}

#[test]
fn members_of_both_protocols_survive_a_crash_of_the_broker() {
    let (mut served, mut classic, mut modern) = mixed();
    served.kill();
    (classic.peer, modern) = (served.connect(), {
        drop(modern);
        served.connect()
    });
    assert_eq!(kind(&mut modern), ("consumer".to_owned(), vec![0, 1]));
    assert_eq!((classic.beat(), classic.commit(2)), (None, None));
    assert_eq!(classic.sync(Bytes::new()).assignment, assignment(&[0]));
    assert_eq!(beat(&mut modern, 2).error_code, 0);
    let leaving = MemberIdentity::default().with_member_id(text("x"));
    let leave = LeaveGroupRequest::default().with_group_id(group()).with_members(vec![leaving]);
    assert_eq!(modern.ask(5, &leave).members[0].error_code, 0);
    served.kill();
    (classic.peer, modern) = (served.connect(), {
        drop(modern);
        served.connect()
    });
    assert_eq!(kind(&mut modern), ("classic".to_owned(), vec![]));
    assert_ne!(classic.beat(), None, "it has to join: nobody reads partition 1");
    classic.join();
    assert_eq!(classic.sync(assignment(&[0, 1])).assignment, assignment(&[0, 1]));
}

#[test]
fn a_policy_keeps_groups_on_their_side() {
    let served = Served::with(&["group.initial.rebalance.delay.ms=0", "group.consumer.migration.policy=disabled"]);
    let mut classic = Classic::start(&served);
    classic.peer.create_topic("t", 2, &[]);
    classic.join();
    let mut modern = served.connect();
    let refused = beat(&mut modern, 0);
    assert_eq!(refused.error_code, ResponseError::GroupIdNotFound.code());
    assert!(refused.error_message.unwrap().contains("group.consumer.migration.policy"));
    assert_eq!(kind(&mut modern).0, "classic");
}

//! Consumer groups on the wire: members that die, come back, come in floods or as another's double.

use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_groups_response::DescribedGroup;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest, SyncGroupResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::broker::Served;
use super::peer::Peer;
use super::requests::topic_name;

const JOIN: i16 = 9;
const SYNC: i16 = 5;
const SESSION_MS: u32 = 100;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

/// The clock of a test stands still until it is told to go on; sessions are short, for the broker looks at it that often.
fn start() -> Served {
    Served::with(&["group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=10"])
}

fn join(name: &str, member: &str, instance: Option<&str>) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(group(name))
        .with_session_timeout_ms(SESSION_MS as i32)
        .with_rebalance_timeout_ms(60_000)
        .with_member_id(text(member))
        .with_group_instance_id(instance.map(text))
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol.with_metadata(Bytes::from_static(b"m"))])
}

/// A client that is, or was, a member.
struct Member {
    peer: Peer,
    group: String,
    id: StrBytes,
    instance: Option<String>,
    generation: i32,
}

impl Member {
    fn new(served: &Served, name: &str, instance: Option<&str>) -> Member {
        let (group, instance) = (name.to_owned(), instance.map(str::to_owned));
        Member { peer: served.connect(), group, id: text(""), instance, generation: -1 }
    }

    /// Asks to join, having asked for an id if it needs one.
    fn send_join(&mut self) {
        if self.instance.is_none() && self.id.is_empty() {
            let answer = self.peer.ask(JOIN, &join(&self.group, "", None));
            assert_eq!(answer.error_code, ResponseError::MemberIdRequired.code());
            self.id = answer.member_id;
        }
        self.peer.send(JOIN, &join(&self.group, &self.id, self.instance.as_deref()));
    }

    fn joined(&mut self) -> JoinGroupResponse {
        let joined = self.peer.answer::<JoinGroupRequest>(JOIN);
        assert_eq!(joined.error_code, 0);
        (self.id, self.generation) = (joined.member_id.clone(), joined.generation_id);
        joined
    }

    fn join(&mut self) -> JoinGroupResponse {
        self.send_join();
        self.joined()
    }

    /// Asks for its assignment; as the leader it assigns to each what `assign` says.
    fn sync(&mut self, joined: &JoinGroupResponse, assign: &str) -> SyncGroupResponse {
        let assignments = joined.members.iter().map(|member| {
            let assignment = Bytes::from(format!("{assign} for {}", &*member.member_id));
            SyncGroupRequestAssignment::default().with_member_id(member.member_id.clone()).with_assignment(assignment)
        });
        let request = SyncGroupRequest::default()
            .with_group_id(group(&self.group))
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.as_deref().map(text))
            .with_generation_id(self.generation)
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text("range")))
            .with_assignments(assignments.collect());
        self.peer.ask(SYNC, &request)
    }

    /// The code of a heartbeat's answer.
    fn beat(&mut self) -> i16 {
        let request = HeartbeatRequest::default()
            .with_group_id(group(&self.group))
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.as_deref().map(text))
            .with_generation_id(self.generation);
        self.peer.ask(4, &request).error_code
    }

    /// Comes back on another connection, as after a broker's restart.
    fn reconnect(&mut self, served: &Served) {
        self.peer = served.connect();
    }
}

/// A group whose only member leads it.
fn alone(served: &Served, name: &str, instance: Option<&str>) -> Member {
    let mut member = Member::new(served, name, instance);
    let joined = member.join();
    assert_eq!(member.sync(&joined, "all").error_code, 0);
    member
}

fn describe(peer: &mut Peer, name: &str) -> DescribedGroup {
    peer.ask(6, &DescribeGroupsRequest::default().with_groups(vec![group(name)])).groups.remove(0)
}

/// Lets the broker's clock go on, a session at a time, until the group looks like that.
fn until(served: &Served, peer: &mut Peer, name: &str, is_so: impl Fn(&DescribedGroup) -> bool) -> DescribedGroup {
    for _ in 0..200 {
        let described = describe(peer, name);
        if is_so(&described) {
            return described;
        }
        served.clock.advance_ms(SESSION_MS);
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{:?}", describe(peer, name));
}

fn commit(member: &Member, generation: i32) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(7).with_committed_metadata(None);
    let topic = OffsetCommitRequestTopic::default().with_name(topic_name("orders")).with_partitions(vec![partition]);
    OffsetCommitRequest::default()
        .with_group_id(group(&member.group))
        .with_member_id(member.id.clone())
        .with_generation_id_or_member_epoch(generation)
        .with_topics(vec![topic])
}

#[test]
fn positions_of_a_stale_generation_or_a_stranger_are_refused_and_not_stored() {
    let served = start();
    let mut member = alone(&served, "g", None);
    member.peer.create_topic("orders", 1, &[]);
    let code = |peer: &mut Peer, request: &OffsetCommitRequest| peer.ask(8, request).topics[0].partitions[0].error_code;
    let stale = commit(&member, 0);
    assert_eq!(code(&mut member.peer, &stale), ResponseError::IllegalGeneration.code());
    let stranger = commit(&member, 1).with_member_id(text("nobody"));
    assert_eq!(code(&mut member.peer, &stranger), ResponseError::UnknownMemberId.code());
    let nobody = commit(&member, -1).with_member_id(text(""));
    assert_eq!(code(&mut member.peer, &nobody), ResponseError::UnknownMemberId.code(), "it has members");
    let topic = OffsetFetchRequestTopic::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
    let fetch = OffsetFetchRequest::default().with_group_id(group("g")).with_topics(Some(vec![topic]));
    assert_eq!(member.peer.ask(5, &fetch).topics[0].partitions[0].committed_offset, -1);
    let good = commit(&member, 1);
    assert_eq!(code(&mut member.peer, &good), 0);
    assert_eq!(member.peer.ask(5, &fetch).topics[0].partitions[0].committed_offset, 7);
}

#[test]
fn a_member_that_died_is_out_after_its_session_and_the_others_take_over() {
    let served = start();
    let (mut alive, mut dead) = (alone(&served, "g", None), Member::new(&served, "g", None));
    dead.send_join();
    let mut operator = served.connect();
    until(&served, &mut operator, "g", |group| group.group_state.as_str() == "PreparingRebalance");
    let leads = alive.join();
    let follows = dead.joined();
    assert_eq!((leads.members.len(), leads.generation_id), (2, follows.generation_id));
    assert_eq!(alive.sync(&leads, "half").error_code, 0);
    assert_eq!(dead.sync(&follows, "").assignment, format!("half for {}", &*dead.id));
    drop(dead.peer);
    let mut steps = 0;
    while alive.beat() == 0 {
        steps += 1;
        assert!(steps < 500, "the dead member stays");
        served.clock.advance_ms(SESSION_MS / 10);
        std::thread::sleep(Duration::from_millis(10));
    }
    let alone = alive.join();
    assert_eq!((alone.members.len(), alone.generation_id), (1, leads.generation_id + 1));
    let late = HeartbeatRequest::default().with_group_id(group("g")).with_member_id(dead.id);
    let late = served.connect().ask(4, &late.with_generation_id(follows.generation_id));
    assert_eq!(late.error_code, ResponseError::UnknownMemberId.code());
}

#[test]
fn a_restarted_broker_knows_its_members_and_nobody_rebalances() {
    let mut served = start();
    let mut member = alone(&served, "g", None);
    let mut fixed = alone(&served, "static", Some("one"));
    let before = describe(&mut member.peer, "g");
    served.kill();
    member.reconnect(&served);
    assert_eq!(describe(&mut member.peer, "g"), before);
    assert_eq!((member.beat(), before.group_state.as_str()), (0, "Stable"));
    let again = member.sync(&JoinGroupResponse::default(), "");
    assert_eq!(again.assignment, format!("all for {}", &*member.id));

    let old = fixed.id.clone();
    fixed.reconnect(&served);
    fixed.id = text("");
    let back = fixed.join();
    assert_eq!((back.generation_id, back.skip_assignment), (1, true));
    assert_eq!(fixed.sync(&JoinGroupResponse::default(), "").assignment, format!("all for {}", &*old));
    served.restart();
    fixed.reconnect(&served);
    assert_eq!(fixed.beat(), 0, "under the id that it was given last");
}

#[test]
fn a_flood_of_clients_that_never_come_back_with_their_ids_is_bounded_and_expires() {
    const CLIENTS: usize = 100_000;
    const CONNECTIONS: usize = 4;
    const AT_A_TIME: usize = 100;
    let served = start();
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut peer = served.connect();
                for _ in 0..CLIENTS / CONNECTIONS / AT_A_TIME {
                    (0..AT_A_TIME).for_each(|_| peer.send(JOIN, &join("g", "", None)));
                    for _ in 0..AT_A_TIME {
                        let answer = peer.answer::<JoinGroupRequest>(JOIN);
                        assert_eq!(answer.error_code, ResponseError::MemberIdRequired.code());
                    }
                }
            });
        }
    });
    let mut operator = served.connect();
    assert!(describe(&mut operator, "g").members.is_empty());
    let gone = until(&served, &mut operator, "g", |group| group.error_code != 0);
    assert_eq!(gone.error_code, ResponseError::GroupIdNotFound.code(), "nothing of it is left");
    assert_eq!(alone(&served, "g", None).generation, 1);
}

#[test]
fn the_double_of_a_static_member_fences_the_one_before() {
    let served = start();
    let (mut first, mut second) = (alone(&served, "g", Some("one")), Member::new(&served, "g", Some("one")));
    assert_eq!(second.join().generation_id, 1);
    assert_eq!(first.beat(), ResponseError::FencedInstanceId.code());
    let refused = first.sync(&JoinGroupResponse::default(), "");
    assert_eq!(refused.error_code, ResponseError::FencedInstanceId.code());
    assert_eq!(second.beat(), 0);
}

#[test]
fn the_same_instance_in_two_groups_is_two_members() {
    let served = start();
    let (mut one, mut other) = (alone(&served, "g1", Some("one")), alone(&served, "g2", Some("one")));
    assert_eq!((one.beat(), other.beat()), (0, 0));
    let leaving = MemberIdentity::default().with_member_id(text("")).with_group_instance_id(Some(text("one")));
    let request = LeaveGroupRequest::default().with_group_id(group("g1")).with_members(vec![leaving]);
    assert_eq!(other.peer.ask(5, &request).members[0].error_code, 0);
    assert_eq!((one.beat(), other.beat()), (ResponseError::UnknownMemberId.code(), 0));
}

#[test]
fn members_whose_connections_are_reset_while_they_wait_are_forgotten() {
    const MEMBERS: usize = 200;
    let served = start();
    let mut leader = alone(&served, "g", None);
    let mut waiting: Vec<Member> = (0..MEMBERS).map(|_| Member::new(&served, "g", None)).collect();
    for member in &mut waiting {
        member.id = member.peer.ask(JOIN, &join("g", "", None)).member_id;
        // An answer that is not read makes the end of the connection a reset.
        member.peer.send(4, &HeartbeatRequest::default().with_group_id(group("g")));
        member.peer.send(JOIN, &join("g", &member.id, None));
    }
    let mut operator = served.connect();
    while describe(&mut operator, "g").members.len() <= MEMBERS {
        std::thread::yield_now();
    }
    drop(waiting);
    // They had a new member's time, and have a session's now. The leader goes with them, as it shows no sign of life.
    until(&served, &mut operator, "g", |group| group.members.is_empty());
    assert_eq!(leader.beat(), ResponseError::UnknownMemberId.code());
}

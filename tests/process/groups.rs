//! Members of consumer groups while the broker's disk is slow, and when its process stood still.

use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, OffsetCommitRequest, SyncGroupRequest, TopicName,
};
use kafka_protocol::protocol::StrBytes;
use rustix::process::Signal;
use streamstack::cli::client::Connection;

use crate::broker::{Broker, Start};
use crate::ledger::{Ledger, TOPIC};
use crate::tools::{self, Strace};

const QUICK: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);
const AT_ONCE: &[&str] = &["group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=1000"];

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// The one member of its group.
struct Member {
    connection: Connection,
    group: GroupId,
    id: StrBytes,
    generation: i32,
}

impl Member {
    fn join(broker: &Broker, session: Duration) -> Member {
        let mut connection = Connection::open(&broker.address, PATIENCE, PATIENCE).unwrap();
        let group = GroupId(text("loader"));
        let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
        let join = JoinGroupRequest::default()
            .with_group_id(group.clone())
            .with_session_timeout_ms(session.as_millis() as i32)
            .with_rebalance_timeout_ms(60_000)
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol.with_metadata(Bytes::from_static(b"m"))]);
        let joined = connection.ask(3, &join).unwrap();
        assert_eq!(joined.error_code, 0);
        let own = SyncGroupRequestAssignment::default().with_member_id(joined.member_id.clone());
        let sync = SyncGroupRequest::default()
            .with_group_id(group.clone())
            .with_member_id(joined.member_id.clone())
            .with_generation_id(joined.generation_id)
            .with_assignments(vec![own.with_assignment(Bytes::from_static(b"all"))]);
        assert_eq!(connection.ask(1, &sync).unwrap().error_code, 0);
        Member { connection, group, id: joined.member_id, generation: joined.generation_id }
    }

    fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest::default()
            .with_group_id(self.group.clone())
            .with_member_id(self.id.clone())
            .with_generation_id(self.generation)
    }

    /// Says that it is alive; gives the answer's code.
    fn beat(&mut self) -> i16 {
        let heartbeat = self.heartbeat();
        self.connection.ask(3, &heartbeat).unwrap().error_code
    }

    /// Commits a position over a connection of its own; gives the answer's code and how long it took.
    fn commit(&self, offset: i64) -> (i16, Duration) {
        let mut connection = Connection::open(self.connection.address(), PATIENCE, PATIENCE).unwrap();
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
        let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text(TOPIC)));
        let commit = OffsetCommitRequest::default()
            .with_group_id(self.group.clone())
            .with_member_id(self.id.clone())
            .with_generation_id_or_member_epoch(self.generation)
            .with_topics(vec![topic.with_partitions(vec![partition])]);
        let begun = Instant::now();
        let answer = connection.ask(7, &commit).unwrap();
        (answer.topics[0].partitions[0].error_code, begun.elapsed())
    }
}

#[test]
fn while_a_sync_takes_longer_than_a_session_members_stay_and_commits_wait() {
    if !tools::strace() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).with(AT_ONCE).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    let mut member = Member::join(&broker, Duration::from_secs(2));
    let strace = Strace::attach(broker.pid(), &["fdatasync:delay_enter=5000000"]);
    let mut slowest = Duration::ZERO;
    let committed = thread::scope(|scope| {
        let other = Member {
            connection: Connection::open(&broker.address, PATIENCE, PATIENCE).unwrap(),
            group: member.group.clone(),
            id: member.id.clone(),
            generation: member.generation,
        };
        let committing = scope.spawn(move || other.commit(7));
        while !committing.is_finished() {
            let begun = Instant::now();
            assert_eq!(member.beat(), 0, "the member is out of its group");
            slowest = slowest.max(begun.elapsed());
            thread::sleep(Duration::from_millis(300));
        }
        committing.join().unwrap()
    });
    drop(strace);
    println!("slowest heartbeat {slowest:?}, commit {committed:?}");
    assert_eq!(committed.0, 0);
    assert!(committed.1 > Duration::from_secs(4), "the sync was not slow: {committed:?}");
    assert!(slowest < QUICK, "{slowest:?}");
    assert_eq!(member.beat(), 0);
    ledger.heals(&broker.address);
}

#[test]
fn while_a_sync_takes_longer_than_a_session_a_group_can_form() {
    if !tools::strace() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).with(AT_ONCE).serving();
    let strace = Strace::attach(broker.pid(), &["fdatasync:delay_enter=2500000"]);
    let begun = Instant::now();
    // It has to wait longer for an answer than its session is long.
    let mut member = Member::join(&broker, Duration::from_secs(1));
    assert_eq!(member.beat(), 0, "the member is out of its group");
    assert!(begun.elapsed() > Duration::from_secs(2), "the sync was not slow: {:?}", begun.elapsed());
    drop(strace);
}

#[test]
fn after_a_pause_longer_than_their_session_members_are_still_in_their_group() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).with(AT_ONCE).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    let mut member = Member::join(&broker, Duration::from_secs(2));
    for _ in 0..2 {
        tools::signal(broker.pid(), Signal::STOP);
        let heartbeat = member.heartbeat();
        member.connection.tell(3, &heartbeat).unwrap();
        thread::sleep(Duration::from_secs(7));
        tools::signal(broker.pid(), Signal::CONT);
        let code = member.connection.answer::<HeartbeatRequest>(3).unwrap().error_code;
        assert_eq!(code, 0, "the member is out of its group");
        assert_eq!(member.beat(), 0);
    }
    // A member that is silent while the broker runs is out, though.
    thread::sleep(Duration::from_secs(4));
    assert_ne!(member.beat(), 0);
    ledger.heals(&broker.address);
}

//! The requests of a static member of a classic group, and the layouts that consumers agree on.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest, TxnOffsetCommitRequest,
};
use kafka_protocol::protocol::StrBytes;

pub const JOIN: i16 = 5;
pub const SYNC: i16 = 3;
pub const HEARTBEAT: i16 = 3;
pub const LEAVE: i16 = 3;

/// Longer than any stall, so that nobody is given up by mistake.
const SESSION_MS: i32 = 30_000;
const REBALANCE_MS: i32 = 10_000;

/// Who a member is, and in which generation.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    pub group: String,
    pub instance: String,
    pub id: String,
    pub generation: i32,
}

impl Membership {
    /// To read one topic.
    pub fn join(&self, topic: &str) -> JoinGroupRequest {
        let mut metadata = BytesMut::new();
        metadata.put_i16(0);
        metadata.put_i32(1);
        put_text(&mut metadata, topic);
        metadata.put_i32(-1);
        let protocol = JoinGroupRequestProtocol::default().with_name(text("modulo")).with_metadata(metadata.freeze());
        JoinGroupRequest::default()
            .with_group_id(self.group())
            .with_session_timeout_ms(SESSION_MS)
            .with_rebalance_timeout_ms(REBALANCE_MS)
            .with_member_id(text(&self.id))
            .with_group_instance_id(Some(text(&self.instance)))
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol])
    }

    /// As the leader, which gives partition n of the topic to member n, and begins again; as a follower, for no members.
    pub fn sync(&self, topic: &str, num_partitions: i32, members: &[String]) -> SyncGroupRequest {
        let assigned = members.iter().enumerate().map(|(number, id)| {
            let own = (0..num_partitions).filter(|partition| *partition as usize % members.len() == number);
            let assignment = assignment(topic, &own.collect::<Vec<_>>());
            SyncGroupRequestAssignment::default().with_member_id(text(id)).with_assignment(assignment)
        });
        SyncGroupRequest::default()
            .with_group_id(self.group())
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id))
            .with_group_instance_id(Some(text(&self.instance)))
            .with_assignments(assigned.collect())
    }

    pub fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest::default()
            .with_group_id(self.group())
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id))
            .with_group_instance_id(Some(text(&self.instance)))
    }

    pub fn leave(&self) -> LeaveGroupRequest {
        let member =
            MemberIdentity::default().with_member_id(text(&self.id)).with_group_instance_id(Some(text(&self.instance)));
        LeaveGroupRequest::default().with_group_id(self.group()).with_members(vec![member])
    }

    /// Positions that the member moves.
    pub fn moves(&self, request: TxnOffsetCommitRequest) -> TxnOffsetCommitRequest {
        request
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id))
            .with_group_instance_id(Some(text(&self.instance)))
    }

    fn group(&self) -> GroupId {
        GroupId(text(&self.group))
    }
}

fn assignment(topic: &str, partitions: &[i32]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_i16(0);
    bytes.put_i32(1);
    put_text(&mut bytes, topic);
    bytes.put_i32(partitions.len() as i32);
    partitions.iter().for_each(|partition| bytes.put_i32(*partition));
    bytes.put_i32(-1);
    bytes.freeze()
}

/// The partitions of the one topic that a member was given.
pub fn assigned(mut bytes: Bytes) -> Vec<i32> {
    if bytes.is_empty() {
        return Vec::new();
    }
    assert_eq!((bytes.get_i16(), bytes.get_i32()), (0, 1), "one topic is assigned");
    let name_len = bytes.get_i16() as usize;
    bytes.advance(name_len);
    (0..bytes.get_i32()).map(|_| bytes.get_i32()).collect()
}

fn put_text(bytes: &mut BytesMut, text: &str) {
    bytes.put_i16(text.len() as i16);
    bytes.put_slice(text.as_bytes());
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

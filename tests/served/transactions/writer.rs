//! A transactional producer that does as it is told, with the codes of the answers.

use std::collections::BTreeMap;

use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use kafka_protocol::messages::{EndTxnResponse, GroupId, OffsetCommitRequest, OffsetFetchRequest};
use kafka_protocol::protocol::StrBytes;

use super::super::peer::Peer;
use super::super::requests::{FETCH, LIST_OFFSETS, fetch, list_offsets, only, records_of, topic_name};
use super::super::transactional::{self as requests, Identity, Protocol};

pub const TIMEOUT_MS: i32 = 60_000;

#[derive(Clone)]
pub struct Writer {
    pub who: Identity,
    pub protocol: Protocol,
    /// The next one of each partition.
    sequences: BTreeMap<(String, i32), i32>,
}

impl Writer {
    /// Takes over the transactional id.
    pub fn begin(peer: &mut Peer, id: &str, protocol: Protocol) -> Writer {
        let (code, who) = init(peer, id, protocol, TIMEOUT_MS, None);
        assert_eq!(code, 0);
        Writer { who, protocol, sequences: BTreeMap::new() }
    }

    /// Says that the transaction touches the partition, if the protocol wants that, and writes; the offset.
    pub fn append(&mut self, peer: &mut Peer, topic: &str, partition: i32, values: &[&str]) -> i64 {
        if self.protocol == Protocol::First {
            assert_eq!(self.add(peer, topic, partition), 0);
        }
        let (code, offset) = self.write(peer, topic, partition, values);
        assert_eq!(code, 0, "{values:?} to {topic}-{partition} as {:?}", self.who);
        offset
    }

    pub fn add(&self, peer: &mut Peer, topic: &str, partition: i32) -> i16 {
        let answer = peer.ask(requests::ADD_PARTITIONS, &requests::add_partitions(&self.who, &[(topic, partition)]));
        requests::code_of_partitions(&answer)
    }

    /// Only writes; the code and the offset.
    pub fn write(&mut self, peer: &mut Peer, topic: &str, partition: i32, values: &[&str]) -> (i16, i64) {
        self.write_in(peer, self.protocol.produce(), topic, partition, values)
    }

    pub fn write_in(
        &mut self,
        peer: &mut Peer,
        version: i16,
        topic: &str,
        partition: i32,
        values: &[&str],
    ) -> (i16, i64) {
        let sequence = self.sequences.entry((topic.to_owned(), partition)).or_default();
        let batch = requests::batch(&self.who, *sequence, values);
        let mut answer = peer.ask(version, &requests::produce(Some(&self.who.id), topic, partition, batch));
        let answer = answer.responses.remove(0).partition_responses.remove(0);
        if answer.error_code == 0 {
            *sequence += values.len() as i32;
        }
        (answer.error_code, answer.base_offset)
    }

    /// Ends the transaction, and goes on as told.
    pub fn end(&mut self, peer: &mut Peer, commit: bool) {
        let answer = self.ask_to_end(peer, commit);
        assert_eq!(answer.error_code, 0, "{:?}", self.who);
        self.go_on(&answer);
    }

    pub fn ask_to_end(&self, peer: &mut Peer, commit: bool) -> EndTxnResponse {
        peer.ask(self.protocol.end(), &requests::end(&self.who, commit))
    }

    pub fn go_on(&mut self, answer: &EndTxnResponse) {
        if self.protocol == Protocol::Second {
            (self.who.producer, self.who.epoch) = (answer.producer_id.0, answer.producer_epoch);
            self.sequences.clear();
        }
    }

    pub fn stage(&self, peer: &mut Peer, group: &str, topic: &str, offset: i64) {
        if self.protocol == Protocol::First {
            let answer = peer.ask(requests::ADD_OFFSETS, &requests::add_offsets(&self.who, group));
            assert_eq!(answer.error_code, 0);
        }
        assert_eq!(self.ask_to_stage(peer, group, topic, offset), 0);
    }

    pub fn ask_to_stage(&self, peer: &mut Peer, group: &str, topic: &str, offset: i64) -> i16 {
        let request = requests::offsets(&self.who, group, &[(topic, 0, offset)]);
        requests::code_of_offsets(&peer.ask(self.protocol.offsets(), &request))
    }
}

/// The code, and who the producer is then.
pub fn init(
    peer: &mut Peer,
    id: &str,
    protocol: Protocol,
    timeout_ms: i32,
    current: Option<&Identity>,
) -> (i16, Identity) {
    let answer = peer.ask(protocol.init(), &requests::init(id, timeout_ms, current));
    let who = Identity { id: id.to_owned(), producer: answer.producer_id.0, epoch: answer.producer_epoch };
    (answer.error_code, who)
}

pub const BOTH: [Protocol; 2] = [Protocol::First, Protocol::Second];

/// What tests look at all the time.
impl Peer {
    /// A partition from an offset on, as a reader of an isolation level is answered.
    pub fn fetch_at(&mut self, topic: &str, partition: i32, offset: i64, isolation: i8) -> PartitionData {
        let request = fetch(topic, partition, offset, 0, 1 << 20).with_isolation_level(isolation);
        only(self.ask(FETCH, &request))
    }

    /// What an answer holds, without markers: a client never shows them. Aborted records are still in it.
    pub fn raw_values(&mut self, topic: &str, partition: i32, isolation: i8) -> Vec<String> {
        let start = self.list_offsets(topic, partition, super::EARLIEST).offset;
        let answer = self.fetch_at(topic, partition, start, isolation);
        assert_eq!(answer.error_code, 0, "{topic}-{partition}: {answer:?}");
        let values = records_of(&answer).into_iter().map(|(_, value)| value);
        values.filter(|value| !value.contains('\0')).collect()
    }

    pub fn list_offsets_at(&mut self, topic: &str, isolation: i8, timestamp: i64) -> ListOffsetsPartitionResponse {
        let request = list_offsets(topic, 0, timestamp).with_isolation_level(isolation);
        self.ask(LIST_OFFSETS, &request).topics.remove(0).partitions.remove(0)
    }

    /// The end of partition 0 as readers of committed records, and of all, are told it.
    pub fn ends(&mut self, topic: &str) -> (i64, i64) {
        (self.list_offsets_at(topic, 1, super::LATEST).offset, self.list_offsets_at(topic, 0, super::LATEST).offset)
    }

    /// The code and the offset of a group's position in partition 0.
    pub fn position(&mut self, group: &str, topic: &str, stable: bool) -> (i16, i64) {
        let topics = OffsetFetchRequestTopics::default().with_name(topic_name(topic)).with_partition_indexes(vec![0]);
        let asked = OffsetFetchRequestGroup::default()
            .with_group_id(GroupId(StrBytes::from_string(group.to_owned())))
            .with_member_id(None)
            .with_member_epoch(-1)
            .with_topics(Some(vec![topics]));
        let request = OffsetFetchRequest::default().with_groups(vec![asked]).with_require_stable(stable);
        let mut answer = self.ask(8, &request);
        let answer = answer.groups.remove(0).topics.remove(0).partitions.remove(0);
        (answer.error_code, answer.committed_offset)
    }

    /// Moves a group's position in partition 0, at once and by nobody in particular.
    pub fn move_position(&mut self, group: &str, topic: &str, offset: i64) {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
        let topic = OffsetCommitRequestTopic::default().with_name(topic_name(topic)).with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(StrBytes::from_string(group.to_owned())))
            .with_generation_id_or_member_epoch(-1)
            .with_topics(vec![topic]);
        assert_eq!(self.ask(8, &request).topics[0].partitions[0].error_code, 0);
    }

    /// How many commits a feed has.
    pub fn num_commits(&mut self, topic: &str) -> i64 {
        self.list_offsets(&format!("{topic}..commits"), 0, super::LATEST).offset
    }
}

//! What a client encodes passes the guard to its last byte, in every version, and every cut of it is refused.

use std::ops::RangeInclusive;

use bytes::BytesMut;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, DescribeTransactionsRequest, EndTxnRequest, GroupId,
    InitProducerIdRequest, ListTransactionsRequest, ProducerId, TopicName, TransactionalId, TxnOffsetCommitRequest,
    WriteTxnMarkersRequest,
};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};

use super::super::super::guard;
use super::super::{INIT_PRODUCER_ID, Schema};
use super::*;

const PRODUCER: ProducerId = ProducerId(7);

/// The request that a client sends in a version is checked, and then decoded as it was.
fn check<R>(schema: &Schema, versions: RangeInclusive<i16>, request: impl Fn(i16) -> R)
where
    R: Encodable + Decodable + PartialEq + std::fmt::Debug,
{
    for version in versions {
        let request = request(version);
        let mut encoded = BytesMut::new();
        request.encode(&mut encoded, version).unwrap();
        let mut body = encoded.freeze();
        assert_eq!(guard::check(schema, version, &body), Ok(0), "version {version}: {request:?}");
        for len in 0..body.len() {
            assert!(guard::check(schema, version, &body[..len]).is_err(), "version {version}, {len} bytes");
        }
        assert_eq!(R::decode(&mut body, version).unwrap(), request, "version {version}");
    }
}

fn id(name: &'static str) -> TransactionalId {
    StrBytes::from_static_str(name).into()
}

fn topic(name: &'static str) -> TopicName {
    StrBytes::from_static_str(name).into()
}

fn group(name: &'static str) -> GroupId {
    StrBytes::from_static_str(name).into()
}

#[test]
fn a_producer_is_bound() {
    check(&INIT_PRODUCER_ID, 0..=5, |version| {
        let request = InitProducerIdRequest::default().with_transactional_id(Some(id("loader")));
        let request = request.with_transaction_timeout_ms(60_000);
        if version < 3 { request } else { request.with_producer_id(PRODUCER).with_producer_epoch(3) }
    });
    check(&INIT_PRODUCER_ID, 0..=5, |_| InitProducerIdRequest::default().with_transactional_id(None));
}

#[test]
fn a_transaction_takes_in_partitions_and_groups() {
    check(&ADD_PARTITIONS_TO_TXN, 0..=3, |_| {
        let topics = vec![
            AddPartitionsToTxnTopic::default().with_name(topic("orders")).with_partitions(vec![0, 2]),
            AddPartitionsToTxnTopic::default().with_name(topic("visits")),
        ];
        AddPartitionsToTxnRequest::default()
            .with_v3_and_below_transactional_id(id("loader"))
            .with_v3_and_below_producer_id(PRODUCER)
            .with_v3_and_below_producer_epoch(3)
            .with_v3_and_below_topics(topics)
    });
    check(&ADD_OFFSETS_TO_TXN, 0..=4, |_| {
        let request = AddOffsetsToTxnRequest::default().with_transactional_id(id("loader"));
        request.with_producer_id(PRODUCER).with_producer_epoch(3).with_group_id(group("readers"))
    });
}

#[test]
fn positions_are_sent_along() {
    check(&TXN_OFFSET_COMMIT, 0..=5, |version| {
        let partition = TxnOffsetCommitRequestPartition::default().with_partition_index(1).with_committed_offset(9);
        let partition = if version < 2 { partition } else { partition.with_committed_leader_epoch(0) };
        let noted = partition.clone().with_committed_metadata(Some(StrBytes::from_static_str("a note")));
        let partitions = vec![partition.with_committed_metadata(None), noted];
        let orders = TxnOffsetCommitRequestTopic::default().with_name(topic("orders")).with_partitions(partitions);
        let request = TxnOffsetCommitRequest::default().with_transactional_id(id("loader"));
        let request = request.with_group_id(group("readers")).with_producer_id(PRODUCER).with_producer_epoch(3);
        let request = request.with_topics(vec![orders]);
        match version {
            ..3 => request,
            _ => request
                .with_generation_id(4)
                .with_member_id(StrBytes::from_static_str("m"))
                .with_group_instance_id((version % 2 == 0).then(|| StrBytes::from_static_str("first"))),
        }
    });
}

#[test]
fn a_transaction_ends() {
    for committed in [true, false] {
        check(&END_TXN, 0..=5, |_| {
            let request = EndTxnRequest::default().with_transactional_id(id("loader"));
            request.with_producer_id(PRODUCER).with_producer_epoch(3).with_committed(committed)
        });
        check(&WRITE_TXN_MARKERS, 1..=1, |_| {
            let orders = WritableTxnMarkerTopic::default().with_name(topic("orders"));
            let marker = WritableTxnMarker::default()
                .with_producer_id(PRODUCER)
                .with_producer_epoch(3)
                .with_transaction_result(committed)
                .with_topics(vec![orders.with_partition_indexes(vec![0, 2])])
                .with_coordinator_epoch(-1);
            WriteTxnMarkersRequest::default().with_markers(vec![marker])
        });
    }
}

#[test]
fn transactions_are_listed_and_described() {
    check(&LIST_TRANSACTIONS, 0..=2, |version| {
        let request = ListTransactionsRequest::default()
            .with_state_filters(vec![StrBytes::from_static_str("Ongoing")])
            .with_producer_id_filters(vec![PRODUCER, ProducerId(8)]);
        let request = if version < 1 { request } else { request.with_duration_filter(5_000) };
        if version < 2 {
            request
        } else {
            request.with_transactional_id_pattern(Some(StrBytes::from_static_str("l.*")))
        }
    });
    check(&LIST_TRANSACTIONS, 0..=2, |_| ListTransactionsRequest::default());
    check(&DESCRIBE_TRANSACTIONS, 0..=0, |_| {
        DescribeTransactionsRequest::default().with_transactional_ids(vec![id("loader"), id("")])
    });
}

//! Producer ids without end: what is remembered of them is bounded, and those at work are remembered.

use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::{DescribeProducersRequest, InitProducerIdRequest, ProduceRequest, ProducerId};

use super::broker::Served;
use super::peer::Peer;
use super::requests::*;

/// More than twice what a partition remembers.
const PRODUCERS: usize = 12_000;
const AT_A_TIME: usize = 400;
const REMEMBERED_MAX: usize = 5_000;

/// Asks for ids and writes one record with each. The ids.
fn flood(peer: &mut Peer, num: usize) -> Vec<i64> {
    let open = InitProducerIdRequest::default()
        .with_transactional_id(None)
        .with_producer_id(ProducerId(-1))
        .with_producer_epoch(-1);
    (0..num).for_each(|_| peer.send(4, &open));
    let ids: Vec<i64> = (0..num).map(|_| peer.answer::<InitProducerIdRequest>(4).producer_id.0).collect();
    ids.iter().for_each(|id| peer.send(PRODUCE, &produce("orders", vec![(0, batch_of(*id, 0, 0, &["v"]))])));
    for _ in 0..num {
        let answer = peer.answer::<ProduceRequest>(PRODUCE);
        assert_eq!(answer.responses[0].partition_responses[0].error_code, 0);
    }
    ids
}

fn num_remembered(peer: &mut Peer) -> usize {
    let topic = TopicRequest::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
    let answer = peer.ask(0, &DescribeProducersRequest::default().with_topics(vec![topic]));
    answer.topics[0].partitions[0].active_producers.len()
}

#[test]
fn a_flood_of_producer_ids_is_remembered_in_part_and_those_at_work_are_known() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let mut last = Vec::new();
    for _ in 0..PRODUCERS / AT_A_TIME {
        last = flood(&mut peer, AT_A_TIME);
        served.clock.advance_ms(1);
    }
    assert_eq!(num_remembered(&mut peer), REMEMBERED_MAX);
    let end = peer.list_offsets("orders", 0, -1).offset;
    assert_eq!(end, PRODUCERS as i64);
    for (n, id) in (1..=AT_A_TIME as i64).rev().zip(&last) {
        assert_eq!(peer.produced("orders", 0, batch_of(*id, 0, 0, &["v"])), end - n, "the record is there already");
    }
    served.restart();
    let mut peer = served.connect();
    assert_eq!(num_remembered(&mut peer), REMEMBERED_MAX);
    assert_eq!(peer.list_offsets("orders", 0, -1).offset, end);
}

//! Groups on views whose names are looked up on a slow disk: nobody else waits with whoever has to.

use std::time::{Duration, Instant};

use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use kafka_protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, MetadataRequest, OffsetCommitRequest, OffsetDeleteRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::broker::Served;
use super::peer::Peer;
use super::requests::*;

const QUICK: Duration = Duration::from_secs(1);
/// Many more than there are workers.
const FEEDS: usize = 40;
const HEARTBEAT: i16 = 1;
const COMMIT: i16 = 9;
const DELETE: i16 = 0;

/// A broker that has just started: nothing of the history is in memory.
fn cold() -> Served {
    let mut served = Served::start();
    let mut peer = served.connect();
    for feed in (0..FEEDS).map(feed) {
        peer.create_topic(&feed, 1, &[]);
        peer.produced(&feed, 0, batch(&["a"]));
        peer.produced(&format!("{feed}..seal"), 0, batch(&["{}"]));
    }
    served.restart();
    served
}

fn feed(n: usize) -> String {
    format!("orders-{n}")
}

/// Its label stands in the commit's manifest alone.
fn view(n: usize) -> String {
    format!("{}..named-k", feed(n))
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn beat(member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_member_id(text(member))
        .with_member_epoch(epoch)
        .with_rebalance_timeout_ms(-1)
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None)
}

fn join(member: &str, topic: &str) -> ConsumerGroupHeartbeatRequest {
    beat(member, 0)
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![topic_name(topic)]))
        .with_topic_partitions(Some(Vec::new()))
}

fn commit(view: &str) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(1);
    let topic = OffsetCommitRequestTopic::default().with_name(topic_name(view)).with_partitions(vec![partition]);
    OffsetCommitRequest::default()
        .with_group_id(GroupId(text(view)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic])
}

fn delete(view: &str) -> OffsetDeleteRequest {
    let topic = OffsetDeleteRequestTopic::default().with_name(topic_name(view));
    let topic = topic.with_partitions(vec![OffsetDeleteRequestPartition::default()]);
    OffsetDeleteRequest::default().with_group_id(GroupId(text(view))).with_topics(vec![topic])
}

#[test]
fn a_member_whose_view_is_looked_up_holds_up_no_other_member() {
    let served = cold();
    let (mut one, mut other) = (served.connect(), served.connect());
    assert_eq!(one.ask(HEARTBEAT, &join("one", &feed(0))).error_code, 0);
    served.reads.close();
    other.send(HEARTBEAT, &join("other", &view(1)));
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(one.ask(HEARTBEAT, &beat("one", 1)).error_code, 0);
        assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    }
    served.reads.open();
    let told = other.answer::<ConsumerGroupHeartbeatRequest>(HEARTBEAT);
    assert_eq!(told.error_code, 0, "{told:?}");
    assert_eq!(told.assignment.unwrap().topic_partitions[0].partitions, [0]);
}

#[test]
fn positions_on_views_that_are_looked_up_hold_up_no_other_connection() {
    let mut served = cold();
    let views: Vec<String> = (0..FEEDS).map(view).collect();
    served.reads.close();
    let mut waiting: Vec<Peer> = views.iter().map(|_| served.connect()).collect();
    for (peer, view) in waiting.iter_mut().zip(&views) {
        peer.send(COMMIT, &commit(view));
    }
    answers_at_once(&served);
    served.reads.open();
    for peer in &mut waiting {
        let answer = peer.answer::<OffsetCommitRequest>(COMMIT);
        assert_eq!(answer.topics[0].partitions[0].error_code, 0, "{answer:?}");
    }
    served.restart();
    served.reads.close();
    let mut waiting: Vec<Peer> = views.iter().map(|_| served.connect()).collect();
    for (peer, view) in waiting.iter_mut().zip(&views) {
        peer.send(DELETE, &delete(view));
    }
    answers_at_once(&served);
    served.reads.open();
    for peer in &mut waiting {
        let answer = peer.answer::<OffsetDeleteRequest>(DELETE);
        assert_eq!((answer.error_code, answer.topics[0].partitions[0].error_code), (0, 0), "{answer:?}");
    }
}

fn answers_at_once(served: &Served) {
    for _ in 0..10 {
        let began = Instant::now();
        let mut peer = served.connect();
        assert_eq!(peer.ask(12, &MetadataRequest::default().with_topics(None)).topics.len(), FEEDS);
        assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    }
}

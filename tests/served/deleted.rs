//! What is known of producers outlives their records.

use std::path::Path;

use kafka_protocol::messages::DeleteRecordsRequest;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use streamstack::disk::Disk;

use super::broker::Served;
use super::requests::*;

const OUT_OF_ORDER_SEQUENCE_NUMBER: i16 = 45;

fn segments(served: &Served) -> Vec<String> {
    let mut names = served.disk.list(Path::new("/data/feeds/0/0")).unwrap();
    names.retain(|name| name.ends_with(".log"));
    names
}

#[test]
fn a_batch_sent_again_is_known_though_its_segments_are_gone() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[("segment.bytes", "1048576")]);
    let (id, value) = (peer.producer_id(), "x".repeat(400_000));
    for n in 0..10 {
        assert_eq!(peer.produced("orders", 0, batch_of(id, 0, n, &[&value])), i64::from(n));
    }
    let before = segments(&served);
    assert!(before.len() > 3, "{before:?}");
    // Everything goes, the batches that are sent again too.
    let all = DeleteRecordsPartition::default().with_partition_index(0).with_offset(-1);
    let topic = DeleteRecordsTopic::default().with_name(topic_name("orders")).with_partitions(vec![all]);
    let answer = peer.ask(2, &DeleteRecordsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000));
    assert_eq!(answer.topics[0].partitions[0].low_watermark, 10, "{answer:?}");
    peer.create_topic("others", 1, &[]);
    // Files go when no manifest needs them any more, and two are kept.
    for _ in 0..3 {
        served.connect().produced("others", 0, batch(&["x"]));
        served.restart();
    }
    served.kill();
    let after = segments(&served);
    assert!(after.iter().all(|name| !before.contains(name)), "{after:?} are still there");
    let mut peer = served.connect();
    for n in 5..10 {
        assert_eq!(peer.produced("orders", 0, batch_of(id, 0, n, &[&value])), i64::from(n), "sent again");
    }
    let answer = peer.produce("orders", 0, batch_of(id, 0, 11, &["gap"]));
    assert_eq!(answer.error_code, OUT_OF_ORDER_SEQUENCE_NUMBER, "{answer:?}");
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 10, &["next"])), 10);
    assert_eq!(peer.list_offsets("orders", 0, -1).offset, 11);
}

//! What clients are told while the disk is slow, full, failing or damaged.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use kafka_protocol::messages::{FetchRequest, MetadataRequest, ProduceRequest};
use streamstack::disk::{Disk, Failure, Op, OpenMode};

use super::broker::Served;
use super::peer::Peer;
use super::requests::*;

const KAFKA_STORAGE_ERROR: i16 = 56;
/// What everything that does not wait for the disk stays under, on a busy machine too.
const QUICK: Duration = Duration::from_secs(10);

fn fail(op: Op, errno: i32, for_ever: bool) -> Failure {
    Failure { op, nth: 1, errno, for_ever }
}

#[test]
fn nobody_sees_a_record_before_its_sync() {
    let served = Served::start();
    let (mut writer, mut reader, mut asking) = (served.connect(), served.connect(), served.connect());
    writer.create_topic("orders", 1, &[]);
    writer.produced("orders", 0, batch(&["old"]));
    served.syncs.close();
    writer.send(PRODUCE, &produce("orders", vec![(0, batch(&["new"]))]));
    reader.send(FETCH, &fetch("orders", 0, 1, 300, 1 << 20));
    // The poll's deadline passes while the sync still runs.
    let answer = only(reader.answer::<FetchRequest>(FETCH));
    assert_eq!((answer.high_watermark, records_of(&answer).len()), (1, 0));
    assert_eq!(asking.list_offsets("orders", 0, -1).offset, 1);
    assert_eq!(asking.list_offsets("orders..stream-0", 0, -1).offset, 1);
    reader.send(FETCH, &fetch("orders", 0, 1, 60_000, 1 << 20));
    served.syncs.open();
    assert_eq!(writer.answer::<ProduceRequest>(PRODUCE).responses[0].partition_responses[0].base_offset, 1);
    assert_eq!(records_of(&only(reader.answer::<FetchRequest>(FETCH))), [(1, "new".to_owned())]);
}

#[test]
fn while_a_sync_takes_long_all_but_acknowledgements_stays_quick_and_retries_are_not_doubled() {
    let served = Served::start();
    let mut setup = served.connect();
    setup.create_topic("orders", 1, &[]);
    let id = setup.producer_id();
    setup.produced("orders", 0, batch_of(id, 0, 0, &["old"]));
    served.syncs.close();
    let waiting = produce("orders", vec![(0, batch_of(id, 0, 1, &["new"]))]);
    // The client's patience ends, and it sends again over a new connection.
    let mut writers: Vec<Peer> = (0..3).map(|_| served.connect()).collect();
    writers.iter_mut().for_each(|writer| writer.send(PRODUCE, &waiting));
    for _ in 0..20 {
        let began = Instant::now();
        let mut peer = served.connect();
        assert_eq!(peer.ask(12, &MetadataRequest::default().with_topics(None)).topics.len(), 1);
        assert_eq!(records_of(&peer.fetch("orders", 0, 0)), [(0, "old".to_owned())]);
        assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    }
    served.syncs.open();
    for writer in &mut writers {
        let answer = writer.answer::<ProduceRequest>(PRODUCE);
        assert_eq!(answer.responses[0].partition_responses[0].base_offset, 1);
    }
    assert_eq!(setup.values("orders", 0), ["old", "new"]);
}

#[test]
fn a_shared_sync_that_fails_fails_for_all_who_waited_and_none_of_it_is_acknowledged_later() {
    let mut served = Served::start();
    let mut setup = served.connect();
    setup.create_topic("orders", 1, &[]);
    setup.produced("orders", 0, batch(&["acknowledged"]));
    served.syncs.close();
    // One fills the sync that waits, the others join the next.
    let mut writers: Vec<Peer> = (0..100).map(|_| served.connect()).collect();
    for (writer, n) in writers.iter_mut().zip(0..) {
        writer.send(PRODUCE, &produce("orders", vec![(0, batch(&[&format!("lost {n}")]))]));
    }
    served.disk.fail(fail(Op::Sync, libc::EIO, true));
    served.syncs.open();
    for writer in &mut writers {
        // Closed, for nobody knows what became of it; or told, when it came after the failure.
        let answer = writer.try_answer::<ProduceRequest>(PRODUCE);
        let code = answer.map(|answer| answer.responses[0].partition_responses[0].error_code);
        assert!(matches!(code, None | Some(KAFKA_STORAGE_ERROR)), "{code:?}, though its sync failed");
    }
    let answer = served.connect().produce("orders", 0, batch(&["late"]));
    assert_eq!(answer.error_code, KAFKA_STORAGE_ERROR, "{answer:?}");
    // Reads go on.
    assert_eq!(served.connect().values("orders", 0), ["acknowledged"]);
    served.kill();
    let found = served.connect().values("orders", 0);
    // What was in flight may be there or not, but once and after what was acknowledged.
    assert_eq!(found[0], "acknowledged");
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
}

#[test]
fn a_failing_write_is_a_storage_error_or_a_closed_connection_never_an_unknown_error() {
    for op in [Op::Write, Op::Sync] {
        for nth in 1..6 {
            let mut served = Served::start();
            let mut setup = served.connect();
            setup.create_topic("orders", 1, &[]);
            let id = setup.producer_id();
            served.disk.fail(Failure { op, nth, errno: libc::EIO, for_ever: false });
            let mut acknowledged = Vec::new();
            let send = |served: &Served, n: i32| {
                let request = produce("orders", vec![(0, batch_of(id, 0, n, &[&n.to_string()]))]);
                let answer = served.connect().try_ask(PRODUCE, &request)?;
                let answer = &answer.responses[0].partition_responses[0];
                assert!(matches!(answer.error_code, 0 | KAFKA_STORAGE_ERROR), "{answer:?}");
                (answer.error_code == 0).then_some(answer.base_offset)
            };
            while let Some(offset) = send(&served, acknowledged.len() as i32) {
                acknowledged.push(offset);
                assert!(acknowledged.len() < 100, "the failure never came");
            }
            served.kill();
            // The client goes on where it was not answered: no number is used twice and none left out.
            for n in acknowledged.len()..10 {
                assert_eq!(send(&served, n as i32), Some(n as i64));
            }
            let expected: Vec<String> = (0..10.max(acknowledged.len())).map(|n| n.to_string()).collect();
            assert_eq!(served.connect().values("orders", 0), expected, "{op:?} {nth}");
        }
    }
}

/// Asks until the answer is as wanted: the disk is looked at once a second.
pub fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = ask() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it never came to that");
}

#[test]
fn on_a_full_disk_writes_are_refused_reads_go_on_and_with_room_writes_go_on_by_themselves() {
    let mut served = Served::with(&["streamstack.disk.free.min.bytes=1000000"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    served.disk.set_capacity(Some(30_000_000));
    let value = "x".repeat(100_000);
    let mut sent = 0;
    let refused = until(|| {
        let answer = peer.produce("orders", 0, batch_of(id, 0, sent, &[&value]));
        sent += i32::from(answer.error_code == 0);
        (answer.error_code != 0).then_some(answer)
    });
    assert_eq!(refused.error_code, KAFKA_STORAGE_ERROR);
    let message = refused.error_message.unwrap();
    assert!(message.contains("streamstack.disk.free.min.bytes"), "{message}");
    assert_eq!(peer.values("orders", 0).len() as i32, sent);
    // A start on a full disk serves reads and deletions.
    served.kill();
    let mut peer = served.connect();
    assert_eq!(peer.values("orders", 0).len() as i32, sent);
    peer.create_topic("ballast", 1, &[]);
    peer.delete_topic("ballast");
    // Spare files that the start gave back made a little room.
    until(|| {
        let code = peer.produce("orders", 0, batch_of(id, 0, sent, &[&value])).error_code;
        sent += i32::from(code == 0);
        (code == KAFKA_STORAGE_ERROR).then_some(())
    });
    served.disk.set_capacity(Some(60_000_000));
    let offset = until(|| {
        let answer = peer.produce("orders", 0, batch_of(id, 0, sent, &[&value]));
        (answer.error_code == 0).then_some(answer.base_offset)
    });
    assert_eq!(offset, i64::from(sent));
}

#[test]
fn a_read_that_fails_is_a_storage_error_for_its_partition_alone_and_passes() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.produced("orders", 0, batch(&["a"]));
    served.restart();
    let mut peer = served.connect();
    served.disk.fail(fail(Op::Read, libc::EIO, true));
    for _ in 0..3 {
        let answer = peer.fetch("orders", 0, 0);
        assert_eq!(answer.error_code, KAFKA_STORAGE_ERROR, "{answer:?}");
        assert!(records_of(&answer).is_empty());
    }
    assert_eq!(peer.list_offsets("orders", 0, 0).error_code, KAFKA_STORAGE_ERROR);
    // What needs no reading goes on, and the partition takes writes.
    peer.create_topic("others", 1, &[]);
    peer.produced("others", 0, batch(&["b"]));
    served.disk.heal();
    assert_eq!(peer.values("orders", 0), ["a"]);
    assert_eq!(peer.values("others", 0), ["b"]);
}

#[test]
fn a_segment_that_shrank_is_a_storage_error_for_its_reads() {
    let mut served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 2, &[]);
    peer.produced("orders", 0, batch(&["a", "b"]));
    peer.produced("orders", 1, batch(&["c"]));
    served.restart();
    let mut peer = served.connect();
    assert_eq!(peer.values("orders", 0), ["a", "b"]);
    let segment = Path::new("/data/feeds/0/0/00000000000000000000.log");
    served.disk.open(segment, OpenMode::Write).unwrap().set_size(30).unwrap();
    let answer = peer.fetch("orders", 0, 0);
    assert_eq!(answer.error_code, KAFKA_STORAGE_ERROR, "{answer:?}");
    assert_eq!(peer.values("orders", 1), ["c"]);
}

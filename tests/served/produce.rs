//! Produce and idempotence over the wire: repeated, missing, bad and racing batches.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use streamstack::batch::{BatchBuilder, Compression, HEADER_LEN, NewRecord, checksum};
use uuid::Uuid;

use super::broker::{START_MS, Served};
use super::peer::Peer;
use super::requests::*;

const CORRUPT_MESSAGE: i16 = 2;
const UNKNOWN_TOPIC: i16 = 3;
const MESSAGE_TOO_LARGE: i16 = 10;
const INVALID_REQUIRED_ACKS: i16 = 21;
const INVALID_TIMESTAMP: i16 = 32;
const OUT_OF_ORDER: i16 = 45;
const DUPLICATE: i16 = 46;
const INVALID_EPOCH: i16 = 47;
const UNSUPPORTED_COMPRESSION: i16 = 76;
const INVALID_RECORD: i16 = 87;

/// A batch that was changed, with its checksum put right.
fn resealed(batch: &Bytes, change: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut bytes = batch.to_vec();
    change(&mut bytes);
    let crc = checksum(&bytes);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.into()
}

#[test]
fn a_batch_sent_again_after_a_kill_and_a_roll_gets_its_first_offset_and_stands_once() {
    let mut served = Served::with(&["log.segment.bytes=1048576"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[("segment.bytes", "1048576")]);
    let id = peer.producer_id();
    let filler = "x".repeat(400_000);
    let batches: Vec<Bytes> = (0..5).map(|n| batch_of(id, 0, n, &[&format!("{n}{filler}")])).collect();
    for (batch, offset) in batches.iter().zip(0..) {
        assert_eq!(peer.produced("orders", 0, batch.clone()), offset);
    }
    for again in 0..2 {
        for (batch, offset) in batches.iter().zip(0..) {
            assert_eq!(served.connect().produced("orders", 0, batch.clone()), offset, "round {again}");
        }
        served.kill();
    }
    assert_eq!(served.connect().values("orders", 0).len(), 5);
}

#[test]
fn a_batch_older_than_the_five_known_ones_is_a_duplicate_and_appends_nothing() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    for n in 0..7 {
        peer.produced("orders", 0, batch_of(id, 0, n, &["v"]));
    }
    assert_eq!(peer.produce("orders", 0, batch_of(id, 0, 1, &["v"])).error_code, DUPLICATE);
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 2, &["v"])), 2);
    assert_eq!(peer.values("orders", 0).len(), 7);
}

#[test]
fn a_gap_in_the_sequence_is_refused_and_the_missing_batch_is_taken_after_it() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    peer.produced("orders", 0, batch_of(id, 0, 0, &["a", "b"]));
    assert_eq!(peer.produce("orders", 0, batch_of(id, 0, 3, &["d"])).error_code, OUT_OF_ORDER);
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 2, &["c"])), 2);
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 3, &["d"])), 3);
    assert_eq!(peer.values("orders", 0), ["a", "b", "c", "d"]);
}

#[test]
fn twenty_in_flight_sent_twice_are_neither_duplicated_nor_reordered() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    let sent = |n: i32| produce("orders", vec![(0, batch_of(id, 0, n, &[&n.to_string()]))]);
    // Twice each, as after a timeout, all before the first answer is read.
    for n in 0..20 {
        peer.send(PRODUCE, &sent(n));
        peer.send(PRODUCE, &sent(n));
    }
    for n in 0..20 {
        for _ in 0..2 {
            let answer = peer.answer::<kafka_protocol::messages::ProduceRequest>(PRODUCE);
            let answer = &answer.responses[0].partition_responses[0];
            assert_eq!((answer.error_code, answer.base_offset), (0, i64::from(n)));
        }
    }
    // A batch of long ago, from a client that kept more in flight than is remembered: refused, never appended.
    assert_eq!(peer.produce("orders", 0, batch_of(id, 0, 3, &["3"])).error_code, DUPLICATE);
    let expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(peer.values("orders", 0), expected);
}

#[test]
fn a_producer_that_the_partition_does_not_know_starts_anywhere() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 2, &[]);
    let id = peer.producer_id();
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 4711, &["a"])), 0);
    // Another partition knows nothing of it.
    assert_eq!(peer.produced("orders", 1, batch_of(id, 0, 0, &["b"])), 0);
    assert_eq!(peer.produce("orders", 0, batch_of(id, 0, 0, &["c"])).error_code, OUT_OF_ORDER);
}

#[test]
fn an_idle_producer_goes_on_after_its_expiration() {
    let served = Served::with(&["producer.id.expiration.ms=60000"]);
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    peer.produced("orders", 0, batch_of(id, 0, 0, &["a", "b"]));
    served.clock.advance_ms(60_001);
    assert_eq!(peer.produced("orders", 0, batch_of(id, 0, 2, &["c"])), 2);
    assert_eq!(peer.values("orders", 0), ["a", "b", "c"]);
}

#[test]
fn older_epochs_are_fenced_newer_ones_start_at_0_and_sequences_wrap() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let id = peer.producer_id();
    peer.produced("orders", 0, batch_of(id, 1, i32::MAX - 1, &["a", "b"]));
    peer.produced("orders", 0, batch_of(id, 1, 0, &["c"]));
    assert_eq!(peer.produce("orders", 0, batch_of(id, 0, 1, &["old"])).error_code, INVALID_EPOCH);
    assert_eq!(peer.produce("orders", 0, batch_of(id, 2, 1, &["not at 0"])).error_code, OUT_OF_ORDER);
    peer.produced("orders", 0, batch_of(id, 2, 0, &["d"]));
    assert_eq!(peer.produce("orders", 0, batch_of(id, 2, -1, &["no sequence"])).error_code, INVALID_RECORD);
    assert_eq!(peer.values("orders", 0), ["a", "b", "c", "d"]);
}

#[test]
fn of_several_partitions_only_the_bad_ones_are_refused_the_others_stand_once() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 2, &[("max.message.bytes", "2000")]);
    let bad = resealed(&batch(&["bad"]), |bytes| bytes[16] = 1);
    let large = batch(&[&"x".repeat(3_000)]);
    let request = produce("orders", vec![(0, batch(&["good"])), (1, bad), (7, batch(&["nowhere"])), (1, large)]);
    let answer = peer.ask(PRODUCE, &request);
    let codes: Vec<(i32, i16)> =
        answer.responses[0].partition_responses.iter().map(|answer| (answer.index, answer.error_code)).collect();
    assert_eq!(codes, [(0, 0), (1, INVALID_RECORD), (7, UNKNOWN_TOPIC), (1, MESSAGE_TOO_LARGE)]);
    assert_eq!(peer.values("orders", 0), ["good"]);
    assert_eq!(peer.values("orders", 1), [""; 0]);
}

#[test]
fn a_batch_over_the_topics_limit_is_too_large_and_the_connection_goes_on() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[("max.message.bytes", "1000")]);
    assert_eq!(peer.produce("orders", 0, batch(&[&"x".repeat(1_000)])).error_code, MESSAGE_TOO_LARGE);
    assert_eq!(peer.produced("orders", 0, batch(&["small"])), 0);
}

/// What is wrong, the batch, and the code it gets.
fn bad_batches() -> Vec<(&'static str, Bytes, i16)> {
    let sound = batch(&["a", "b", "c"]);
    let put = |at: usize, with: &[u8]| {
        let with = with.to_vec();
        resealed(&sound, move |bytes| bytes[at..at + with.len()].copy_from_slice(&with))
    };
    let mut flipped = sound.to_vec();
    flipped[HEADER_LEN + 3] ^= 1;
    vec![
        ("a wrong checksum", flipped.into(), CORRUPT_MESSAGE),
        ("cut", sound.slice(..sound.len() - 1), CORRUPT_MESSAGE),
        ("magic 0", put(16, &[0]), INVALID_RECORD),
        ("magic 1", put(16, &[1]), INVALID_RECORD),
        ("two batches", [&sound[..], &sound[..]].concat().into(), INVALID_RECORD),
        ("trailing bytes", [&sound[..], b"x"].concat().into(), INVALID_RECORD),
        ("a count that is too high", put(57, &4_i32.to_be_bytes()), INVALID_RECORD),
        ("a negative count", put(57, &(-3_i32).to_be_bytes()), INVALID_RECORD),
        ("a last offset delta that is wrong", put(23, &9_i32.to_be_bytes()), INVALID_RECORD),
        ("the control bit", put(21, &0x20_i16.to_be_bytes()), INVALID_RECORD),
        ("an unknown attribute", put(21, &0x40_i16.to_be_bytes()), INVALID_RECORD),
        ("codec 5", put(21, &5_i16.to_be_bytes()), UNSUPPORTED_COMPRESSION),
        ("codec 7", put(21, &7_i16.to_be_bytes()), UNSUPPORTED_COMPRESSION),
        ("gzip that is none", put(21, &1_i16.to_be_bytes()), INVALID_RECORD),
        ("a length that is negative", put(8, &(-1_i32).to_be_bytes()), CORRUPT_MESSAGE),
        ("no batch", Bytes::new(), INVALID_RECORD),
    ]
}

#[test]
fn bad_batches_of_every_kind_are_refused_and_nothing_of_them_is_stored() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for (what, batch, code) in bad_batches() {
        let answer = peer.produce("orders", 0, batch);
        assert_eq!((answer.error_code, answer.base_offset), (code, -1), "{what}: {answer:?}");
    }
    assert_eq!(peer.list_offsets("orders", 0, -1).offset, 0);
    assert_eq!(peer.produced("orders", 0, batch(&["good"])), 0);
}

#[test]
fn a_batch_without_a_key_is_refused_by_a_compacted_topic() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("table", 1, &[("cleanup.policy", "compact")]);
    let keyless =
        BatchBuilder::new(0).record(NewRecord { timestamp: START_MS, value: Some(b"v"), ..NewRecord::default() });
    assert_eq!(peer.produce("table", 0, keyless.build()).error_code, INVALID_RECORD);
    assert_eq!(peer.produced("table", 0, batch(&["keyed"])), 0);
}

#[test]
fn a_wrong_checksum_is_seen_at_any_base_offset_and_count() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for (base_offset, count) in [(0, 1), (0, 1_000), (77, 1), (77, 1_000)] {
        let mut builder = BatchBuilder::new(base_offset);
        for _ in 0..count {
            builder.push(NewRecord { timestamp: START_MS, value: Some(b"v"), ..NewRecord::default() });
        }
        let mut bytes = builder.build().to_vec();
        *bytes.last_mut().unwrap() ^= 0x10;
        assert_eq!(peer.produce("orders", 0, bytes.into()).error_code, CORRUPT_MESSAGE, "{base_offset}, {count}");
    }
    assert_eq!(peer.list_offsets("orders", 0, -1).offset, 0);
}

#[test]
fn a_compressed_bomb_is_refused_and_the_connection_goes_on() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    let zeros = vec![0; 200 << 20];
    for codec in [Compression::Gzip, Compression::Zstd] {
        let record = NewRecord { timestamp: START_MS, value: Some(&zeros), ..NewRecord::default() };
        let bomb = BatchBuilder::new(0).compression(codec).record(record).build();
        assert!(bomb.len() < 1_000_000, "{}", bomb.len());
        assert_eq!(peer.produce("orders", 0, bomb).error_code, MESSAGE_TOO_LARGE, "{codec:?}");
    }
    assert_eq!(peer.produced("orders", 0, batch(&["good"])), 0);
}

#[test]
fn acks_other_than_minus_1_0_and_1_are_refused() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for acks in [-2, 2, i16::MAX] {
        let request = produce("orders", vec![(0, batch(&["v"]))]).with_acks(acks);
        let answer = peer.ask(PRODUCE, &request);
        assert_eq!(answer.responses[0].partition_responses[0].error_code, INVALID_REQUIRED_ACKS);
    }
    assert_eq!(peer.list_offsets("orders", 0, -1).offset, 0);
}

#[test]
fn acks_0_gets_no_answer_and_a_closed_connection_when_it_fails() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.send(PRODUCE, &produce("orders", vec![(0, batch(&["v"]))]).with_acks(0));
    // The next answer is the next question's.
    assert_eq!(peer.list_offsets("orders", 0, -2).offset, 0);
    peer.send(PRODUCE, &produce("nowhere", vec![(0, batch(&["v"]))]).with_acks(0));
    assert!(peer.is_closed());
    let mut peer = served.connect();
    peer.produced("orders", 0, batch(&["acknowledged"]));
    assert_eq!(peer.values("orders", 0), ["v", "acknowledged"]);
}

#[test]
fn offset_and_leader_epoch_of_a_produced_batch_are_the_brokers_to_say() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    peer.produced("orders", 0, batch(&["first"]));
    let mut claims = batch(&["second"]).to_vec();
    claims[..8].copy_from_slice(&4_711_i64.to_be_bytes());
    claims[12..16].copy_from_slice(&99_i32.to_be_bytes());
    assert_eq!(peer.produced("orders", 0, claims.into()), 1);
    let answer = peer.fetch("orders", 0, 1);
    // The checksum is checked in `records_of`.
    assert_eq!(records_of(&answer), [(1, "second".to_owned())]);
    assert_eq!(answer.records.unwrap()[12..16], 0_i32.to_be_bytes());
}

#[test]
fn timestamps_out_of_the_topics_range_are_refused_and_the_records_named() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[("message.timestamp.after.max.ms", "1000")]);
    let builder = [START_MS, START_MS + 900_000].iter().fold(BatchBuilder::new(0), |builder, &timestamp| {
        builder.record(NewRecord { timestamp, value: Some(b"v"), ..NewRecord::default() })
    });
    let answer = peer.produce("orders", 0, builder.build());
    assert_eq!(answer.error_code, INVALID_TIMESTAMP);
    let named: Vec<i32> = answer.record_errors.iter().map(|error| error.batch_index).collect();
    assert_eq!(named, [1]);
}

#[test]
fn a_topic_produced_to_by_id_takes_it_and_an_id_that_is_unknown_or_was_deleted_does_not() {
    const BY_ID: i16 = 13;
    const UNKNOWN_TOPIC_ID: i16 = 100;
    let served = Served::start();
    let mut peer = served.connect();
    let create = |peer: &mut Peer| peer.ask(7, &create_topic("orders", 1, &[])).topics[0].topic_id;
    let first = create(&mut peer);
    let by_id = |peer: &mut Peer, id: Uuid, value: &str| {
        let mut request = produce("orders", vec![(0, batch(&[value]))]);
        request.topic_data[0].topic_id = id;
        peer.ask(BY_ID, &request).responses[0].partition_responses[0].error_code
    };
    assert_eq!(by_id(&mut peer, first, "a"), 0);
    assert_eq!(by_id(&mut peer, Uuid::from_u128(4_711), "b"), UNKNOWN_TOPIC_ID);
    peer.delete_topic("orders");
    assert_eq!(by_id(&mut peer, first, "c"), UNKNOWN_TOPIC_ID);
    let second = create(&mut peer);
    assert_eq!(by_id(&mut peer, first, "d"), UNKNOWN_TOPIC_ID, "another topic has the name now");
    assert_eq!(by_id(&mut peer, second, "e"), 0);
    assert_eq!(peer.values("orders", 0), ["e"]);
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn batches_for_a_deleted_topic_never_land_in_the_one_made_anew() {
    let served = Served::start();
    let mut admin = served.connect();
    admin.create_topic("orders", 1, &[]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut peer = served.connect();
            let mut acknowledged = 0_u64;
            for n in 0_u64.. {
                let answer = peer.produce("orders", 0, batch(&[&n.to_string()]));
                assert!(matches!(answer.error_code, 0 | UNKNOWN_TOPIC), "{answer:?}");
                acknowledged += u64::from(answer.error_code == 0);
                if stop.load(Ordering::Acquire) {
                    return acknowledged;
                }
            }
            unreachable!()
        });
        // Also when an assertion fails, or the writer would go on for ever.
        let stopped = StopAtEnd(&stop);
        let mut newest_before = -1;
        for _ in 0..100 {
            // Answered before the deletion is asked for: it must be gone with the topic.
            let before = admin.values("orders", 0).last().map_or(newest_before, |newest| newest.parse().unwrap());
            admin.delete_topic("orders");
            admin.create_topic("orders", 1, &[]);
            for value in admin.values("orders", 0) {
                assert!(value.parse::<i64>().unwrap() > before, "{value} is of the deleted topic");
            }
            newest_before = before;
        }
        drop(stopped);
        assert!(writer.join().unwrap() > 0);
    });
}

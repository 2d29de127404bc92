//! Appends: offsets, segments, streams that open, and batches of idempotent producers.

use super::super::producers::Room;
use super::*;

fn positions(machine: &Machine) -> Vec<(Offset, u64, Offset)> {
    let batch = |write: &TailWrite| match write {
        TailWrite::Batch { segment, position, base_offset, .. } => Some((*segment, *position, *base_offset)),
        _ => None,
    };
    machine.writes.iter().filter_map(batch).collect()
}

#[test]
fn batches_get_dense_offsets_and_stand_one_after_another() {
    let mut machine = Machine::new();
    let first = plain(&["a", "b"]);
    let len = first.bytes.len() as u64;
    assert_eq!(machine.append(first).unwrap().base_offset, Offset(0));
    assert_eq!(machine.append(plain(&["c"])).unwrap().base_offset, Offset(2));
    assert_eq!(positions(&machine), [(Offset(0), 0, Offset(0)), (Offset(0), len, Offset(2))]);
    assert_eq!(machine.feed().partitions()[0].log_end(), Offset(3));
    assert_eq!(machine.feed().partitions()[1].log_end(), Offset(0));
}

#[test]
fn a_full_segment_is_rolled_before_the_batch_that_would_overflow_it() {
    let mut machine = Machine::new();
    machine.settings.segment_bytes = 2 * plain(&["a"]).bytes.len() as u64;
    for _ in 0..3 {
        machine.append(plain(&["a"])).unwrap();
    }
    let bases: Vec<(Offset, Offset)> = positions(&machine).iter().map(|(base, _, offset)| (*base, *offset)).collect();
    assert_eq!(bases, [(Offset(0), Offset(0)), (Offset(0), Offset(1)), (Offset(2), Offset(2))]);
}

#[test]
fn a_batch_larger_than_a_segment_gets_one_of_its_own() {
    let mut machine = Machine::new();
    machine.settings.segment_bytes = 1;
    machine.append(plain(&["a"])).unwrap();
    machine.append(plain(&["b"])).unwrap();
    assert_eq!(positions(&machine), [(Offset(0), 0, Offset(0)), (Offset(1), 0, Offset(1))]);
}

#[test]
fn an_old_segment_is_rolled_at_the_next_batch() {
    let mut machine = Machine::new();
    machine.settings.segment_ms = 1000;
    machine.append(plain(&["a"])).unwrap();
    machine.later(999);
    machine.append(plain(&["b"])).unwrap();
    machine.later(1);
    machine.append(plain(&["c"])).unwrap();
    let bases: Vec<i64> = positions(&machine).iter().map(|(base, _, _)| base.0).collect();
    assert_eq!(bases, [0, 0, 2]);
}

#[test]
fn the_first_record_opens_the_stream_and_names_it() {
    let mut machine = Machine::new();
    machine.append(with_header("streamstack-stream", "poll 9")).unwrap();
    machine.append(with_header("streamstack-stream", "too late")).unwrap();
    let stream = machine.feed().open_stream().unwrap();
    assert_eq!((stream.id(), stream.label(), stream.records()), (StreamId(0), Some("poll 9"), 2));
    assert_eq!(machine.events().len(), 1);
    let opened =
        StreamFact::Opened { kind: StreamKind::Implicit, label: Some("poll 9".into()), transactional_id: None };
    assert_eq!(machine.events()[0], StreamEvent { feed: "orders".into(), stream: 0, at: 1_000_000, event: opened });
}

#[test]
fn adjacent_batches_of_a_stream_are_one_extent() {
    let mut machine = Machine::new();
    for partition in [0, 1, 0, 0, 1] {
        machine.append_to(FeedId(0), PartitionId(partition), plain(&["a", "b"])).unwrap();
    }
    let stream = machine.feed().open_stream().unwrap();
    assert_eq!(stream.extents(PartitionId(0)), [Extent { base: Offset(0), count: 6 }]);
    assert_eq!(stream.extents(PartitionId(1)), [Extent { base: Offset(0), count: 4 }]);
    assert_eq!(stream.extents(PartitionId(2)), []);
}

#[test]
fn what_is_not_there_takes_nothing() {
    let mut machine = Machine::new();
    let unknown = machine.append_to(FeedId(1), PartitionId(0), plain(&["a"]));
    assert_eq!(unknown, Err(AppendError::UnknownFeed { feed: FeedId(1) }));
    let unknown = machine.append_to(FeedId(0), PartitionId(2), plain(&["a"]));
    assert_eq!(unknown, Err(AppendError::UnknownPartition { partition: PartitionId(2), partitions: 2 }));
}

#[test]
fn a_transactional_batch_without_a_transactional_id_is_refused() {
    let mut machine = Machine::new();
    let record = NewRecord { timestamp: 1, value: Some(b"v"), ..NewRecord::default() };
    let producer = Producer { id: 1, epoch: 0, base_sequence: 0 };
    let batch = BatchBuilder::new(0).producer(producer).transactional().record(record).build();
    assert_eq!(machine.append(checked(batch)), Err(AppendError::NoTransactionalId));
}

#[test]
fn a_repeated_batch_gets_its_first_offset_and_is_stored_once() {
    let mut machine = Machine::new();
    machine.append(plain(&["x"])).unwrap();
    for round in 0..3 {
        let outcome = machine.append(by(7, 0, 0, &["a", "b"])).unwrap();
        assert_eq!((outcome.base_offset, outcome.duplicate), (Offset(1), round > 0));
    }
    assert_eq!(machine.feed().partitions()[0].log_end(), Offset(3));
    // Also after its segment was rolled and its stream sealed.
    machine.settings.segment_bytes = 1;
    machine.append(by(7, 0, 2, &["c"])).unwrap();
    machine.later(5_000);
    machine.seal_due();
    assert_eq!(machine.append(by(7, 0, 0, &["a", "b"])).unwrap().base_offset, Offset(1));
}

#[test]
fn a_repeat_is_known_after_a_restart() {
    let mut machine = Machine::new();
    machine.append(by(7, 0, 0, &["a"])).unwrap();
    machine.state = State::decode(&machine.state.encode()).unwrap();
    assert!(machine.append(by(7, 0, 0, &["a"])).unwrap().duplicate);
}

#[test]
fn sequences_are_kept_per_partition() {
    let mut machine = Machine::new();
    machine.append(by(7, 0, 0, &["a"])).unwrap();
    let outcome = machine.append_to(FeedId(0), PartitionId(1), by(7, 0, 0, &["a"])).unwrap();
    assert!(!outcome.duplicate);
}

#[test]
fn a_producer_silent_for_too_long_starts_anew_and_leaves_no_trace() {
    let mut machine = Machine::new();
    machine.append(by(7, 3, 0, &["a"])).unwrap();
    machine.append(by(8, 0, 0, &["b"])).unwrap();
    machine.later(1_000_001);
    // A plain batch purges nothing: it costs no look at the producers.
    machine.append(plain(&["x"])).unwrap();
    assert_eq!(machine.state.num_producers(), 2);
    // Any epoch, any sequence; the other one is forgotten with it.
    machine.append(by(7, 2, 55, &["c"])).unwrap();
    assert_eq!(machine.state.num_producers(), 1);
    assert!(machine.append(by(7, 2, 55, &["c"])).unwrap().duplicate);
    assert!(!machine.append(by(8, 0, 0, &["b"])).unwrap().duplicate);
}

#[test]
fn producers_at_the_limit_push_out_the_most_silent_one() {
    let mut producers = Producers::default();
    let batch = |id: usize| super::super::producers::Sequenced {
        producer: ProducerId(id as i64),
        epoch: 0,
        first: 0,
        count: 1,
    };
    for id in 0..super::super::producers::PRODUCERS_MAX {
        assert_eq!(producers.append(&batch(id), Timestamp(id as i64), 0, &Room::default()), 1);
    }
    assert_eq!(producers.append(&batch(1_000_000), Timestamp(1_000_000), 0, &Room::default()), 0);
    assert_eq!(producers.get(ProducerId(0)), None);
    // When all partitions together have too many, each new one costs an old one.
    let crowded = Room { crowded: true, ..Room::default() };
    assert_eq!(producers.append(&batch(1_000_001), Timestamp(1_000_001), 0, &crowded), 0);
    assert_eq!(producers.get(ProducerId(1)), None);
    assert_eq!(Producers::default().append(&batch(1), Timestamp(1), 0, &crowded), 1);
    // One with an open transaction stays: its batches must go on being told from repeated ones.
    let busy = Room { crowded: true, busy: [ProducerId(2)].into() };
    assert_eq!(producers.append(&batch(1_000_002), Timestamp(1_000_002), 0, &busy), 0);
    assert!(producers.get(ProducerId(2)).is_some() && producers.get(ProducerId(3)).is_none());
}

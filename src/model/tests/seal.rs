//! Seals: by wish, header, size and age; what the manifests and the history of streams say of them.

use super::*;

fn wish(label: &str, metadata: Option<&str>) -> SealWish {
    SealWish { label: Some(label.to_owned()), metadata: metadata.map(str::to_owned) }
}

fn runs(machine: &Machine) -> Vec<(u32, u64, RunRow)> {
    let rows = |write: &TailWrite| match write {
        TailWrite::Runs { partition, row, runs, .. } => {
            runs.iter().enumerate().map(|(i, run)| (partition.0, row + i as u64, *run)).collect()
        }
        _ => Vec::new(),
    };
    machine.writes.iter().flat_map(rows).collect()
}

#[test]
fn a_seal_gives_every_record_its_place_in_feed_space() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b"])).unwrap();
    machine.append_to(FeedId(0), PartitionId(1), plain(&["c"])).unwrap();
    machine.seal(vec![SealWish::default()], None).unwrap();
    machine.append(plain(&["d"])).unwrap();
    machine.seal(vec![SealWish::default()], None).unwrap();
    let run = |commit, feed_base, log_base, count| RunRow {
        commit: CommitNumber(commit),
        feed_base: FeedOffset(feed_base),
        log_base: Offset(log_base),
        count,
    };
    assert_eq!(runs(&machine), [(0, 0, run(0, 0, 0, 2)), (1, 0, run(0, 0, 0, 1)), (0, 1, run(1, 2, 2, 1))]);
    assert_eq!(machine.feed().partitions()[0].feed_end(), FeedOffset(3));
    assert_eq!(machine.feed().open_stream(), None);
}

#[test]
fn a_manifest_tells_all_that_a_reader_may_ask() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b"])).unwrap();
    machine.later(10);
    let tombstone = BatchBuilder::new(0).record(NewRecord { timestamp: 7, ..NewRecord::default() }).build();
    machine.append_to(FeedId(0), PartitionId(1), checked(tombstone)).unwrap();
    machine.later(10);
    machine.seal(vec![wish("poll 1", Some(r#"{ "rows": 3, "big": 12345678901234567890.5 }"#))], None).unwrap();
    let TailWrite::Commit { batch, row, position, .. } = machine.writes.last().unwrap() else { panic!() };
    let (len0, len1) = (plain(&["a", "b"]).bytes.len(), 68);
    let expected = format!(
        concat!(
            r#"{{"feed":"orders","commit":0,"stream":0,"label":"poll 1","kind":"implicit","reason":"control","#,
            r#""opened":1000000,"first_append":1000000,"last_append":1000010,"sealed":1000020,"partitions":["#,
            r#"{{"partition":0,"feed_base":0,"count":2,"bytes":{len0},"runs":[{{"log_base":0,"count":2}}],"#,
            r#""min_timestamp":100,"max_timestamp":101}},"#,
            r#"{{"partition":1,"feed_base":0,"count":1,"bytes":{len1},"runs":[{{"log_base":0,"count":1}}],"#,
            r#""min_timestamp":7,"max_timestamp":7}}],"records":3,"bytes":{bytes},"tombstones":1,"siblings":[],"#,
            r#""metadata":{{ "rows": 3, "big": 12345678901234567890.5 }},"state":"live"}}"#,
        ),
        len0 = len0,
        len1 = len1,
        bytes = len0 + len1,
    );
    assert_eq!(String::from_utf8_lossy(&one_value(batch)), expected);
    let records = records(batch, usize::MAX).unwrap();
    let record = records.iter().next().unwrap().unwrap();
    assert_eq!((record.offset, record.timestamp, record.key), (0, 1_000_020, Some(&b"0"[..])));
    let sealed = Timestamp(1_000_020);
    let label_hash = label_hash("poll 1");
    assert_eq!(*row, CommitRow { commit: CommitNumber(0), position: 0, stream: StreamId(0), sealed, label_hash });
    assert_eq!(*position, 0);
}

#[test]
fn a_seal_with_nothing_appended_is_an_empty_commit() {
    let mut machine = Machine::new();
    let outcome = machine.seal(vec![wish("14:00", None)], None).unwrap();
    assert_eq!(outcome, SealOutcome { first: CommitNumber(0), count: 1, duplicate: false });
    let manifest = &machine.manifests()[0];
    assert_eq!((manifest.records, manifest.first_append, manifest.label.as_deref()), (0, None, Some("14:00")));
    let events: Vec<StreamFact> = machine.events().into_iter().map(|event| event.event).collect();
    let label = Some("14:00".to_owned());
    let sealed =
        StreamFact::Sealed { commit: 0, reason: SealReason::Control, label: label.clone(), records: 0, bytes: 0 };
    assert_eq!(events, [StreamFact::Opened { kind: StreamKind::Implicit, label, transactional_id: None }, sealed]);
}

#[test]
fn several_wishes_seal_the_open_stream_and_then_nothing() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    let outcome = machine.seal(vec![wish("a", None), wish("b", None), wish("c", None)], None).unwrap();
    assert_eq!((outcome.first, outcome.count), (CommitNumber(0), 3));
    let told: Vec<_> =
        machine.manifests().into_iter().map(|m| (m.commit, m.stream, m.label.unwrap(), m.records)).collect();
    assert_eq!(told, [(0, 0, "a".into(), 1), (1, 1, "b".into(), 0), (2, 2, "c".into(), 0)]);
    assert_eq!(machine.journal.len(), 3, "one entry for all three seals");
}

#[test]
fn the_first_record_names_the_stream_before_the_wish_does() {
    let mut machine = Machine::new();
    machine.append(with_header("streamstack-stream", "from the record")).unwrap();
    machine.seal(vec![wish("from the wish", None)], None).unwrap();
    assert_eq!(machine.manifests()[0].label.as_deref(), Some("from the record"));
}

#[test]
fn the_seal_header_seals_with_its_own_batch() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    machine.append(with_header("streamstack-seal", "done")).unwrap();
    let manifest = &machine.manifests()[0];
    assert_eq!((manifest.records, manifest.reason), (2, SealReason::Header));
    assert_eq!(manifest.label.as_deref(), Some("done"));
    assert_eq!(machine.state.deadline(), None);
}

#[test]
fn a_repeated_batch_with_the_seal_header_seals_once() {
    let mut machine = Machine::new();
    let headers = [Header { key: b"streamstack-seal", value: None }];
    let record = NewRecord { timestamp: 1, key: None, value: Some(b"v"), headers: &headers };
    let producer = Producer { id: 1, epoch: 0, base_sequence: 0 };
    let batch = checked(BatchBuilder::new(0).producer(producer).record(record).build());
    machine.append(batch.clone()).unwrap();
    assert!(machine.append(batch).unwrap().duplicate);
    assert_eq!(machine.manifests().len(), 1);
}

#[test]
fn the_record_that_fills_the_stream_is_in_the_commit() {
    let mut machine = Machine::new();
    machine.settings.seal_records = 3;
    machine.append(plain(&["a", "b"])).unwrap();
    assert_eq!(machine.manifests().len(), 0);
    machine.append_to(FeedId(0), PartitionId(1), plain(&["c", "d"])).unwrap();
    let manifest = &machine.manifests()[0];
    assert_eq!((manifest.records, manifest.reason), (4, SealReason::Records));
}

#[test]
fn a_stream_is_sealed_when_its_batches_reach_the_bytes() {
    let mut machine = Machine::new();
    machine.settings.seal_bytes = 2 * plain(&["a"]).bytes.len() as i64;
    machine.append(plain(&["a"])).unwrap();
    assert_eq!(machine.manifests().len(), 0);
    machine.append(plain(&["b"])).unwrap();
    assert_eq!(machine.manifests()[0].reason, SealReason::Bytes);
}

#[test]
fn age_counts_from_the_first_record_and_needs_no_next_one() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    machine.later(4_999);
    machine.append(plain(&["b"])).unwrap();
    assert_eq!(machine.state.deadline(), Some(Timestamp(1_005_000)));
    machine.seal_due();
    assert_eq!(machine.manifests().len(), 0);
    machine.later(1);
    machine.seal_due();
    let manifest = &machine.manifests()[0];
    assert_eq!((manifest.records, manifest.reason, manifest.sealed), (2, SealReason::Time, 1_005_000));
    // And nothing more comes by itself.
    machine.later(1_000_000);
    machine.seal_due();
    assert_eq!((machine.manifests().len(), machine.state.deadline()), (1, None));
}

#[test]
fn a_changed_age_counts_from_the_next_record_on() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    machine.settings.seal_ms = 100;
    machine.later(50);
    machine.append(plain(&["b"])).unwrap();
    assert_eq!(machine.state.deadline(), Some(Timestamp(1_000_100)));
}

#[test]
fn many_due_streams_are_sealed_in_several_decisions() {
    let mut machine = Machine::new();
    for index in 1..=300 {
        let feed = machine.create(&format!("feed{index}"), 1).unwrap();
        machine.append_to(feed, PartitionId(0), plain(&["a"])).unwrap();
    }
    machine.later(5_000);
    machine.seal_due();
    assert_eq!((machine.manifests().len(), machine.state.deadline()), (256, Some(machine.now)));
    machine.seal_due();
    assert_eq!((machine.manifests().len(), machine.state.deadline()), (300, None));
}

#[test]
fn seal_times_never_go_back() {
    let mut machine = Machine::new();
    machine.seal(vec![SealWish::default()], None).unwrap();
    machine.later(-500_000);
    machine.seal(vec![SealWish::default()], None).unwrap();
    let floor = machine.state.decide_time_floor(Timestamp(2_000_000));
    machine.take(floor);
    machine.seal(vec![SealWish::default()], None).unwrap();
    let times: Vec<i64> = machine.manifests().iter().map(|m| m.sealed).collect();
    assert_eq!(times, [1_000_000, 1_000_000, 2_000_000]);
}

#[test]
fn the_time_floor_only_rises() {
    let mut machine = Machine::new();
    let floor = machine.state.decide_time_floor(Timestamp(50));
    machine.take(floor);
    assert_eq!(machine.state.decide_time_floor(Timestamp(50)).entries, []);
    assert_eq!(machine.state.decide_time_floor(Timestamp(49)).entries, []);
    assert_eq!(machine.state.time_floor(), Timestamp(50));
}

#[test]
fn a_stream_opened_before_the_clock_went_back_is_not_kept_open_for_long() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    machine.later(-900_000);
    machine.append(plain(&["b"])).unwrap();
    assert_eq!(machine.state.deadline(), Some(Timestamp(105_000)));
}

#[test]
fn a_repeated_wish_gets_its_first_commit() {
    let mut machine = Machine::new();
    let producer = |sequence| Some(SealingProducer { producer: ProducerId(5), epoch: 0, sequence });
    let wishes = || vec![wish("a", None), wish("b", None)];
    machine.seal(vec![SealWish::default()], None).unwrap();
    for round in 0..2 {
        let outcome = machine.seal(wishes(), producer(0)).unwrap();
        assert_eq!(outcome, SealOutcome { first: CommitNumber(1), count: 2, duplicate: round > 0 });
    }
    assert_eq!(machine.feed().next_commit(), CommitNumber(3));
    let gap = machine.seal(wishes(), producer(3)).unwrap_err();
    let expected = SequenceError::Gap { producer: ProducerId(5), found: 3, expected: 2 };
    assert_eq!(gap, SealError::Sequence(expected));
    machine.seal(wishes(), producer(2)).unwrap();
    // The control topic and the partitions have sequences of their own.
    machine.append(by(5, 0, 0, &["a"])).unwrap();
}

#[test]
fn a_wish_that_cannot_be_kept_is_refused() {
    let mut machine = Machine::new();
    let not_json = machine.seal(vec![SealWish::default(), wish("a", Some("{rows"))], None).unwrap_err();
    assert!(matches!(not_json, SealError::Metadata { index: 1, .. }), "{not_json}");
    let long = machine.seal(vec![wish(&"x".repeat(LABEL_BYTES_MAX + 1), None)], None).unwrap_err();
    assert_eq!(long, SealError::Label { index: 0, len: LABEL_BYTES_MAX + 1 });
    let metadata = format!("\"{}\"", "x".repeat(METADATA_BYTES_MAX));
    let long = machine.seal(vec![wish("", Some(&metadata))], None).unwrap_err();
    assert_eq!(long, SealError::MetadataLength { index: 0, len: METADATA_BYTES_MAX + 2 });
    assert_eq!(machine.seal(vec![], None).unwrap_err(), SealError::Count { found: 0 });
    let many = machine.seal(vec![SealWish::default(); SEALS_MAX + 1], None).unwrap_err();
    assert_eq!(many, SealError::Count { found: SEALS_MAX + 1 });
    assert_eq!(machine.feed().next_commit(), CommitNumber(0));
}

#[test]
fn streams_of_several_feeds_are_sealed_by_one_entry() {
    let mut machine = Machine::new();
    let other = machine.create("payments", 1).unwrap();
    machine.append(plain(&["a"])).unwrap();
    machine.append_to(other, PartitionId(0), plain(&["b"])).unwrap();
    let stream = |feed| StreamSealed {
        feed,
        stream: StreamId(0),
        reason: SealReason::Operator,
        label: None,
        metadata: None,
        sealed_by: None,
    };
    let sealed = Sealed { at: machine.now, streams: vec![stream(FeedId(0)), stream(other)] };
    machine.take(Decision { entries: vec![Entry::Sealed(sealed)], outcome: () });
    let told: Vec<(String, i64)> = machine.manifests().into_iter().map(|m| (m.feed, m.records)).collect();
    assert_eq!(told, [("orders".into(), 1), ("payments".into(), 1)]);
}

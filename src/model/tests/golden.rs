//! Formats are frozen: what was once written is read for ever, and written the same way as long as its version is the
//! newest. The golden files hold hex; a failing test says what it found.

use super::transaction::{TV2, within};
use super::*;

/// One entry of each kind, some with all that is optional; the name is its golden file's.
pub fn samples() -> Vec<(&'static str, Entry)> {
    let (feed, at) = (FeedId(3), Timestamp(0x0102_0304_0506));
    let overrides: Overrides = [("retention.ms".to_owned(), "7".to_owned()), ("é".to_owned(), String::new())].into();
    let appended = Appended {
        feed,
        partition: PartitionId(2),
        base_offset: Offset(77),
        at,
        stream: StreamId(5),
        roll: true,
        due: Timestamp(at.0 + 5_000),
        timestamp_min: Timestamp(100),
        tombstones: 1,
        label: Some("poll 9".to_owned()),
        batch: by(9, 1, 33, &["a", "b"]).bytes,
    };
    let sealed_by = SealProducer { producer: ProducerId(9), epoch: 1, sequence: 33, records: 2 };
    let full = StreamSealed {
        feed,
        stream: StreamId(5),
        reason: SealReason::Control,
        label: Some("14:00".to_owned()),
        metadata: Some("{\"rows\": 3}".to_owned()),
        sealed_by: Some(sealed_by),
    };
    let bare = StreamSealed {
        feed: FeedId(4),
        stream: StreamId(6),
        reason: SealReason::Time,
        label: None,
        metadata: None,
        sealed_by: None,
    };
    let created = FeedCreated {
        feed,
        name: "orders".to_owned(),
        topic_id: Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff),
        partitions: 12,
        overrides: overrides.clone(),
        at,
    };
    let trimmed = Trimmed {
        feed,
        at,
        start: HistoryStart {
            commit: CommitNumber(9),
            manifest: CommitNumber(7),
            manifest_sealed: at,
            event: 15,
            whole: CommitNumber(11),
        },
        partitions: vec![PartitionStart { partition: PartitionId(2), log: Offset(40), feed: FeedOffset(30), run: 5 }],
    };
    let moved = MovedPosition {
        topic: "orders..commits".to_owned(),
        partition: PartitionId(0),
        offset: 17,
        leader_epoch: -1,
        metadata: "é".to_owned(),
        expires: None,
    };
    let expiring =
        MovedPosition { partition: PartitionId(1), expires: Some(Timestamp(at.0 + 60_000)), ..moved.clone() };
    let kept = GroupKept {
        group: "loader".to_owned(),
        kind: GroupKind::Classic,
        at,
        head: Bytes::from_static(b"head"),
        members: vec![("m-1".to_owned(), Some(Bytes::from_static(b"row"))), ("m-2".to_owned(), None)],
    };
    let group = kept.group.clone();
    let some_expire = PositionsMoved { group: group.clone(), at, positions: vec![moved.clone(), expiring] };
    let moved = PositionsMoved { group: group.clone(), at, positions: vec![moved] };
    let forgotten = vec![("orders".to_owned(), PartitionId(2))];
    let identity = Identity { producer: ProducerId(9), epoch: 4 };
    let next = Identity { epoch: 5, ..identity };
    let id = "loader-1".to_owned();
    let bound = ProducerBound { id: id.clone(), identity: next, previous: Some(identity), timeout_ms: 60_000, at };
    let enlisted = Enlisted {
        producer: identity.producer,
        at,
        partitions: vec![(feed, PartitionId(2)), (FeedId(4), PartitionId(0))],
        seals: vec![feed],
        groups: vec![group.clone()],
    };
    let staged = PositionsStaged { producer: identity.producer, moved: moved.clone() };
    let named = StreamNamed {
        feed,
        at,
        by: sealed_by,
        label: Some("14:00".to_owned()),
        metadata: Some("{\"rows\": 3}".to_owned()),
    };
    let ended = TransactionEnded {
        id: id.clone(),
        by: identity,
        at,
        reason: EndReason::CommittedNext,
        seals: vec![
            StreamSealed { reason: SealReason::Cut, ..bare.clone() },
            StreamSealed { stream: StreamId(7), reason: SealReason::Transaction, ..bare.clone() },
        ],
        rolls: vec![(feed, PartitionId(2))],
        marker_epoch: 5,
        next,
    };
    let aborted =
        TransactionEnded { reason: EndReason::TimedOut, seals: Vec::new(), rolls: Vec::new(), ..ended.clone() };
    vec![
        ("feed_created", Entry::FeedCreated(created)),
        ("feed_deleted", Entry::FeedDeleted { feed, at }),
        ("partitions_added", Entry::PartitionsAdded { feed, partitions: 24, at }),
        ("feed_configured", Entry::FeedConfigured { feed, overrides: overrides.clone() }),
        ("broker_configured", Entry::BrokerConfigured { broker: Some(1), overrides: overrides.clone() }),
        ("cluster_configured", Entry::BrokerConfigured { broker: None, overrides: Overrides::new() }),
        ("producer_opened", Entry::ProducerOpened { producer: ProducerId(41) }),
        ("producers_forgotten", Entry::ProducersForgotten { feed, partition: Some(PartitionId(2)), before: at }),
        ("sealers_forgotten", Entry::ProducersForgotten { feed, partition: None, before: at }),
        ("appended", Entry::Appended(appended.clone())),
        ("appended_plain", Entry::Appended(Appended { label: None, roll: false, ..appended })),
        ("sealed", Entry::Sealed(Sealed { at, streams: vec![full, bare] })),
        ("time_floor", Entry::TimeFloor { at }),
        ("trimmed", Entry::Trimmed(trimmed)),
        ("positions_moved", Entry::PositionsMoved(moved)),
        ("expiring_positions_moved", Entry::PositionsMoved(some_expire)),
        ("positions_forgotten", Entry::PositionsForgotten { group: group.clone(), positions: forgotten }),
        ("group_kept", Entry::GroupKept(kept.clone())),
        ("consumer_group_kept", Entry::GroupKept(GroupKept { kind: GroupKind::Consumer, ..kept })),
        ("producer_bound", Entry::ProducerBound(bound)),
        ("enlisted", Entry::Enlisted(enlisted)),
        ("positions_staged", Entry::PositionsStaged(staged)),
        ("stream_named", Entry::StreamNamed(named)),
        ("transaction_ended", Entry::TransactionEnded(ended)),
        ("transaction_timed_out", Entry::TransactionEnded(aborted)),
        ("transactional_ids_forgotten", Entry::TransactionalIdsForgotten { before: at }),
        ("group_deleted", Entry::GroupDeleted { group: group.clone() }),
        ("group_configured", Entry::GroupConfigured { group, overrides }),
    ]
}

/// A state that holds something of everything.
pub fn sample_state() -> State {
    let mut machine = Machine::new();
    machine.create("payments.eu", 1).unwrap();
    machine.append(with_header("streamstack-stream", "first")).unwrap();
    machine.seal(vec![SealWish::default(); 2], None).unwrap();
    let producer = Some(SealingProducer { producer: ProducerId(8), epoch: 0, sequence: 0 });
    machine.seal(vec![SealWish::default()], producer).unwrap();
    machine.append(with_header("streamstack-stream", "second")).unwrap();
    machine.append_to(FeedId(0), PartitionId(1), by(7, 1, 0, &["a"])).unwrap();
    machine.later(3);
    machine.append_to(FeedId(0), PartitionId(1), by(7, 1, 1, &["b", "c"])).unwrap();
    let overrides: Overrides = [("segment.ms".to_owned(), "9".to_owned())].into();
    let decision = machine.state.decide_configure(FeedId(1), overrides.clone()).unwrap();
    machine.take(decision);
    for broker in [None, Some(1)] {
        let decision = machine.state.decide_configure_broker(broker, overrides.clone()).unwrap();
        machine.take(decision);
    }
    let decision = machine.state.decide_open_producer();
    machine.take(decision);
    let decision = machine.state.decide_time_floor(Timestamp(123_456));
    machine.take(decision);
    machine.append_to(FeedId(1), PartitionId(0), plain(&["x", "y"])).unwrap();
    let wish =
        DeleteRecords { feed: FeedId(1), partition: PartitionId(0), below: Offset(1), sealed: None, now: machine.now };
    let decision = machine.state.decide_delete_records(wish).unwrap();
    machine.take(decision);
    machine.state
}

/// The same with subscriptions.
fn sample_state_with_groups() -> State {
    with_entries_of(sample_state(), &["positions_moved", "group_kept", "consumer_group_kept"])
}

/// The same with positions that expire at a time of their own, and with groups that have configs.
fn sample_state_with_group_configs() -> State {
    with_entries_of(sample_state_with_transactions(), &["expiring_positions_moved", "group_configured"])
}

fn with_entries_of(state: State, names: &[&str]) -> State {
    let mut machine = Machine { state, ..Machine::new() };
    for (name, entry) in samples() {
        if names.contains(&name) {
            machine.take(Decision::one(entry, ()));
        }
    }
    machine.state
}

/// The same with transactions: one that was aborted, and one that is open and named.
pub fn sample_state_with_transactions() -> State {
    let mut machine = Machine { state: sample_state_with_groups(), ..Machine::new() };
    let place = (FeedId(1), PartitionId(0));
    let aborted = machine.bind("loader", None).unwrap();
    machine.append_in(TV2, place, within(aborted, 0, &["a", "b"])).unwrap();
    let open = machine.end("loader", aborted, false, true).unwrap();
    machine.append_in(TV2, place, within(open, 0, &["c"])).unwrap();
    machine.name(FeedId(1), open, 0, "named").unwrap();
    machine.stage("loader", open, 21).unwrap();
    machine.bind("idle", None).unwrap();
    machine.state
}

/// An entry as it comes back from its bytes: with the placed head on its batch.
pub fn as_decoded(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Entry::Appended(appended) = &mut entry {
        let mut bytes = appended.batch.to_vec();
        bytes[..16].copy_from_slice(&crate::batch::placed_head(&appended.batch, appended.base_offset.0));
        appended.batch = bytes.into();
    }
    entry
}

fn golden(name: &str) -> String {
    let text = match name {
        "feed_created" => include_str!("../../../tests/golden/entries/feed_created.hex"),
        "feed_deleted" => include_str!("../../../tests/golden/entries/feed_deleted.hex"),
        "partitions_added" => include_str!("../../../tests/golden/entries/partitions_added.hex"),
        "feed_configured" => include_str!("../../../tests/golden/entries/feed_configured.hex"),
        "broker_configured" => include_str!("../../../tests/golden/entries/broker_configured.hex"),
        "cluster_configured" => include_str!("../../../tests/golden/entries/cluster_configured.hex"),
        "producer_opened" => include_str!("../../../tests/golden/entries/producer_opened.hex"),
        "producers_forgotten" => include_str!("../../../tests/golden/entries/producers_forgotten.hex"),
        "sealers_forgotten" => include_str!("../../../tests/golden/entries/sealers_forgotten.hex"),
        "appended" => include_str!("../../../tests/golden/entries/appended.hex"),
        "appended_plain" => include_str!("../../../tests/golden/entries/appended_plain.hex"),
        "sealed" => include_str!("../../../tests/golden/entries/sealed.hex"),
        "time_floor" => include_str!("../../../tests/golden/entries/time_floor.hex"),
        "trimmed" => include_str!("../../../tests/golden/entries/trimmed.hex"),
        "positions_moved" => include_str!("../../../tests/golden/entries/positions_moved.hex"),
        "positions_forgotten" => include_str!("../../../tests/golden/entries/positions_forgotten.hex"),
        "group_kept" => include_str!("../../../tests/golden/entries/group_kept.hex"),
        "consumer_group_kept" => include_str!("../../../tests/golden/entries/consumer_group_kept.hex"),
        "group_deleted" => include_str!("../../../tests/golden/entries/group_deleted.hex"),
        "producer_bound" => include_str!("../../../tests/golden/entries/producer_bound.hex"),
        "enlisted" => include_str!("../../../tests/golden/entries/enlisted.hex"),
        "positions_staged" => include_str!("../../../tests/golden/entries/positions_staged.hex"),
        "stream_named" => include_str!("../../../tests/golden/entries/stream_named.hex"),
        "transaction_ended" => include_str!("../../../tests/golden/entries/transaction_ended.hex"),
        "transaction_timed_out" => include_str!("../../../tests/golden/entries/transaction_timed_out.hex"),
        "transactional_ids_forgotten" => {
            include_str!("../../../tests/golden/entries/transactional_ids_forgotten.hex")
        }
        "expiring_positions_moved" => include_str!("../../../tests/golden/entries/expiring_positions_moved.hex"),
        "group_configured" => include_str!("../../../tests/golden/entries/group_configured.hex"),
        "state_4" => include_str!("../../../tests/golden/entries/state_4.hex"),
        "state_3" => include_str!("../../../tests/golden/entries/state_3.hex"),
        "state_2" => include_str!("../../../tests/golden/entries/state_2.hex"),
        "state" => include_str!("../../../tests/golden/entries/state.hex"),
        _ => panic!("no golden file {name}.hex"),
    };
    text.split_whitespace().collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(hex: &str) -> Bytes {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect::<Vec<u8>>().into()
}

#[test]
fn entries_are_written_and_read_as_ever() {
    let mut wrong = Vec::new();
    for (name, entry) in samples() {
        let golden = golden(name);
        let found = hex(&codec::encode_group(std::slice::from_ref(&entry)).concat());
        let read = decode(unhex(&golden));
        if found != golden || read != Ok(vec![as_decoded(&entry)]) {
            wrong.push(format!("{name}.hex: {found}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_state_is_written_and_read_as_ever() {
    let (state, golden) = (sample_state_with_group_configs(), golden("state"));
    assert_eq!(golden, hex(&state.encode()), "state.hex");
    assert_eq!(State::decode(&unhex(&golden)), Ok(state));
}

#[test]
fn a_state_of_the_version_before_subscriptions_is_read() {
    assert_eq!(State::decode(&unhex(&golden("state_2"))), Ok(sample_state()));
}

#[test]
fn a_state_of_the_version_before_group_configs_is_read() {
    assert_eq!(State::decode(&unhex(&golden("state_4"))), Ok(sample_state_with_transactions()));
}

#[test]
fn a_state_of_the_version_before_transactions_is_read() {
    assert_eq!(State::decode(&unhex(&golden("state_3"))), Ok(sample_state_with_groups()));
}

//! How much of transactions there may be, and how much is ended at once.

use super::*;

#[test]
fn what_is_due_at_once_is_ended_in_shares() {
    let mut machine = Machine::new();
    let of_share = |machine: &Machine| machine.state.decide_timeouts(machine.now, ROOMY).entries.len();
    machine.create("wide", 600).unwrap();
    let all: Vec<_> = (0..600).map(|partition| (FeedId(1), PartitionId(partition))).collect();
    for id in ["a", "b", "c"] {
        let producer = machine.bind(id, None).unwrap();
        machine.enlist(id, producer, &all).unwrap();
    }
    machine.later(60_000);
    for left in (1..=3).rev() {
        assert_eq!(of_share(&machine), 1, "{left} of 600 partitions are left");
        let decision = machine.state.decide_timeouts(machine.now, ROOMY);
        machine.take(decision);
    }
    assert_eq!(of_share(&machine), 0);
    for id in 0..300 {
        let id = id.to_string();
        let producer = machine.bind(&id, None).unwrap();
        machine.enlist(&id, producer, &[ORDERS]).unwrap();
    }
    machine.later(60_000);
    assert_eq!(of_share(&machine), 256, "small ones go together");
}

#[test]
fn a_timeout_out_of_range_is_refused() {
    let machine = Machine::new();
    for wanted in [0, 900_001] {
        let wish = Bind { id: ID.into(), timeout_ms: wanted, timeout_max_ms: 900_000, current: None, now: machine.now };
        let refused = machine.state.decide_bind(wish, ROOMY);
        assert_eq!(refused, Err(BindError::Timeout { wanted, max: 900_000 }));
    }
}

#[test]
fn a_new_id_takes_the_place_of_the_longest_unused_one_that_has_nothing_open() {
    let mut machine = Machine::new();
    let open = machine.bind("open", None).unwrap();
    machine.enlist("open", open, &[ORDERS]).unwrap();
    for index in 1..TRANSACTIONAL_IDS_MAX as i64 {
        let identity = Identity { producer: ProducerId(index), epoch: 0 };
        let (id, at) = (format!("id-{index}"), Timestamp(machine.now.0 + index));
        let bound = ProducerBound { id, identity, previous: None, timeout_ms: 1, at };
        machine.state.apply(&Entry::ProducerBound(bound), &mut machine.writes);
    }
    machine.later(1_000_000);
    bind_unchecked(&mut machine, "new").unwrap();
    let known = machine.state.transactions();
    assert_eq!(known.len(), TRANSACTIONAL_IDS_MAX);
    assert!(known.get("id-1").is_none() && known.get("id-2").is_some() && known.get("open").is_some());
    // Only those that are in the middle of a transaction keep others out.
    for index in 2..TRANSACTIONAL_IDS_MAX as i64 {
        let enlisted = Enlisted {
            producer: ProducerId(index),
            at: machine.now,
            partitions: Vec::new(),
            seals: Vec::new(),
            groups: vec!["readers".into()],
        };
        machine.state.apply(&Entry::Enlisted(enlisted), &mut machine.writes);
    }
    let newer = bind_unchecked(&mut machine, "newer").unwrap();
    assert!(machine.state.transactions().get("new").is_none(), "the only one with nothing open made room");
    machine.enlist("newer", newer, &[ORDERS]).unwrap();
    assert_eq!(machine.bind("newest", None), Err(BindError::TooMany));
}

/// Without a look at the whole state, which is large.
fn bind_unchecked(machine: &mut Machine, id: &str) -> Result<Identity, BindError> {
    let (id, now) = (id.to_owned(), machine.now);
    let wish = Bind { id, timeout_ms: 60_000, timeout_max_ms: 900_000, current: None, now };
    let decision = machine.state.decide_bind(wish, ROOMY)?;
    decision.entries.iter().for_each(|entry| machine.state.apply(entry, &mut machine.writes));
    Ok(decision.outcome)
}

#[test]
fn long_ids_make_room_for_each_other_too() {
    let mut machine = Machine::new();
    let long = |index: u64| format!("{index:030000}");
    let num = TRANSACTIONAL_ID_BYTES_MAX / 60_000;
    for index in 0..num {
        let identity = Identity { producer: ProducerId(index as i64), epoch: 0 };
        let (id, at) = (long(index), Timestamp(machine.now.0 + index as i64));
        let bound = ProducerBound { id, identity, previous: None, timeout_ms: 1, at };
        machine.state.apply(&Entry::ProducerBound(bound), &mut machine.writes);
    }
    machine.later(1_000_000);
    for index in num..num + 3 {
        machine.bind(&long(index), None).unwrap();
    }
    let known = machine.state.transactions();
    assert_eq!(known.len() as u64, num);
    assert!(known.get(&long(2)).is_none() && known.get(&long(3)).is_some());
}

#[test]
fn positions_that_wait_for_an_end_count_as_those_that_have_moved() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.stage(ID, producer, 5).unwrap();
    machine.state.num_positions = POSITIONS_TOTAL_MAX - 1;
    let full = SubscriptionError::TooManyPositions { total: POSITIONS_TOTAL_MAX };
    let moved = |partition| MovedPosition {
        topic: "orders".into(),
        partition: PartitionId(partition),
        offset: 1,
        leader_epoch: -1,
        metadata: String::new(),
        expires: None,
    };
    let plain = machine.state.decide_move_positions("others", vec![moved(1)], machine.now);
    assert_eq!(plain, Err(full.clone()));
    let stage = |positions| StagePositions {
        id: ID.into(),
        identity: producer,
        group: "readers".into(),
        positions,
        enlists: true,
        now: machine.now,
    };
    assert_eq!(machine.state.decide_stage_positions(stage(vec![moved(1)])), Err(full.into()));
    machine.state.decide_stage_positions(stage(vec![moved(0)])).expect("one that is there already may wait elsewhere");
}

#[test]
fn metadata_that_waits_for_an_end_counts_as_that_which_has_moved() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.state.metadata_bytes = METADATA_BYTES_TOTAL_MAX - 10;
    let stage = |machine: &Machine, partition, len: usize| {
        let moved = MovedPosition {
            topic: "orders".into(),
            partition: PartitionId(partition),
            offset: 1,
            leader_epoch: -1,
            metadata: "m".repeat(len),
            expires: None,
        };
        let (group, positions, now) = ("readers".into(), vec![moved], machine.now);
        let wish = StagePositions { id: ID.into(), identity: producer, group, positions, enlists: true, now };
        machine.state.decide_stage_positions(wish)
    };
    let first = stage(&machine, 0, 10).unwrap();
    first.entries.iter().for_each(|entry| machine.state.apply(entry, &mut machine.writes));
    let refused = stage(&machine, 1, 1);
    assert!(
        matches!(refused, Err(EnlistError::Subscription(SubscriptionError::TooMuchMetadata { .. }))),
        "{refused:?}"
    );
    stage(&machine, 0, 10).expect("as much as before");
}

#[test]
fn what_open_transactions_touch_is_bounded_together() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    let wish = |machine: &Machine, groups: Vec<String>, partitions: Vec<_>| {
        let (id, now) = (ID.to_owned(), machine.now);
        machine.state.decide_enlist(Enlist { id, identity: producer, partitions, seals: vec![], groups, now })
    };
    let long = |number: usize| format!("{number:030000}");
    let enlisted = wish(&machine, (0..10).map(long).collect(), vec![ORDERS]).unwrap();
    machine.take(enlisted);
    machine.stage(ID, producer, 7).unwrap();
    let held = machine.state.transactions().held();
    assert!((300_000..305_000).contains(&held.bytes) && held.positions == 1, "{held:?}");
    machine.state.transactions.held.bytes = HELD_BYTES_MAX - 1_000;
    wish(&machine, vec![], vec![ORDERS_1]).expect("there is room for a partition");
    let refused = wish(&machine, vec![long(10)], vec![]);
    assert_eq!(refused, Err(EnlistError::TooMuchHeld { bytes: HELD_BYTES_MAX - 1_000 }));
    wish(&machine, vec![long(9)], vec![]).expect("what is there already takes no more");
    machine.state.transactions.held = held;
    machine.end(ID, producer, false, false).unwrap();
    assert_eq!(machine.state.transactions().held(), Held::default(), "an end lets go of it");
}

#[test]
fn a_transaction_that_lies_in_too_many_places_is_to_be_ended() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    machine.append(plain(&["between"])).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 1, &["b"])).unwrap();
    let stream = machine.state.transactions().get(ID).unwrap().open().unwrap().stream_on(FeedId(0)).unwrap();
    let feed = machine.state.feeds.get_mut(&FeedId(0)).unwrap();
    feed.open.get_mut(&stream).unwrap().num_extents = EXTENTS_MAX;
    let goes_on = machine.state.decide_append(next(&machine.settings, producer, 2, machine.now));
    goes_on.expect("it goes on where it is");
    let other = within(producer, 0, &["c"]);
    let append =
        Append { partition: PartitionId(1), batch: other, ..next(&machine.settings, producer, 0, machine.now) };
    let refused = machine.state.decide_append(append).unwrap_err();
    assert!(matches!(refused, AppendError::TooScattered { extents: EXTENTS_MAX, .. }), "{refused}");
    machine.state.feeds.get_mut(&FeedId(0)).unwrap().open.get_mut(&stream).unwrap().num_extents = 2;
    assert_eq!((machine.state.num_extents, machine.feed().open[&stream].num_extents()), (2, 2));
    machine.state.num_extents = EXTENTS_TOTAL_MAX;
    let append = Append {
        partition: PartitionId(1),
        batch: within(producer, 0, &["c"]),
        ..next(&machine.settings, producer, 0, machine.now)
    };
    assert!(matches!(machine.state.decide_append(append), Err(AppendError::TooScattered { .. })), "all together");
    machine.state.num_extents = 2;
    machine.end(ID, producer, true, true).unwrap();
    assert_eq!(machine.state.num_extents, 0);
    assert_eq!(machine.of_orders().1, ["between", "a", "b"]);
}

fn next(settings: &FeedSettings, producer: Identity, sequence: i32, now: Timestamp) -> Append<'_> {
    let (feed, partition) = ORDERS;
    Append { feed, partition, batch: within(producer, sequence, &["x"]), settings, transaction: Some(TV2), now }
}

#[test]
fn the_implicit_stream_is_sealed_when_it_lies_in_too_many_places() {
    let mut machine = Machine::new();
    machine.append(plain(&["a"])).unwrap();
    machine.state.feeds.get_mut(&FeedId(0)).unwrap().open.get_mut(&StreamId(0)).unwrap().num_extents = EXTENTS_MAX;
    let append = Append {
        feed: FeedId(0),
        partition: PartitionId(0),
        batch: plain(&["b"]),
        settings: &machine.settings,
        transaction: None,
        now: machine.now,
    };
    let entries = machine.state.decide_append(append).unwrap().entries;
    assert!(matches!(&entries[..], [Entry::Appended(_), Entry::Sealed(_)]), "{entries:?}");
}

#[test]
fn a_deleted_feed_changes_only_the_transactions_that_touch_it() {
    let mut machine = Machine::with_two_feeds();
    let mut open = |id: &str, place| {
        let producer = machine.bind(id, None).unwrap();
        let of = InTransaction { id, enlists: true };
        machine.append_in(of, place, within(producer, 0, &["a"])).unwrap();
        producer
    };
    let (_, other) = (open("here", ORDERS), open("there", PAYMENTS));
    let reader = machine.bind("reader", None).unwrap();
    machine.stage("reader", reader, 3).unwrap();
    let before = machine.state.transactions().get("there").cloned();
    let decision = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(decision);
    let known = machine.state.transactions();
    assert_eq!(known.get("there").cloned(), before);
    assert_eq!(known.get("here").unwrap().open().unwrap().streams().len(), 0);
    assert_eq!(known.get("reader").unwrap().open().unwrap().staged().len(), 0);
    machine.end("there", other, true, true).unwrap();
}

#[test]
fn what_seal_is_told_of_open_transactions_is_bounded_together() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.name(FeedId(0), producer, 0, "14:00").unwrap();
    let bytes = "14:00{\"rows\":0}".len() as u64;
    assert_eq!(machine.state.named_bytes, bytes);
    machine.state.named_bytes = 256 << 20;
    machine.state.decide_name_stream(names(producer, 1, "14:00", machine.now)).expect("no more than before");
    let refused = machine.state.decide_name_stream(names(producer, 1, "14:00:00", machine.now));
    assert!(matches!(refused, Err(NameError::TooMuchNamed { .. })), "{refused:?}");
    machine.state.named_bytes = bytes;
    machine.state = State::decode(&machine.state.encode()).unwrap();
    machine.end(ID, producer, true, true).unwrap();
    assert_eq!(machine.state.named_bytes, 0);
}

fn names(producer: Identity, sequence: i32, label: &str, now: Timestamp) -> NameStream<'static> {
    let producer = SealingProducer { producer: producer.producer, epoch: producer.epoch, sequence };
    let wishes = vec![SealWish { label: Some(label.into()), metadata: Some("{\"rows\":0}".into()) }];
    NameStream { feed: FeedId(0), transaction: TV2, producer, wishes, now }
}

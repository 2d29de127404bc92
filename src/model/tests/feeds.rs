//! Feeds made, changed and deleted.

use super::*;

#[test]
fn a_name_is_taken_once_until_its_feed_is_deleted() {
    let mut machine = Machine::new();
    assert_eq!(machine.create("orders", 1), Err(CreateFeedError::Exists { name: "orders".into() }));
    let deletion = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(deletion);
    assert_eq!(machine.create("orders", 1), Ok(FeedId(1)), "a number is never used again");
    let late = machine.append(plain(&["a"]));
    assert_eq!(late, Err(AppendError::UnknownFeed { feed: FeedId(0) }), "it does not go into the new one");
}

#[test]
fn names_that_differ_only_in_dots_and_underscores_collide() {
    let mut machine = Machine::new();
    machine.create("a.b_c", 1).unwrap();
    let collision = CreateFeedError::Collision { name: "a_b.c".into(), other: "a.b_c".into() };
    assert_eq!(machine.create("a_b.c", 1), Err(collision));
    assert_eq!(machine.create("a.b_c", 1), Err(CreateFeedError::Exists { name: "a.b_c".into() }));
    machine.create("a-b-c", 1).unwrap();
    let deletion = machine.state.decide_delete(FeedId(1), machine.now).unwrap();
    machine.take(deletion);
    machine.create("a_b_c", 1).unwrap();
}

#[test]
fn the_name_of_a_view_is_no_feed() {
    let mut machine = Machine::new();
    let refusal = machine.create("orders..feed", 1).unwrap_err();
    assert_eq!(refusal, CreateFeedError::Name { name: "orders..feed".into(), fault: NameFault::View });
    assert!(refusal.to_string().contains("'..'"), "{refusal}");
}

#[test]
fn partitions_are_bounded_in_a_feed_and_in_all() {
    let mut machine = Machine::new();
    let refused = |wanted| Err(CreateFeedError::Partitions(PartitionsError::Count { wanted }));
    assert_eq!(machine.create("none", 0), refused(0));
    assert_eq!(machine.create("many", PARTITIONS_MAX + 1), refused(PARTITIONS_MAX + 1));
    for index in 0..PARTITIONS_TOTAL_MAX / u64::from(PARTITIONS_MAX) - 1 {
        machine.create(&format!("big{index}"), PARTITIONS_MAX).unwrap();
    }
    let total = machine.state.num_partitions();
    let refused = Err(CreateFeedError::Partitions(PartitionsError::Total { wanted: PARTITIONS_MAX, total }));
    assert_eq!(machine.create("last", PARTITIONS_MAX), refused);
    let deletion = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(deletion);
    machine.create("last", PARTITIONS_MAX).unwrap();
}

#[test]
fn partitions_only_become_more() {
    let mut machine = Machine::new();
    let add = |machine: &mut Machine, total| {
        let decision = machine.state.decide_add_partitions(FeedId(0), total, machine.now)?;
        machine.take(decision);
        Ok(())
    };
    assert_eq!(add(&mut machine, 2), Err(AddPartitionsError::NotMore { current: 2, wanted: 2 }));
    assert_eq!(add(&mut machine, 5), Ok(()));
    assert_eq!(machine.writes.last(), Some(&TailWrite::PartitionsAdded { feed: FeedId(0), partitions: 5 }));
    machine.append_to(FeedId(0), PartitionId(4), plain(&["a"])).unwrap();
    let over = Err(AddPartitionsError::Partitions(PartitionsError::Count { wanted: PARTITIONS_MAX + 1 }));
    assert_eq!(add(&mut machine, PARTITIONS_MAX + 1), over);
}

#[test]
fn a_deleted_feed_is_never_due() {
    let mut machine = Machine::new();
    machine.append(by(1, 0, 0, &["a"])).unwrap();
    let deletion = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(deletion);
    assert_eq!((machine.state.deadline(), machine.state.num_producers()), (None, 0));
    assert_eq!(machine.writes.last(), Some(&TailWrite::FeedDeleted { feed: FeedId(0) }));
}

#[test]
fn configs_are_replaced_as_a_whole() {
    let mut machine = Machine::new();
    let set =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Overrides>();
    let wanted = set(&[("streamstack.seal.ms", "100")]);
    let decision = machine.state.decide_configure(FeedId(0), wanted.clone()).unwrap();
    machine.take(decision);
    assert_eq!(*machine.feed().overrides(), wanted);
    assert_eq!(machine.state.decide_configure(FeedId(0), wanted.clone()).unwrap().entries, []);
    for broker in [None, Some(1)] {
        let decision = machine.state.decide_configure_broker(broker, wanted.clone()).unwrap();
        machine.take(decision);
        assert_eq!(*machine.state.broker_overrides(broker), wanted);
        assert!(machine.state.broker_overrides(Some(2)).is_empty());
    }
    let decision = machine.state.decide_configure_broker(None, Overrides::new()).unwrap();
    machine.take(decision);
    assert!(machine.state.broker_overrides(None).is_empty());
}

#[test]
fn a_producer_id_is_given_out_once() {
    let mut machine = Machine::new();
    for expected in 0..3 {
        let decision = machine.state.decide_open_producer();
        assert_eq!(machine.take(decision), ProducerId(expected));
        machine.state = State::decode(&machine.state.encode()).unwrap();
    }
}

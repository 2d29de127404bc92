//! Subscriptions: positions, what is kept of members, and what deleting takes along.

use super::*;

fn at(topic: &str, partition: u32, offset: i64) -> MovedPosition {
    MovedPosition {
        topic: topic.to_owned(),
        partition: PartitionId(partition),
        offset,
        leader_epoch: 3,
        metadata: format!("{topic} {offset}"),
        expires: None,
    }
}

fn move_to(machine: &mut Machine, group: &str, positions: Vec<MovedPosition>) {
    let decision = machine.state.decide_move_positions(group, positions, machine.now).unwrap();
    machine.take(decision);
}

fn offset(machine: &Machine, group: &str, topic: &str, partition: u32) -> Option<i64> {
    machine.state.subscription(group)?.position(topic, PartitionId(partition)).map(|position| position.offset)
}

fn keep(machine: &mut Machine, kind: GroupKind, members: Vec<(&str, Option<&str>)>) {
    let owned = |row: &str| Bytes::copy_from_slice(row.as_bytes());
    let kept = GroupKept {
        group: "g".to_owned(),
        kind,
        at: machine.now,
        head: Bytes::from_static(b"head"),
        members: members.into_iter().map(|(id, row)| (id.to_owned(), row.map(owned))).collect(),
    };
    let decision = machine.state.decide_keep_group(kept);
    machine.take(decision);
}

#[test]
fn a_position_is_what_was_last_moved_with_all_that_the_client_told() {
    let mut machine = Machine::new();
    move_to(&mut machine, "g", vec![at("orders", 0, 5), at("orders", 1, 7), at("orders..commits", 0, 2)]);
    machine.later(10);
    move_to(&mut machine, "g", vec![at("orders", 1, 6)]);
    let subscription = machine.state.subscription("g").unwrap();
    let metadata = "orders 6".to_owned();
    let expected = Position { offset: 6, leader_epoch: 3, metadata, at: machine.now, expires: None };
    assert_eq!(subscription.position("orders", PartitionId(1)), Some(&expected));
    assert_eq!(offset(&machine, "g", "orders", 0), Some(5));
    assert_eq!(offset(&machine, "g", "orders..commits", 0), Some(2));
    assert_eq!(offset(&machine, "g", "orders..feed", 0), None);
    assert_eq!(machine.state.num_positions(), 3);
    assert_eq!(subscription.positions().count(), 3);
}

#[test]
fn forgetting_the_last_position_ends_a_subscription_without_members() {
    let mut machine = Machine::new();
    move_to(&mut machine, "g", vec![at("orders", 0, 5), at("orders", 1, 7)]);
    let both = vec![("orders".to_owned(), PartitionId(0)), ("nothing".to_owned(), PartitionId(0))];
    let decision = machine.state.decide_forget_positions("g", both.clone());
    assert_eq!(machine.take(decision), 1);
    assert!(machine.state.decide_forget_positions("g", both).entries.is_empty());
    let decision = machine.state.decide_forget_positions("g", vec![("orders".to_owned(), PartitionId(1))]);
    machine.take(decision);
    assert_eq!((machine.state.subscription("g"), machine.state.num_positions()), (None, 0));
}

#[test]
fn deleting_a_feed_forgets_the_positions_on_it_and_its_views() {
    let mut machine = Machine::new();
    machine.create("orders.", 1).unwrap();
    move_to(&mut machine, "g", vec![at("orders", 0, 5), at("orders..commits", 0, 7), at("orders...feed", 0, 1)]);
    move_to(&mut machine, "h", vec![at("orders..since-3", 1, 5)]);
    let decision = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(decision);
    let left: Vec<&str> = machine.state.subscription("g").unwrap().positions().map(|(topic, ..)| topic).collect();
    assert_eq!(left, ["orders...feed"]);
    assert_eq!(machine.state.subscription("h"), None);
    // A commit that was on its way finds the feed gone.
    move_to(&mut machine, "g", vec![at("orders", 0, 9), at("orders..commits", 0, 9)]);
    machine.create("orders", 2).unwrap();
    assert_eq!(offset(&machine, "g", "orders", 0), None);
}

#[test]
fn rows_of_members_are_kept_one_by_one_until_the_kind_changes() {
    let mut machine = Machine::new();
    keep(&mut machine, GroupKind::Classic, vec![("a", Some("1")), ("b", Some("2"))]);
    keep(&mut machine, GroupKind::Classic, vec![("a", Some("3")), ("b", None)]);
    let kept = machine.state.subscription("g").unwrap().kept().unwrap().clone();
    assert_eq!(kept.members, [("a".to_owned(), Bytes::from_static(b"3"))].into());
    keep(&mut machine, GroupKind::Consumer, vec![("c", Some("4"))]);
    let kept = machine.state.subscription("g").unwrap().kept().unwrap().clone();
    assert_eq!(kept.members, [("c".to_owned(), Bytes::from_static(b"4"))].into());
    let decision = machine.state.decide_delete_group("g");
    assert!(machine.take(decision));
    assert!(machine.state.decide_delete_group("g").entries.is_empty());
}

#[test]
fn no_more_subscriptions_are_made_than_there_may_be() {
    let mut machine = Machine::new();
    for number in 0..SUBSCRIPTIONS_MAX {
        let moved = machine.state.decide_move_positions(&format!("g{number}"), vec![at("orders", 0, 1)], machine.now);
        moved.unwrap().entries.iter().for_each(|entry| machine.state.apply(entry, &mut machine.writes));
    }
    let refused = machine.state.decide_move_positions("one more", vec![at("orders", 0, 1)], machine.now);
    assert_eq!(refused, Err(SubscriptionError::TooManySubscriptions));
    move_to(&mut machine, "g7", vec![at("orders", 0, 2)]);
    // What members were told is kept nevertheless.
    keep(&mut machine, GroupKind::Classic, vec![("a", Some("1"))]);
    assert!(machine.state.subscription("g").is_some());
}

#[test]
fn metadata_without_end_is_refused_and_less_than_before_is_not() {
    let mut machine = Machine::new();
    move_to(&mut machine, "g", vec![at("orders", 0, 5)]);
    let known = at("orders", 0, 5).metadata.len() as u64;
    assert_eq!(machine.state.metadata_bytes, known);
    machine.state.metadata_bytes = METADATA_BYTES_TOTAL_MAX;
    let decide = |moved: MovedPosition| machine.state.decide_move_positions("g", vec![moved], machine.now);
    let refused = decide(at("orders", 1, 5)).unwrap_err();
    assert_eq!(refused, SubscriptionError::TooMuchMetadata { bytes: METADATA_BYTES_TOTAL_MAX + known });
    decide(at("orders", 0, 6)).unwrap();
    decide(MovedPosition { metadata: String::new(), ..at("orders", 1, 5) }).unwrap();
}

#[test]
fn no_more_groups_than_there_may_be_have_configs() {
    let overrides: Overrides = [("consumer.session.timeout.ms".to_owned(), "50000".to_owned())].into();
    let mut state = Machine::new().state;
    state.groups = (0..SUBSCRIPTIONS_MAX).map(|n| (n.to_string(), overrides.clone())).collect();
    assert_eq!(state.decide_configure_group("late", overrides.clone()).unwrap_err(), ConfigureError::TooManyGroups);
    let other: Overrides = [("consumer.session.timeout.ms".to_owned(), "51000".to_owned())].into();
    assert_eq!(state.decide_configure_group("7", other).unwrap().entries.len(), 1);
    let removed = state.decide_configure_group("7", Overrides::new()).unwrap();
    state.apply(&removed.entries[0], &mut Vec::new());
    state.decide_configure_group("late", overrides).unwrap();
}

//! Positions that are forgotten by themselves.

use super::*;

const WEEK: i64 = 604_800_000;

fn with_positions_of(times: &[(&str, i64)]) -> State {
    let mut machine = Machine::new();
    machine.create("a", 1).unwrap();
    machine.create("b", 1).unwrap();
    let mut state = machine.state;
    for (topic, at) in times {
        let (topic, metadata) = ((*topic).to_owned(), String::new());
        let partition = PartitionId(0);
        let moved = MovedPosition { topic, partition, offset: 1, leader_epoch: -1, metadata, expires: None };
        let decision = state.decide_move_positions("g", vec![moved], Timestamp(*at)).unwrap();
        decision.entries.iter().for_each(|entry| state.apply(entry, &mut Vec::new()));
    }
    state
}

/// Members, if there are any, read `a`.
fn expired(state: &State, readers: Readers, now: i64) -> Vec<String> {
    let expired = state.subscription("g").unwrap().expired(readers, |topic| topic == "a", WEEK, Timestamp(now));
    expired.into_iter().map(|(topic, _)| topic).collect()
}

#[test]
fn without_members_the_time_of_the_commit_counts() {
    let state = with_positions_of(&[("a", 0), ("b", 5)]);
    assert!(expired(&state, Readers::Unknown, WEEK - 1).is_empty());
    assert_eq!(expired(&state, Readers::Unknown, WEEK), ["a"]);
    assert_eq!(expired(&state, Readers::Unknown, WEEK + 5), ["a", "b"]);
}

#[test]
fn after_the_last_member_the_time_when_it_left_counts() {
    let state = with_positions_of(&[("a", 0), ("b", 5)]);
    assert!(expired(&state, Readers::LeftAt(Timestamp(3)), WEEK + 2).is_empty());
    assert_eq!(expired(&state, Readers::LeftAt(Timestamp(3)), WEEK + 3), ["a"]);
    assert_eq!(expired(&state, Readers::LeftAt(Timestamp(9)), WEEK + 9), ["a", "b"]);
}

#[test]
fn members_keep_what_they_read_and_lose_what_they_read_no_more() {
    let state = with_positions_of(&[("a", 0), ("b", 0)]);
    assert_eq!(expired(&state, Readers::Reading, 2 * WEEK), ["b"]);
    assert!(expired(&state, Readers::Reading, WEEK - 1).is_empty());
}

#[test]
fn nothing_is_forgotten_while_members_agree() {
    let state = with_positions_of(&[("a", 0)]);
    assert!(expired(&state, Readers::Agreeing, 100 * WEEK).is_empty());
}

#[test]
fn a_time_that_the_client_gave_goes_before_the_brokers() {
    let mut state = with_positions_of(&[("a", 0), ("b", 0)]);
    let decided = state.subscription("g").unwrap().positions().map(|(topic, partition, position)| MovedPosition {
        topic: topic.to_owned(),
        partition,
        offset: position.offset,
        leader_epoch: -1,
        metadata: String::new(),
        expires: (topic == "b").then_some(Timestamp(3 * WEEK)),
    });
    let decided = state.decide_move_positions("g", decided.collect(), Timestamp(0)).unwrap();
    decided.entries.iter().for_each(|entry| state.apply(entry, &mut Vec::new()));
    assert_eq!(expired(&state, Readers::Unknown, WEEK), ["a"]);
    assert_eq!(expired(&state, Readers::Unknown, 3 * WEEK), ["a", "b"]);
    // It counts from the commit and not from when the last member left, as in Kafka.
    assert_eq!(expired(&state, Readers::LeftAt(Timestamp(3 * WEEK)), 3 * WEEK), ["b"]);
    assert!(expired(&state, Readers::Agreeing, 3 * WEEK).is_empty());
}

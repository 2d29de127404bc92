//! SyncGroup, Heartbeat, sessions and positions.

use bytes::Bytes;

use super::super::super::{Committer, GroupError, Input, Sync};
use super::super::ClassicSettings;
use super::rig::*;
use crate::model::Timestamp;

/// Two members that know their generation and have not synced; the first leads.
fn completing() -> (Rig, Vec<String>) {
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 1, ..SETTINGS });
    let tickets = [rig.join(join("a")), rig.join(join("b"))];
    rig.pass(2);
    let ids = tickets.map(|ticket| rig.joined(ticket).unwrap().member_id);
    (rig, ids.to_vec())
}

fn assigning(id: &str, assignments: &[(&str, &str)]) -> Sync {
    let bytes = |(id, bytes): &(&str, &str)| ((*id).to_owned(), Bytes::copy_from_slice(bytes.as_bytes()));
    Sync { assignments: assignments.iter().map(bytes).collect(), ..sync(id, 1) }
}

#[test]
fn followers_wait_for_the_leader_and_get_what_it_gave_them() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(sync(&ids[1], 1));
    assert_eq!(rig.answer(follower), None);
    let leader = rig.sync(assigning(&ids[0], &[(&ids[0], "p0"), (&ids[1], "p1"), ("nobody", "p2")]));
    assert_eq!(rig.synced(leader).unwrap().assignment.as_ref(), b"p0");
    assert_eq!(rig.synced(follower).unwrap().assignment.as_ref(), b"p1");
    assert_eq!(rig.state(), "Stable");
    let again = rig.sync(sync(&ids[1], 1));
    assert_eq!(rig.synced(again).unwrap().assignment.as_ref(), b"p1");
}

#[test]
fn whom_the_leader_forgot_has_nothing_to_read() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(sync(&ids[1], 1));
    rig.sync(assigning(&ids[0], &[(&ids[0], "all")]));
    assert!(rig.synced(follower).unwrap().assignment.is_empty());
}

#[test]
fn only_the_leader_assigns() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(assigning(&ids[1], &[(&ids[1], "mine")]));
    assert_eq!(rig.answer(follower), None);
    rig.sync(assigning(&ids[0], &[(&ids[1], "given")]));
    assert_eq!(rig.synced(follower).unwrap().assignment.as_ref(), b"given");
}

#[test]
fn a_sync_of_another_generation_member_or_protocol_is_refused() {
    let (mut rig, ids) = completing();
    let refusals = [
        (sync(&ids[1], 0), GroupError::IllegalGeneration { given: 0, current: 1 }),
        (sync("nobody", 1), GroupError::unknown_member("nobody")),
        (Sync { protocol: Some("robin".into()), ..sync(&ids[1], 1) }, GroupError::InconsistentProtocol),
        (Sync { protocol_type: Some("connect".into()), ..sync(&ids[1], 1) }, GroupError::InconsistentProtocol),
    ];
    for (wrong, error) in refusals {
        let ticket = rig.sync(wrong);
        assert_eq!(rig.synced(ticket), Err(error));
    }
    let silent = rig.sync(Sync { protocol: None, protocol_type: None, ..sync(&ids[1], 1) });
    assert_eq!(rig.answer(silent), None, "it waits");
}

#[test]
fn a_rebalance_sends_those_who_wait_for_their_assignment_back_to_join() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(sync(&ids[1], 1));
    rig.join(join("c"));
    assert_eq!(rig.synced(follower), Err(GroupError::RebalanceInProgress));
    let late = rig.sync(sync(&ids[0], 1));
    assert_eq!(rig.synced(late), Err(GroupError::RebalanceInProgress));
}

#[test]
fn members_that_do_not_sync_in_time_are_out() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(sync(&ids[1], 1));
    for _ in 0..5 {
        rig.pass(REBALANCE_MS / 5 - 1);
        rig.beat(&ids[0], 1).unwrap();
    }
    assert_eq!(rig.state(), "CompletingRebalance");
    rig.pass(5);
    assert_eq!(rig.synced(follower), Err(GroupError::RebalanceInProgress));
    assert_eq!(rig.beat(&ids[0], 1), Err(GroupError::unknown_member(&ids[0])));
    let follower = rig.join(rejoin(&ids[1]));
    assert_eq!(rig.joined(follower).unwrap().leader, ids[1]);
}

#[test]
fn a_follower_that_never_fetches_its_assignment_is_out() {
    let (mut rig, ids) = completing();
    rig.sync(assigning(&ids[0], &[]));
    assert_eq!(rig.state(), "Stable");
    for _ in 0..6 {
        rig.pass(REBALANCE_MS / 6);
        let _ = (rig.beat(&ids[0], 1), rig.beat(&ids[1], 1));
    }
    assert_eq!((rig.state(), rig.group.num_members()), ("PreparingRebalance", 1));
}

#[test]
fn a_silent_member_is_out_after_its_session_and_the_others_rebalance() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    rig.pass(SESSION_MS - 1);
    rig.beat(&ids[1], 1).unwrap();
    rig.pass(1);
    assert_eq!((rig.group.num_members(), rig.state()), (1, "PreparingRebalance"));
    assert_eq!(rig.beat(&ids[0], 1), Err(GroupError::unknown_member(&ids[0])));
    let b = rig.join(rejoin(&ids[1]));
    assert_eq!(rig.joined(b).unwrap().leader, ids[1]);
}

#[test]
fn heartbeats_of_another_generation_or_member_are_refused() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    assert_eq!(rig.beat(&ids[0], 1), Ok(()));
    assert_eq!(rig.beat(&ids[0], 0), Err(GroupError::IllegalGeneration { given: 0, current: 1 }));
    assert_eq!(rig.beat("nobody", 1), Err(GroupError::unknown_member("nobody")));
}

#[test]
fn a_member_that_waits_for_others_does_not_expire() {
    let (mut rig, ids) = completing();
    let follower = rig.sync(sync(&ids[1], 1));
    for _ in 0..3 {
        rig.pass(SESSION_MS - 1);
        rig.beat(&ids[0], 1).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!((rig.answer(follower), rig.group.num_members()), (None, 2));
    rig.put(Input::Gone(follower));
    rig.beat(&ids[0], 1).unwrap();
    rig.pass(SESSION_MS - 1);
    assert_eq!(rig.group.num_members(), 1, "its connection died, and it did not come back");
}

#[test]
fn positions_are_taken_from_members_of_the_current_generation_alone() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let now = Timestamp(rig.now);
    let by = |member, generation| Committer { member, instance: None, generation, knows_epochs: false };
    assert_eq!(rig.group.admit(by(&ids[0], 1), now), Ok(()));
    assert_eq!(rig.group.admit(by(&ids[0], 0), now), Err(GroupError::IllegalGeneration { given: 0, current: 1 }));
    assert_eq!(rig.group.admit(by("nobody", 1), now), Err(GroupError::unknown_member("nobody")));
    assert_eq!(rig.group.admit(by("", -1), now), Err(GroupError::unknown_member("")), "it has members");
    rig.join(join("c"));
    assert_eq!(rig.group.admit(by(&ids[0], 1), now), Ok(()), "before it joins again");
    let (mut rig, ids) = completing();
    assert_eq!(rig.group.admit(by(&ids[0], 1), now), Err(GroupError::RebalanceInProgress));
}

#[test]
fn positions_of_an_empty_group_may_be_moved_by_anybody_without_a_generation() {
    let mut rig = Rig::new();
    let by = |generation| Committer { member: "", instance: None, generation, knows_epochs: false };
    assert_eq!(rig.group.admit(by(-1), Timestamp(0)), Ok(()));
    assert_eq!(rig.group.admit(by(1), Timestamp(0)), Err(GroupError::unknown_member("")));
    let (mut rig, ids) = Rig::stable(&["a"]);
    rig.leave(&ids[0], None).unwrap();
    assert_eq!(rig.group.admit(by(-1), Timestamp(rig.now)), Ok(()));
}

#[test]
fn moving_positions_is_a_sign_of_life() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    for _ in 0..5 {
        rig.pass(SESSION_MS - 1);
        let committer = Committer { member: &ids[0], instance: None, generation: 1, knows_epochs: false };
        rig.group.admit(committer, Timestamp(rig.now)).unwrap();
    }
    assert_eq!(rig.group.num_members(), 1);
}

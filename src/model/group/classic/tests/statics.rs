//! Static members (KIP-345): they come back under their instance's name.

use super::super::super::{Committer, GroupError, Join};
use super::rig::*;
use crate::model::Timestamp;

fn instance(name: &str, unique: &str) -> Join {
    Join { instance_id: Some(name.to_owned()), unique: unique.to_owned(), ..join(name) }
}

/// A group of two static members, of which the first leads.
fn stable() -> (Rig, [String; 2]) {
    stable_with(SESSION_MS)
}

fn stable_with(session_ms: i64) -> (Rig, [String; 2]) {
    let mut rig = Rig::with(super::super::ClassicSettings { initial_delay_ms: 1, ..SETTINGS });
    let tickets = ["one", "two"].map(|name| rig.join(Join { session_ms, ..instance(name, "1") }));
    rig.pass(2);
    let ids = tickets.map(|ticket| rig.joined(ticket).unwrap().member_id);
    rig.complete(&ids, 1);
    (rig, ids)
}

#[test]
fn a_static_member_that_comes_back_keeps_its_assignment_and_nobody_rebalances() {
    let (mut rig, ids) = stable();
    let back = rig.join(instance("two", "2"));
    let joined = rig.joined(back).unwrap();
    assert_eq!((joined.member_id.as_str(), joined.generation, joined.leader.as_str()), ("two-2", 1, ids[0].as_str()));
    assert_eq!(rig.state(), "Stable");
    let synced = rig.sync(sync("two-2", 1));
    assert_eq!(rig.synced(synced).unwrap().assignment, ids[1]);
    assert_eq!(rig.beat_as(&ids[0], Some("one"), 1), Ok(()));
}

#[test]
fn whoever_goes_on_under_the_old_id_is_fenced() {
    let (mut rig, ids) = stable();
    rig.join(instance("two", "2"));
    let fenced = Err(GroupError::Fenced { instance: "two".into(), member: ids[1].clone(), current: "two-2".into() });
    assert_eq!(rig.beat_as(&ids[1], Some("two"), 1), fenced);
    assert_eq!(rig.beat(&ids[1], 1), Err(GroupError::unknown_member(&ids[1])));
    let committer = Committer { member: &ids[1], instance: Some("two"), generation: 1, knows_epochs: false };
    assert_eq!(rig.group.admit(committer, Timestamp(rig.now)), fenced);
    let ticket = rig.join(Join { instance_id: Some("two".into()), ..rejoin(&ids[1]) });
    assert_eq!(rig.refused(ticket), fenced.clone().unwrap_err());
    assert_eq!(rig.leave(&ids[1], Some("two")), fenced);
    assert_eq!(rig.beat_as("two-2", Some("unknown"), 1), Err(GroupError::unknown_member("two-2")));
}

#[test]
fn a_leader_that_comes_back_leads_without_assigning() {
    let (mut rig, ids) = stable();
    let back = rig.join(Join { may_skip_assignment: true, ..instance("one", "2") });
    let joined = rig.joined(back).unwrap();
    assert!(joined.skip_assignment);
    assert_eq!((joined.leader.as_str(), joined.members.len()), ("one-2", 2));
    let synced = rig.sync(sync("one-2", 1));
    assert_eq!(rig.synced(synced).unwrap().assignment, ids[0]);
}

#[test]
fn a_leader_that_does_not_know_of_that_is_told_the_old_leader() {
    let (mut rig, ids) = stable();
    let back = rig.join(instance("one", "2"));
    let joined = rig.joined(back).unwrap();
    assert_eq!((joined.skip_assignment, joined.leader.as_str(), joined.members.len()), (false, ids[0].as_str(), 0));
}

#[test]
fn two_clients_of_one_instance_fence_each_other_while_they_wait() {
    let (mut rig, ids) = stable();
    let first = rig.join(Join { instance_id: Some("one".into()), ..rejoin(&ids[0]) });
    assert_eq!(rig.answer(first), None, "it leads, and waits for the other");
    let second = rig.join(instance("one", "2"));
    let fenced = GroupError::Fenced { instance: "one".into(), member: ids[0].clone(), current: "one-2".into() };
    assert_eq!(rig.refused(first), fenced);
    rig.join(Join { instance_id: Some("two".into()), ..rejoin(&ids[1]) });
    assert_eq!(rig.joined(second).unwrap().leader, "one-2");
}

#[test]
fn one_that_comes_back_before_the_assignment_begins_a_rebalance() {
    let (mut rig, ids) = stable();
    rig.join(Join { instance_id: Some("one".into()), ..rejoin(&ids[0]) });
    rig.join(Join { instance_id: Some("two".into()), ..rejoin(&ids[1]) });
    assert_eq!(rig.state(), "CompletingRebalance");
    rig.join(instance("two", "2"));
    assert_eq!(rig.state(), "PreparingRebalance", "the leader would assign to the old id");
}

#[test]
fn one_that_comes_back_with_other_protocols_begins_a_rebalance() {
    let (mut rig, ids) = stable();
    let both = |id: &str, instance: &str| Join {
        instance_id: Some(instance.into()),
        protocols: protocols(&[("range", "x"), ("robin", "y")]),
        ..rejoin(id)
    };
    let tickets = [rig.join(both(&ids[0], "one")), rig.join(both(&ids[1], "two"))];
    tickets.into_iter().for_each(|ticket| drop(rig.joined(ticket).unwrap()));
    rig.complete(&ids, 2);
    let back = rig.join(Join { protocols: protocols(&[("robin", "y")]), ..instance("two", "2") });
    assert_eq!((rig.answer(back), rig.state()), (None, "PreparingRebalance"));
    rig.join(both(&ids[0], "one"));
    assert_eq!(rig.joined(back).unwrap().protocol.as_deref(), Some("robin"));
}

#[test]
fn a_static_member_that_does_not_join_stays_until_its_session_is_over() {
    let (mut rig, ids) = stable_with(50_000);
    let one = rig.join(Join { instance_id: Some("one".into()), ..rejoin(&ids[0]) });
    rig.pass(REBALANCE_MS);
    assert_eq!(rig.joined(one).unwrap().members.len(), 2, "its partitions wait for it");
    let back = rig.join(Join { instance_id: Some("two".into()), ..rejoin(&ids[1]) });
    assert_eq!(rig.joined(back).unwrap().generation, 2);
}

#[test]
fn when_only_static_members_are_left_and_none_joins_their_sessions_decide() {
    let (mut rig, ids) = stable();
    rig.leave(&ids[0], Some("one")).unwrap();
    assert_eq!(rig.state(), "PreparingRebalance");
    rig.pass(SESSION_MS);
    assert_eq!((rig.state(), rig.group.num_members()), ("Empty", 0));
}

#[test]
fn static_members_that_allow_no_time_to_rebalance_are_waited_for_in_steps() {
    let (mut rig, ids) = stable();
    rig.group.members.values_mut().for_each(|member| member.rebalance_ms = 0);
    rig.leave(&ids[0], Some("one")).unwrap();
    assert_eq!(rig.state(), "PreparingRebalance");
    // Which would not end, were the clock to come at once again and again.
    rig.pass(SESSION_MS);
    assert_eq!((rig.state(), rig.group.num_members()), ("Empty", 0));
}

#[test]
fn a_static_member_takes_no_second_place_when_it_comes_back() {
    let (mut rig, _) = stable();
    rig.group.settings.num_members_max = 2;
    let back = rig.join(instance("two", "2"));
    assert_eq!(rig.joined(back).unwrap().generation, 1);
    let third = rig.join(instance("three", "1"));
    assert_eq!(rig.refused(third), GroupError::Full { max: 2 });
}

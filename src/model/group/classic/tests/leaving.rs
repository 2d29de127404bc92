//! LeaveGroup, and groups that become empty.

use super::super::super::{Answer, GroupError, Join, Leaving, Request};
use super::rig::*;

#[test]
fn when_one_leaves_the_others_rebalance() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    rig.leave(&ids[0], None).unwrap();
    assert_eq!(rig.beat(&ids[1], 1), Err(GroupError::RebalanceInProgress));
    let b = rig.join(rejoin(&ids[1]));
    assert_eq!((rig.joined(b).unwrap().leader, rig.group.num_members()), (ids[1].clone(), 1));
}

#[test]
fn when_the_last_one_leaves_the_group_is_empty_and_counts_on() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    rig.leave(&ids[0], None).unwrap();
    assert_eq!((rig.state(), rig.group.is_at_rest(), rig.members.len()), ("Empty", true, 0));
    rig.restart();
    let ticket = rig.join(join("b"));
    rig.pass(0);
    assert_eq!(rig.joined(ticket).unwrap().generation, 3);
}

#[test]
fn one_that_leaves_while_it_waits_is_told_so() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let joining = rig.join(rejoin(&ids[0]));
    rig.leave(&ids[0], None).unwrap();
    assert_eq!(rig.refused(joining), GroupError::unknown_member(&ids[0]));
}

#[test]
fn the_last_one_missing_leaves_and_the_rebalance_goes_on() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let a = rig.join(rejoin(&ids[0]));
    rig.leave(&ids[1], None).unwrap();
    assert_eq!(rig.joined(a).unwrap().members.len(), 1);
}

#[test]
fn an_id_that_was_not_used_may_be_given_back() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    rig.join(Join { asks_twice: true, ..join("ghost") });
    let a = rig.join(rejoin(&ids[0]));
    assert_eq!(rig.answer(a), None);
    rig.leave("ghost-1", None).unwrap();
    assert_eq!(rig.joined(a).unwrap().generation, 2);
}

#[test]
fn an_operator_removes_members_by_their_instances() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    let joining = rig.join(Join { instance_id: Some("one".into()), ..join("one") });
    rig.join(rejoin(&ids[0]));
    rig.joined(joining).unwrap();
    let by = |member: &str, instance: Option<&str>| Leaving {
        member_id: member.to_owned(),
        instance_id: instance.map(str::to_owned),
        reason: Some("maintenance".to_owned()),
    };
    let leaving =
        vec![by("", Some("one")), by("", Some("unknown")), by("", None), by("nobody", None), by(&ids[0], None)];
    let ticket = rig.ask(Request::Leave(leaving));
    let Some(Answer::Leave(left)) = rig.answer(ticket) else { panic!("no answer") };
    let results: Vec<bool> = left.iter().map(|left| left.result.is_ok()).collect();
    assert_eq!(results, [true, false, false, false, true]);
    assert_eq!(left[3].result, Err(GroupError::unknown_member("nobody")));
    assert_eq!(rig.state(), "Empty");
}

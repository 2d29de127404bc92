//! JoinGroup: who gets in, when a generation begins, and what its members are told.

use super::super::super::{GroupError, Input, Join};
use super::super::{ClassicSettings, NEW_MEMBER_MS_MAX};
use super::rig::*;

#[test]
fn the_first_member_leads_and_is_told_of_everybody() {
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 3_000, ..SETTINGS });
    let (a, b) = (rig.join(join("b")), rig.join(join("a")));
    assert_eq!(rig.state(), "PreparingRebalance");
    rig.pass(6_000);
    let (leader, follower) = (rig.joined(a).unwrap(), rig.joined(b).unwrap());
    assert_eq!((leader.leader.as_str(), follower.leader.as_str()), ("b-1", "b-1"));
    let told: Vec<_> = leader.members.iter().map(|m| (m.member_id.as_str(), m.metadata.as_ref())).collect();
    assert_eq!(told, [("a-1", b"a".as_slice()), ("b-1", b"b".as_slice())]);
    assert!(follower.members.is_empty());
    assert_eq!((leader.generation, leader.protocol.as_deref()), (1, Some("range")));
    assert_eq!(rig.state(), "CompletingRebalance");
}

#[test]
fn each_newcomer_puts_off_the_first_generation_up_to_the_rebalance_timeout() {
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 3_000, ..SETTINGS });
    let short = |name| Join { rebalance_ms: 8_000, ..join(name) };
    let first = rig.join(short("first"));
    rig.pass(2_999);
    rig.join(short("second"));
    rig.pass(2_999);
    rig.join(short("third"));
    rig.pass(1_999);
    assert_eq!(rig.answer(first), None);
    rig.join(short("fourth"));
    rig.pass(3);
    assert_eq!(rig.joined(first).unwrap().members.len(), 4, "8 s are over");
}

#[test]
fn an_id_is_asked_for_first_and_then_used() {
    let mut rig = Rig::new();
    let ticket = rig.join(Join { asks_twice: true, ..join("a") });
    let refused = rig.joined(ticket).unwrap_err();
    assert_eq!((refused.error, refused.member_id.as_str()), (GroupError::MemberIdRequired, "a-1"));
    assert_eq!((rig.state(), rig.group.is_at_rest()), ("Empty", false));
    let ticket = rig.join(Join { asks_twice: true, ..rejoin("a-1") });
    rig.pass(0);
    assert_eq!(rig.joined(ticket).unwrap().member_id, "a-1");
}

#[test]
fn an_id_that_is_not_used_expires_and_holds_up_a_rebalance_no_longer() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    rig.join(Join { asks_twice: true, session_ms: 5_000, ..join("ghost") });
    let leader = rig.join(rejoin(&ids[0]));
    rig.pass(4_999);
    assert_eq!(rig.answer(leader), None);
    rig.pass(1);
    assert_eq!(rig.joined(leader).unwrap().generation, 2);
    let late = rig.join(rejoin("ghost-1"));
    assert_eq!(rig.refused(late), GroupError::unknown_member("ghost-1"));
}

#[test]
fn an_unknown_id_is_refused() {
    let mut rig = Rig::new();
    let ticket = rig.join(rejoin("nobody-1"));
    assert_eq!(rig.refused(ticket), GroupError::unknown_member("nobody-1"));
    assert!(rig.group.is_at_rest());
}

#[test]
fn members_join_again_within_the_rebalance_timeout_or_are_out() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let newcomer = rig.join(join("c"));
    assert_eq!(rig.beat(&ids[0], 1), Err(GroupError::RebalanceInProgress));
    let a = rig.join(rejoin(&ids[0]));
    for _ in 0..5 {
        rig.pass(REBALANCE_MS / 5 - 1);
        assert_eq!(rig.beat(&ids[1], 1), Err(GroupError::RebalanceInProgress), "alive, but it does not join");
    }
    assert_eq!(rig.answer(a), None);
    rig.pass(5);
    assert_eq!(rig.joined(a).unwrap().members.len(), 2);
    assert_eq!(rig.joined(newcomer).unwrap().leader, ids[0]);
    assert_eq!(rig.beat(&ids[1], 2), Err(GroupError::unknown_member(&ids[1])));
}

#[test]
fn another_leads_when_the_leader_does_not_join() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let b = rig.join(Join { protocols: protocols(&[("range", "changed")]), ..rejoin(&ids[1]) });
    rig.pass(REBALANCE_MS);
    let joined = rig.joined(b).unwrap();
    assert_eq!((joined.leader.as_str(), joined.members.len()), (ids[1].as_str(), 1));
}

#[test]
fn a_follower_that_asks_again_unchanged_is_told_the_current_generation() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let follower = rig.join(rejoin(&ids[1]));
    let joined = rig.joined(follower).unwrap();
    assert_eq!((joined.generation, joined.members.len(), rig.state()), (1, 0, "Stable"));
}

#[test]
fn a_leader_that_asks_again_or_changed_metadata_begin_a_rebalance() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    rig.join(rejoin(&ids[0]));
    assert_eq!(rig.state(), "PreparingRebalance");
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    rig.join(Join { protocols: protocols(&[("range", "changed")]), ..rejoin(&ids[1]) });
    assert_eq!(rig.state(), "PreparingRebalance");
}

#[test]
fn a_lost_answer_is_given_again_while_the_assignment_is_awaited() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    let first = rig.join(rejoin(&ids[0]));
    let told = rig.joined(first).unwrap();
    let again = rig.join(rejoin(&ids[0]));
    assert_eq!(rig.joined(again).unwrap(), told);
    assert_eq!(told.members.len(), 1);
}

#[test]
fn a_second_join_of_a_waiting_member_takes_the_place_of_the_first() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let first = rig.join(rejoin(&ids[0]));
    let second = rig.join(rejoin(&ids[0]));
    assert_eq!(rig.refused(first), GroupError::RebalanceInProgress);
    assert_eq!(rig.answer(second), None);
    rig.join(rejoin(&ids[1]));
    assert_eq!(rig.joined(second).unwrap().members.len(), 2);
}

#[test]
fn the_protocol_that_most_prefer_of_those_that_all_know_is_chosen() {
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 1, ..SETTINGS });
    let speaks = |name, named: &[(&str, &str)]| Join { protocols: protocols(named), ..join(name) };
    let a = rig.join(speaks("a", &[("sticky", "a1"), ("range", "a2"), ("robin", "a3")]));
    rig.join(speaks("b", &[("robin", "b1"), ("range", "b2")]));
    rig.join(speaks("c", &[("robin", "c1"), ("range", "c2")]));
    rig.pass(2);
    let joined = rig.joined(a).unwrap();
    assert_eq!(joined.protocol.as_deref(), Some("robin"));
    let metadata: Vec<_> = joined.members.iter().map(|member| member.metadata.as_ref()).collect();
    assert_eq!(metadata, [b"a3", b"b1", b"c1"]);
}

#[test]
fn members_without_a_common_protocol_or_of_another_type_are_refused() {
    let (mut rig, _) = Rig::stable(&["a"]);
    for stranger in [
        Join { protocols: protocols(&[("robin", "x")]), ..join("x") },
        Join { protocol_type: "connect".to_owned(), ..join("x") },
        Join { protocols: Vec::new(), ..join("x") },
    ] {
        let ticket = rig.join(stranger);
        assert_eq!(rig.refused(ticket), GroupError::InconsistentProtocol);
    }
    assert_eq!(rig.state(), "Stable");
    let mut empty = Rig::new();
    for nothing in [Join { protocols: Vec::new(), ..join("x") }, Join { protocol_type: String::new(), ..join("x") }] {
        let ticket = empty.join(nothing);
        assert_eq!(empty.refused(ticket), GroupError::InconsistentProtocol);
    }
}

#[test]
fn a_protocol_named_twice_counts_once() {
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 1, ..SETTINGS });
    let twice = rig.join(Join { protocols: protocols(&[("range", "1"), ("range", "2")]), ..join("a") });
    let stranger = rig.join(Join { protocols: protocols(&[("robin", "x")]), ..join("b") });
    assert_eq!(rig.refused(stranger), GroupError::InconsistentProtocol);
    rig.pass(1);
    assert_eq!(rig.joined(twice).unwrap().members[0].metadata.as_ref(), b"1");
}

#[test]
fn an_empty_group_takes_members_of_another_type() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    rig.leave(&ids[0], None).unwrap();
    let ticket = rig.join(Join { protocol_type: "connect".to_owned(), ..join("worker") });
    rig.pass(1);
    let joined = rig.joined(ticket).unwrap();
    assert_eq!((joined.protocol_type.as_deref(), joined.generation), (Some("connect"), 3));
}

#[test]
fn metadata_comes_back_as_sent_whatever_it_is() {
    let garbage: Vec<u8> = (0..=255).collect();
    let mut rig = Rig::with(ClassicSettings { initial_delay_ms: 1, ..SETTINGS });
    let mut wish = join("a");
    wish.protocols[0].metadata = garbage.clone().into();
    let ticket = rig.join(wish);
    rig.pass(1);
    let joined = rig.joined(ticket).unwrap();
    assert_eq!(joined.members[0].metadata, garbage);
    rig.complete(&[joined.member_id], 1);
    assert_eq!(rig.group.describe().members[0].metadata, garbage);
}

#[test]
fn a_new_member_whose_client_never_comes_back_is_out_after_a_while() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let slow = |id: &str| Join { rebalance_ms: 2 * NEW_MEMBER_MS_MAX, ..rejoin(id) };
    rig.join(slow(&ids[0]));
    let (newcomer, until) = (rig.join(join("c")), rig.now + NEW_MEMBER_MS_MAX);
    while rig.now + SESSION_MS / 2 < until {
        rig.pass(SESSION_MS / 2);
        assert_eq!(rig.answer(newcomer), None);
        let _ = rig.beat(&ids[1], 1);
        rig.join(slow(&ids[0]));
    }
    rig.pass(SESSION_MS);
    assert_eq!(rig.refused(newcomer), GroupError::unknown_member("c-1"));
}

#[test]
fn a_member_whose_connection_died_while_it_waited_has_its_sessions_time() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let gone = rig.join(rejoin(&ids[0]));
    let newcomer = rig.join(join("c"));
    rig.put(Input::Gone(gone));
    rig.put(Input::Gone(newcomer));
    rig.join(rejoin(&ids[1]));
    rig.pass(SESSION_MS - 1);
    assert_eq!(rig.group.num_members(), 3);
    rig.pass(1);
    assert_eq!((rig.group.num_members(), rig.state()), (1, "CompletingRebalance"));
    assert_eq!(rig.answer(gone), None);
}

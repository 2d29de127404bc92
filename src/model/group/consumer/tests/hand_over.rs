//! One owner at a time: a partition changes hands only after the old owner let go of it or was fenced.

use super::*;

/// `a` has both partitions of `t`, and `b` has just joined.
fn two_members() -> (Scene, Told) {
    let mut scene = Scene::with(&[("t", 2)]);
    scene.joined("a", &["t"]);
    let told = scene.joined("b", &["t"]);
    (scene, told)
}

#[test]
fn the_new_owner_waits_until_the_old_one_let_go() {
    let (mut scene, b) = two_members();
    assert_eq!((b.epoch, b.assignment), (2, Some(Partitions::new())));
    assert_eq!(scene.member("b").state, MemberState::Unreleased);

    let a = scene.beat("a", Some(of(1, &[0, 1])));
    assert_eq!((a.epoch, a.assignment), (1, Some(of(1, &[0]))), "asked to let go, at its old epoch");
    assert_eq!(scene.member("a").state, MemberState::Unrevoked);

    for _ in 0..3 {
        assert_eq!(scene.beat("a", None).epoch, 1, "it says nothing of what it owns");
        assert_eq!(scene.beat("a", Some(of(1, &[0, 1]))).epoch, 1, "it still owns both");
        assert_eq!(scene.beat("b", None).assignment, None, "nothing is free");
    }

    let a = scene.beat("a", Some(of(1, &[0])));
    assert_eq!((a.epoch, a.assignment), (2, None), "let go, and at the new epoch");
    assert_eq!(scene.beat("b", None).assignment, Some(of(1, &[1])));
    assert_eq!(scene.group.state(), GroupState::Stable);
}

#[test]
fn a_member_that_does_not_let_go_in_time_is_fenced() {
    let (mut scene, _) = two_members();
    scene.beat("a", Some(of(1, &[0, 1])));
    scene.settings.session_timeout_ms = 1_000_000;
    scene.beat("a", None);
    scene.beat("b", None);
    assert_eq!(scene.group.deadline(), Some(Timestamp(300_000)));
    assert_eq!(scene.pass(299_999), [""; 0]);
    assert_eq!(scene.pass(1), ["a"]);
    assert_eq!(scene.send(beat("a", 1)), Err(Fault::UnknownMember { member: "a".into() }));
    let b = scene.beat("b", None);
    assert_eq!((b.epoch, b.assignment), (3, Some(of(1, &[0, 1]))));
}

#[test]
fn a_member_that_let_go_is_not_held_to_the_rebalance_timeout() {
    let (mut scene, _) = two_members();
    scene.settings.session_timeout_ms = 1_000_000;
    scene.beat("a", Some(of(1, &[0, 1])));
    scene.beat("a", Some(of(1, &[0])));
    scene.beat("b", None);
    assert_eq!(scene.pass(300_001), [""; 0]);
}

#[test]
fn the_partitions_of_a_killed_member_are_free_when_its_session_ends() {
    let (mut scene, _) = two_members();
    scene.now += 44_000;
    scene.beat("b", None);
    assert_eq!(scene.pass(1_000), ["a"]);
    assert_eq!(scene.group.state(), GroupState::Assigning);
    let b = scene.beat("b", None);
    assert_eq!((b.epoch, b.assignment), (3, Some(of(1, &[0, 1]))));
}

#[test]
fn a_member_takes_back_what_it_was_to_let_go_of_when_the_other_leaves() {
    let (mut scene, _) = two_members();
    scene.beat("a", Some(of(1, &[0, 1])));
    scene.send(beat("b", LEAVE)).unwrap();
    let a = scene.beat("a", Some(of(1, &[0])));
    assert_eq!((a.epoch, a.assignment), (3, Some(of(1, &[0, 1]))));
}

#[test]
fn a_restart_in_the_middle_of_a_hand_over_changes_nothing() {
    let (mut scene, _) = two_members();
    scene.beat("a", Some(of(1, &[0, 1])));
    scene.restart();
    assert_eq!(scene.beat("b", None).assignment, None);
    assert_eq!(scene.beat("a", None).epoch, 1);
    assert_eq!(scene.group.epoch(), 2);
    let a = scene.beat("a", Some(of(1, &[0])));
    assert_eq!(a.epoch, 2);
    scene.restart();
    assert_eq!(scene.beat("b", None).assignment, Some(of(1, &[1])));
    assert_eq!(scene.group.state(), GroupState::Stable);
}

#[test]
fn sessions_start_anew_after_a_restart() {
    let (mut scene, _) = two_members();
    scene.now += 44_999;
    scene.restart();
    assert_eq!(scene.pass(44_999), [""; 0]);
    assert_eq!(scene.pass(1), ["a", "b"]);
}

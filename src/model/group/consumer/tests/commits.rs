//! Which commits and fetches of positions a group lets through.

use super::*;

/// A commit of partition `partition` of topic `t`.
fn commit(scene: &Scene, member: &str, epoch: i32, partition: u32) -> Result<(), Fault> {
    scene.group.check_commit(member, epoch, [("t", PartitionId(partition))].into_iter())
}

fn stale(found: i32, expected: i32) -> Fault {
    Fault::StaleEpoch { found, expected }
}

#[test]
fn a_commit_at_the_present_epoch_may_move_anything() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    for partition in [0, 7] {
        assert_eq!(commit(&scene, "a", 1, partition), Ok(()));
    }
    assert_eq!(scene.group.check_fetch(Some("a"), 1), Ok(()));
}

#[test]
fn commits_of_others_are_refused() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    let unknown = Fault::UnknownMember { member: "b".into() };
    assert_eq!(commit(&scene, "b", 1, 0), Err(unknown.clone()));
    assert_eq!(scene.group.check_fetch(Some("b"), 1), Err(unknown));
    assert_eq!(commit(&scene, "", -1, 0), Err(Fault::UnknownMember { member: "".into() }));
    assert_eq!(commit(&scene, "a", 2, 0), Err(stale(2, 1)));
    assert_eq!(commit(&scene, "a", -1, 0), Err(stale(-1, 1)));
    assert_eq!(scene.group.check_fetch(Some("a"), 0), Err(stale(0, 1)));
}

#[test]
fn who_is_no_member_may_commit_to_an_empty_group_and_ask_any() {
    let mut scene = Scene::with(&[("t", 1)]);
    assert_eq!(commit(&scene, "", -1, 0), Ok(()));
    scene.joined("a", &["t"]);
    assert_eq!(scene.group.check_fetch(None, -1), Ok(()));
    assert_eq!(scene.group.check_fetch(Some(""), -1), Ok(()));
}

#[test]
fn a_commit_sent_before_the_epoch_rose_moves_what_the_member_held_all_along() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.table.set("t", 2);
    scene.beat("a", None);
    assert_eq!(commit(&scene, "a", 1, 0), Ok(()), "held since epoch 1");
    assert_eq!(commit(&scene, "a", 1, 1), Err(stale(1, 2)), "held since epoch 2");
    assert_eq!(commit(&scene, "a", 1, 7), Err(stale(1, 2)), "not held");
    let both = [("t", PartitionId(0)), ("t", PartitionId(1))].into_iter();
    assert_eq!(scene.group.check_commit("a", 1, both), Err(stale(1, 2)), "all or nothing");
    let other = [("u", PartitionId(0))].into_iter();
    assert_eq!(scene.group.check_commit("a", 1, other), Err(stale(1, 2)));
}

#[test]
fn a_member_that_was_fenced_commits_no_more() {
    let mut scene = Scene::with(&[("t", 2)]);
    scene.joined("a", &["t"]);
    scene.now += 1_000;
    scene.joined("b", &["t"]);
    scene.pass(44_000);
    assert_eq!(commit(&scene, "a", 1, 0), Err(Fault::UnknownMember { member: "a".into() }));
}

//! Leaving, and static members that come back.

use super::*;

fn as_static(instance: &str) -> impl FnOnce(&mut Heartbeat) + '_ {
    move |beat| beat.instance = Some(instance.to_owned())
}

fn leave_for_a_while(member: &str, instance: &str) -> Heartbeat {
    Heartbeat { instance: Some(instance.into()), ..beat(member, LEFT_FOR_A_WHILE) }
}

#[test]
fn a_member_that_leaves_frees_its_partitions_at_once() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.joined("b", &["t"]);
    let told = scene.send(beat("a", LEAVE)).unwrap();
    assert_eq!((told.member.as_str(), told.epoch, told.assignment), ("a", LEAVE, None));
    assert_eq!(scene.beat("b", None).assignment, Some(of(1, &[0])));
    scene.send(beat("b", LEAVE)).unwrap();
    assert_eq!(scene.group.state(), GroupState::Empty);
    assert_eq!(scene.group.deadline(), None);
    assert!(scene.rows.is_empty());
}

#[test]
fn a_static_member_comes_back_to_its_partitions_without_a_rebalance() {
    let mut scene = Scene::with(&[("t", 4)]);
    scene.join("a", &["t"], as_static("one")).unwrap();
    scene.join("b", &["t"], as_static("two")).unwrap();
    scene.send(Heartbeat { instance: Some("one".into()), owned: Some(of(1, &[0, 1])), ..beat("a", 1) }).unwrap();
    let before = scene.send(Heartbeat { instance: Some("one".into()), owned: Some(of(1, &[0, 1])), ..beat("a", 2) });
    assert_eq!(before.unwrap().epoch, 2);
    let held = scene.member("a").assigned.clone();

    let told = scene.send(leave_for_a_while("a", "one")).unwrap();
    assert_eq!((told.member.as_str(), told.epoch), ("a", LEFT_FOR_A_WHILE));
    scene.restart();
    let told = scene.join("a2", &["t"], as_static("one")).unwrap();
    assert_eq!((told.epoch, scene.group.epoch()), (2, 2), "no rebalance");
    assert_eq!(scene.member("a2").assigned, held);
    assert_eq!(told.assignment.map(|assignment| count(&assignment)), Some(2));
    assert_eq!(scene.rows.keys().collect::<Vec<_>>(), ["a2", "b"]);
}

#[test]
fn a_second_process_with_the_same_instance_id_is_refused_until_the_first_left() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.join("a", &["t"], as_static("one")).unwrap();
    let unreleased = Fault::UnreleasedInstance { member: "b".into(), instance: "one".into(), by: "a".into() };
    assert_eq!(scene.join("b", &["t"], as_static("one")), Err(unreleased));
    scene.send(leave_for_a_while("a", "one")).unwrap();
    scene.join("b", &["t"], as_static("one")).unwrap();
    let fenced = Fault::FencedInstance { member: "a".into(), instance: "one".into(), by: "b".into() };
    for epoch in [1, LEAVE, LEFT_FOR_A_WHILE] {
        let late = Heartbeat { instance: Some("one".into()), ..beat("a", epoch) };
        assert_eq!(scene.send(late), Err(fenced.clone()), "epoch {epoch}");
    }
}

#[test]
fn a_static_member_that_does_not_come_back_is_out_when_its_session_ends() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.join("a", &["t"], as_static("one")).unwrap();
    scene.joined("b", &["t"]);
    scene.send(leave_for_a_while("a", "one")).unwrap();
    scene.now += 30_000;
    assert_eq!(scene.beat("b", None).assignment, None, "its partition is held for it");
    assert_eq!(scene.pass(15_000), ["a"]);
    assert_eq!(scene.beat("b", None).assignment, Some(of(1, &[0])));
}

#[test]
fn what_a_static_member_was_to_let_go_of_is_free_when_it_leaves_for_a_while() {
    let mut scene = Scene::with(&[("t", 2)]);
    scene.join("a", &["t"], as_static("one")).unwrap();
    scene.joined("b", &["t"]);
    scene.send(Heartbeat { instance: Some("one".into()), owned: Some(of(1, &[0, 1])), ..beat("a", 1) }).unwrap();
    assert_eq!(scene.member("a").state, MemberState::Unrevoked);
    scene.send(leave_for_a_while("a", "one")).unwrap();
    assert_eq!(scene.beat("b", None).assignment, Some(of(1, &[1])));
    let told = scene.join("a2", &["t"], as_static("one")).unwrap();
    assert_eq!((told.epoch, told.assignment), (2, Some(of(1, &[0]))));
}

//! What a heartbeat must say, and who is let in.

use super::*;

#[test]
fn the_first_member_gets_all_partitions_at_epoch_one() {
    let mut scene = Scene::with(&[("t", 3)]);
    let told = scene.joined("a", &["t"]);
    assert_eq!(told.epoch, 1);
    assert_eq!(told.heartbeat_interval_ms, 5_000);
    assert_eq!(told.assignment, Some(of(1, &[0, 1, 2])));
    assert_eq!(scene.group.state(), GroupState::Stable);
}

#[test]
fn a_member_with_nothing_to_read_still_gets_an_epoch() {
    let mut scene = Scene::with(&[]);
    let told = scene.joined("a", &["missing"]);
    assert_eq!((told.epoch, told.assignment), (1, Some(Partitions::new())));
}

#[test]
fn an_assignment_is_told_again_only_when_asked_for_in_full() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    assert_eq!(scene.beat("a", None).assignment, None);
    assert_eq!(scene.beat("a", Some(of(1, &[0]))).assignment, None);
    let full = Heartbeat { epoch: 1, owned: Some(of(1, &[0])), ..joining("a", &["t"]) };
    assert_eq!(scene.send(full).unwrap().assignment, Some(of(1, &[0])));
}

#[test]
fn a_heartbeat_that_lacks_something_changes_nothing() {
    fn check(change: impl FnOnce(&mut Heartbeat)) {
        let mut scene = Scene::with(&[("t", 1)]);
        let told = scene.join("a", &["t"], change);
        assert!(matches!(told, Err(Fault::Invalid(_))), "{told:?}");
        assert_eq!((scene.group.epoch(), scene.head.len(), scene.rows.len()), (0, 0, 0));
    }
    check(|beat| beat.member.clear());
    check(|beat| beat.rebalance_timeout_ms = None);
    check(|beat| beat.owned = None);
    check(|beat| beat.owned = Some(of(1, &[0])));
    check(|beat| beat.topics = None);
    check(|beat| beat.instance = Some(String::new()));
    check(|beat| beat.rack = Some(String::new()));
    check(|beat| beat.epoch = -3);
    check(|beat| beat.epoch = LEFT_FOR_A_WHILE);
}

#[test]
fn unknown_members_are_told_so() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    for epoch in [1, 5, LEAVE] {
        assert_eq!(scene.send(beat("b", epoch)), Err(Fault::UnknownMember { member: "b".into() }));
    }
    let unknown = Err(Fault::UnknownInstance { instance: "i".into() });
    for epoch in [1, LEAVE, LEFT_FOR_A_WHILE] {
        assert_eq!(scene.send(Heartbeat { instance: Some("i".into()), ..beat("a", epoch) }), unknown);
    }
}

#[test]
fn an_assignor_that_is_not_on_is_refused() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.settings.assignors = vec![Assignor::Range];
    let told = scene.join("a", &["t"], |beat| beat.assignor = Some("uniform".into()));
    assert_eq!(told, Err(Fault::UnsupportedAssignor { found: "uniform".into(), known: "range".into() }));
    scene.join("a", &["t"], |beat| beat.assignor = Some("range".into())).unwrap();
}

#[test]
fn most_members_choose_the_assignor() {
    let mut scene = Scene::with(&[("t", 4), ("u", 4)]);
    scene.joined("a", &["t"]);
    assert_eq!(scene.group.assignor_name(&scene.settings), "uniform");
    scene.join("b", &["t"], |beat| beat.assignor = Some("range".into())).unwrap();
    assert_eq!(scene.group.assignor_name(&scene.settings), "range");
    for id in ["c", "d"] {
        scene.join(id, &["t"], |beat| beat.assignor = Some("uniform".into())).unwrap();
    }
    assert_eq!(scene.group.assignor_name(&scene.settings), "uniform");
}

#[test]
fn a_full_group_takes_no_new_members_but_hears_its_own() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.settings.members_max = 1;
    scene.joined("a", &["t"]);
    assert_eq!(scene.join("b", &["t"], |_| {}), Err(Fault::Full { max: 1 }));
    scene.joined("a", &["t"]);
    scene.beat("a", None);
}

#[test]
fn epochs_ahead_or_behind_are_fenced() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    for _ in 0..3 {
        scene.table.set("t", scene.table.topics["t"].partitions + 1);
        scene.beat("a", None);
    }
    assert_eq!(scene.epoch("a"), 4);
    for found in [1, 2, 5] {
        assert_eq!(scene.send(beat("a", found)), Err(Fault::FencedEpoch { found, expected: 4 }));
    }
}

#[test]
fn a_lost_answer_is_asked_for_again_with_the_epoch_before() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.table.set("t", 2);
    assert_eq!(scene.beat("a", Some(of(1, &[0]))).epoch, 2);
    // It never got that answer.
    assert_eq!(scene.send(beat("a", 1)), Err(Fault::FencedEpoch { found: 1, expected: 2 }));
    let more = Heartbeat { owned: Some(of(1, &[0, 7])), ..beat("a", 1) };
    assert_eq!(scene.send(more), Err(Fault::FencedEpoch { found: 1, expected: 2 }));
    let again = Heartbeat { epoch: 1, owned: Some(of(1, &[0])), ..joining("a", &["t"]) };
    let told = scene.send(again).unwrap();
    assert_eq!((told.epoch, told.assignment), (2, Some(of(1, &[0, 1]))));
}

#[test]
fn a_member_that_joins_again_under_its_id_keeps_what_it_had() {
    let mut scene = Scene::with(&[("t", 2)]);
    scene.joined("a", &["t"]);
    let told = scene.joined("a", &["t"]);
    assert_eq!((told.epoch, told.assignment), (1, Some(of(1, &[0, 1]))));
    assert_eq!(scene.group.epoch(), 1);
}

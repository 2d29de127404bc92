//! A consumer group whose last member of the consumer protocol goes, while members of the classic one remain.

use super::*;

/// `a` by the classic protocol and `x` by the other, each with one partition.
fn mixed() -> (Scene, String) {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    scene.come("x");
    assert_eq!(scene.rejoin(&ids[0], &[]), 2);
    assert_eq!(scene.read_by(&ids[0], 2), Ok(vec![0]));
    assert_eq!(told(&scene.send(&beat("x", 2)).unwrap()), Some(vec![1]));
    (scene, ids[0].clone())
}

fn check_came_back(scene: &mut Scene, id: &str) {
    assert_eq!((scene.kind(), scene.state()), (GroupKind::Classic, "PreparingRebalance"));
    assert_eq!(scene.group.num_members(), 1);
    assert!(scene.events.contains(&Event::Migrated { to: GroupKind::Classic }));
    let joined = scene.join(Join { member_id: id.to_owned(), ..owning(&[]) });
    let joined = scene.joined(joined).unwrap();
    assert!(joined.generation > 2, "{joined:?}");
    assert_eq!((joined.leader.as_str(), joined.members.len()), (id, 1));
    scene.assign(&[id.to_owned()], joined.generation);
    assert_eq!(scene.read_by(id, joined.generation), Ok(vec![0, 1]));
}

#[test]
fn when_the_last_one_leaves_the_others_share_out_again() {
    let (mut scene, a) = mixed();
    scene.go("x");
    check_came_back(&mut scene, &a);
}

#[test]
fn when_the_last_one_is_removed_by_an_operator_the_group_comes_back() {
    let (mut scene, a) = mixed();
    scene.leave("x", None).unwrap();
    check_came_back(&mut scene, &a);
}

#[test]
fn when_the_last_one_is_not_heard_of_the_group_comes_back() {
    let (mut scene, a) = mixed();
    for _ in 0..9 {
        scene.pass(4_900);
        scene.classic_beat(&a, 2).unwrap();
    }
    assert_eq!(scene.kind(), GroupKind::Consumer);
    scene.pass(4_900);
    check_came_back(&mut scene, &a);
}

#[test]
fn one_of_an_older_epoch_is_told_that_it_is_out_of_the_generation() {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    scene.come("x");
    scene.go("x");
    assert_eq!(scene.kind(), GroupKind::Classic);
    assert!(matches!(scene.classic_beat(&ids[0], 1), Err(GroupError::IllegalGeneration { given: 1, .. })));
}

#[test]
fn a_crash_before_members_joined_again_does_not_leave_the_share_of_the_last_one_unread() {
    let (mut scene, a) = mixed();
    scene.go("x");
    scene.restart();
    check_came_back(&mut scene, &a);
    scene.restart();
    assert_eq!(scene.state(), "Stable");
}

#[test]
fn whoever_goes_over_again_meanwhile_takes_nothing_that_may_still_be_read() {
    let (mut scene, a) = mixed();
    // A third partition, and `a` is yet to let go of partition 0 when the group goes to and fro.
    scene.go("x");
    assert_eq!(told(&scene.come("y")), Some(vec![1]), "what x had; a has yet to join");
    assert!(scene.rejoin(&a, &[0]) > 3);
    assert_eq!(scene.kind(), GroupKind::Consumer);
}

#[test]
fn a_policy_or_a_limit_keeps_the_group_where_it_is() {
    let (mut scene, a) = mixed();
    scene.settings.consumer.migration.downgrade = false;
    scene.go("x");
    assert_eq!((scene.kind(), scene.classic_beat(&a, 2)), (GroupKind::Consumer, Err(GroupError::RebalanceInProgress)));
    let generation = scene.rejoin(&a, &[0]);
    assert_eq!(scene.read_by(&a, generation), Ok(vec![0, 1]));
}

#[test]
fn an_instance_that_goes_on_by_the_classic_protocol_makes_the_group_classic() {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    let one = consumer::Heartbeat { instance: Some("one".into()), ..coming("x") };
    scene.send(&one).unwrap();
    let left = consumer::Heartbeat { instance: Some("one".into()), ..beat("x", consumer::LEFT_FOR_A_WHILE) };
    scene.send(&left).unwrap();
    assert_eq!(scene.kind(), GroupKind::Consumer, "it will be back");
    // A join that is refused changes nothing.
    let other = Join { instance_id: Some("one".into()), protocol_type: "connect".into(), ..join("one") };
    let refused = scene.join(other);
    assert_eq!(scene.joined(refused).unwrap_err().error, GroupError::InconsistentProtocol);
    assert_eq!(scene.kind(), GroupKind::Consumer);
    let back = scene.join(Join { instance_id: Some("one".into()), ..join("one") });
    assert_eq!((scene.kind(), scene.state()), (GroupKind::Classic, "PreparingRebalance"));
    scene.join(Join { member_id: ids[0].clone(), ..owning(&[]) });
    let joined = scene.joined(back).unwrap();
    assert_eq!((joined.member_id.as_str(), scene.group.num_members()), ("one-1", 2));
}

//! A classic group into which a member of the consumer protocol joins.

use super::*;

fn refused(scene: &mut Scene, why: NoUpgrade) {
    let before = scene.kept.clone();
    let refused = GroupError::NoUpgrade { group: "g".into(), why };
    assert_eq!(scene.send(&coming("x")).unwrap_err(), refused);
    assert_eq!((scene.kind(), &scene.kept), (GroupKind::Classic, &before), "nothing has changed");
}

#[test]
fn a_member_that_joins_brings_the_group_over_and_waits_for_its_share() {
    let (mut scene, ids) = Scene::classic(4, &["a", "b"]);
    let x = scene.come("x");
    assert_eq!((scene.kind(), x.epoch, told(&x)), (GroupKind::Consumer, 2, Some(vec![])));
    assert!(scene.events.contains(&Event::Migrated { to: GroupKind::Consumer }));
    assert_eq!(scene.group.num_members(), 3);
    // The others are called to join at their next heartbeat; until then they hold what they have.
    assert_eq!(scene.classic_beat(&ids[0], 1), Err(GroupError::RebalanceInProgress));
    assert_eq!(told(&scene.send(&beat("x", 2)).unwrap()), None);
    assert_eq!(scene.rejoin(&ids[0], &[]), 2);
    let kept = scene.read_by(&ids[0], 2).unwrap();
    assert!(kept == [0] || kept == [2] || kept == [0, 2], "of its own: {kept:?}");
    assert_eq!(scene.rejoin(&ids[1], &[]), 2);
    let others = scene.read_by(&ids[1], 2).unwrap();
    let x = told(&scene.send(&beat("x", 2)).unwrap()).unwrap();
    let mut all = [kept, others, x].concat();
    all.sort_unstable();
    assert_eq!((all, scene.state()), (vec![0, 1, 2, 3], "Stable"));
    assert_eq!(scene.classic_beat(&ids[0], 2), Ok(()));
}

#[test]
fn whoever_waits_while_members_join_is_sent_to_join_the_other_group() {
    let (mut scene, ids) = Scene::classic(2, &["a", "b"]);
    let waiting = scene.join(Join { member_id: ids[0].clone(), ..join("a") });
    scene.come("x");
    let back = scene.joined(waiting).unwrap_err();
    assert_eq!((back.error, &back.member_id), (GroupError::RebalanceInProgress, &ids[0]));
    assert_eq!(scene.rejoin(&ids[0], &[]), 2);
}

#[test]
fn whoever_waits_for_the_leader_is_sent_back_too_and_keeps_what_it_had() {
    let (mut scene, ids) = Scene::classic(2, &["a", "b"]);
    for id in &ids {
        scene.join(Join { member_id: id.clone(), ..join("a") });
    }
    assert_eq!(scene.state(), "CompletingRebalance");
    let waiting = scene.ask(Request::Sync(sync(&ids[1], 2)));
    scene.come("x");
    assert_eq!(scene.synced(waiting), Err(GroupError::RebalanceInProgress));
    assert_eq!(scene.rejoin(&ids[1], &[]), 3);
    assert_eq!(scene.read_by(&ids[1], 3), Ok(vec![1]));
}

#[test]
fn what_a_cooperative_member_still_owns_is_nobody_elses() {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    // In generation 2 its leader has it let go of partition 1, which it does not know yet.
    let ticket = scene.join(Join { member_id: ids[0].clone(), ..owning(&[0, 1]) });
    assert_eq!(scene.joined(ticket).unwrap().generation, 2);
    let assignments = vec![(ids[0].clone(), Assignment::write(3, &named("t", &[0])))];
    scene.ask(Request::Sync(Sync { assignments, ..sync(&ids[0], 2) }));
    assert_eq!(told(&scene.come("x")), Some(vec![]));
    assert_eq!(told(&scene.send(&beat("x", 3)).unwrap()), None);
    assert_eq!(scene.rejoin(&ids[0], &[0, 1]), 2, "it has yet to let go");
    assert_eq!(scene.read_by(&ids[0], 2), Ok(vec![0]));
    assert_eq!(told(&scene.send(&beat("x", 3)).unwrap()), None);
    assert_eq!(scene.rejoin(&ids[0], &[0]), 3);
    assert_eq!(told(&scene.send(&beat("x", 3)).unwrap()), Some(vec![1]));
}

#[test]
fn static_members_come_along() {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    let one = scene.join(Join { instance_id: Some("one".into()), unique: "1".into(), ..join("one") });
    scene.rejoin_all(&ids);
    let one = scene.joined(one).unwrap().member_id;
    scene.assign(&[ids[0].clone(), one.clone()], 2);
    scene.come("x");
    // It comes back in its place, with what it had.
    let back = scene.join(Join { instance_id: Some("one".into()), unique: "2".into(), ..join("one") });
    let back = scene.joined(back).unwrap();
    assert_eq!((back.member_id.as_str(), back.generation), ("one-2", 3));
    let fenced = scene.ask(Request::Heartbeat(Heartbeat {
        member_id: one.clone(),
        instance_id: Some("one".into()),
        generation: 2,
    }));
    let fault = Fault::FencedInstance { member: one, instance: "one".into(), by: "one-2".into() };
    assert_eq!(scene.answers.remove(&fenced), Some(Answer::Heartbeat(Err(GroupError::Consumer(fault)))));
}

#[test]
fn a_group_that_cannot_go_over_is_told_why_and_stays_as_it_is() {
    let (mut scene, _) = Scene::classic(2, &["a", "b"]);
    scene.settings.consumer.migration.upgrade = false;
    refused(&mut scene, NoUpgrade::Forbidden);
    scene.settings.consumer.migration.upgrade = true;
    scene.settings.consumer.members_max = 1;
    refused(&mut scene, NoUpgrade::TooLarge { max: 1 });
    scene.settings.consumer.members_max = 2;
    let full = scene.send(&coming("x")).unwrap_err();
    assert_eq!((full, scene.kind()), (GroupError::Consumer(Fault::Full { max: 2 }), GroupKind::Classic));
    assert!(matches!(scene.send(&beat("x", 1)), Err(GroupError::NotConsumer { .. })));
}

#[test]
fn only_consumers_go_over() {
    let mut scene = Scene::new(2);
    let garbage = vec![Protocol { name: "range".into(), metadata: Bytes::from_static(b"garbage") }];
    scene.join(Join { protocol_type: "connect".into(), ..join("a") });
    refused(&mut scene, NoUpgrade::OtherType);
    let mut scene = Scene::new(2);
    scene.join(Join { protocols: garbage, ..join("a") });
    refused(&mut scene, NoUpgrade::Unreadable);
}

#[test]
fn assignments_that_the_broker_cannot_go_on_with_keep_a_group_where_it_is() {
    let all = Assignment::write(3, &named("t", &[0, 1]));
    let with_data = [&all[..all.len() - 4], b"\0\0\0\x01x"].concat();
    for (assignments, why) in [
        ([with_data.into(), Bytes::new()], NoUpgrade::Assignor),
        ([Bytes::from_static(b"g"), Bytes::new()], NoUpgrade::Unreadable),
        ([all.clone(), all], NoUpgrade::TwoOwners),
    ] {
        let (mut scene, ids) = Scene::classic(2, &["a", "b"]);
        scene.rejoin_all(&ids);
        let assignments: Vec<_> = ids.iter().cloned().zip(assignments).collect();
        for id in &ids {
            scene.ask(Request::Sync(Sync { assignments: assignments.clone(), ..sync(id, 2) }));
        }
        assert_eq!(scene.state(), "Stable");
        refused(&mut scene, why);
    }
}

impl Scene {
    /// All of them join again.
    fn rejoin_all(&mut self, ids: &[String]) {
        for id in ids {
            self.join(Join { member_id: id.clone(), ..owning(&[]) });
        }
    }
}

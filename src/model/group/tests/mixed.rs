//! Members of both protocols in one consumer group.

use super::*;

/// `a` by the classic protocol, which has yet to join after `x` came by the other.
fn called() -> (Scene, String) {
    let (mut scene, ids) = Scene::classic(2, &["a"]);
    scene.come("x");
    assert_eq!(scene.classic_beat(&ids[0], 1), Err(GroupError::RebalanceInProgress));
    (scene, ids[0].clone())
}

#[test]
fn a_classic_member_joins_with_an_id_that_is_not_remembered() {
    let (mut scene, _) = called();
    let twice = Join { asks_twice: true, ..join("b") };
    let asked = scene.join(twice.clone());
    let asked = scene.joined(asked).unwrap_err();
    assert_eq!((asked.error, scene.group.num_members()), (GroupError::MemberIdRequired, 2));
    let joined = scene.join(Join { member_id: asked.member_id.clone(), ..twice });
    let joined = scene.joined(joined).unwrap();
    assert_eq!((joined.member_id, joined.generation), (asked.member_id, 3));
    assert_eq!((joined.protocol_type.as_deref(), joined.protocol.as_deref()), (Some("consumer"), Some("range")));
    assert!(joined.leader.is_empty() && joined.members.is_empty(), "the broker assigns");
}

#[test]
fn one_that_is_out_and_does_not_know_it_takes_nothing_with_it() {
    let (mut scene, _) = called();
    let zombie = scene.join(Join { member_id: "was-here".into(), ..owning(&[0]) });
    assert_eq!(scene.joined(zombie).unwrap_err().error, GroupError::unknown_member("was-here"));
    let newcomer = scene.join(Join { member_id: "was-here".into(), ..owning(&[]) });
    scene.joined(newcomer).unwrap();
}

#[test]
fn one_that_does_not_join_in_time_is_out() {
    let (mut scene, a) = called();
    for _ in 0..3 {
        scene.pass(REBALANCE_MS / 4);
        assert_eq!(scene.classic_beat(&a, 1), Err(GroupError::RebalanceInProgress));
        scene.send(&beat("x", 2)).unwrap();
    }
    scene.pass(REBALANCE_MS / 4);
    assert_eq!(scene.classic_beat(&a, 1), Err(GroupError::unknown_member(&a)));
    assert_eq!(told(&scene.send(&beat("x", 2)).unwrap()), Some(vec![0, 1]));
}

#[test]
fn one_that_does_not_ask_for_its_assignment_in_time_is_out() {
    let (mut scene, a) = called();
    let generation = scene.rejoin(&a, &[]);
    for _ in 0..3 {
        scene.pass(REBALANCE_MS / 4);
        scene.classic_beat(&a, generation).unwrap();
    }
    scene.pass(REBALANCE_MS / 4);
    assert_eq!(scene.classic_beat(&a, generation), Err(GroupError::unknown_member(&a)));
}

#[test]
fn its_own_session_counts() {
    let (mut scene, a) = called();
    let generation = scene.rejoin(&a, &[]);
    scene.read_by(&a, generation).unwrap();
    scene.pass(SESSION_MS - 1);
    assert_eq!(scene.classic_beat(&a, generation), Ok(()));
    scene.pass(SESSION_MS);
    assert_eq!(scene.classic_beat(&a, generation), Err(GroupError::unknown_member(&a)));
    assert_eq!(scene.kind(), GroupKind::Consumer);
}

#[test]
fn a_sync_of_another_generation_protocol_or_member_is_refused() {
    let (mut scene, a) = called();
    let ask = |scene: &mut Scene, sync: Sync| {
        let ticket = scene.ask(Request::Sync(sync));
        scene.synced(ticket).unwrap_err()
    };
    assert_eq!(ask(&mut scene, sync(&a, 1)), GroupError::RebalanceInProgress);
    let generation = scene.rejoin(&a, &[]);
    let other = GroupError::Consumer(Fault::Generation { found: 1, expected: generation });
    assert_eq!(ask(&mut scene, sync(&a, 1)), other);
    let other = Sync { protocol: Some("sticky".into()), ..sync(&a, generation) };
    assert_eq!(ask(&mut scene, other), GroupError::InconsistentProtocol);
    let other = Sync { protocol_type: Some("connect".into()), ..sync(&a, generation) };
    assert_eq!(ask(&mut scene, other), GroupError::InconsistentProtocol);
    assert_eq!(ask(&mut scene, sync("x", 2)), GroupError::unknown_member("x"), "it does not speak so");
    assert_eq!(ask(&mut scene, sync("nobody", 2)), GroupError::unknown_member("nobody"));
}

#[test]
fn members_that_cannot_agree_or_be_understood_are_refused() {
    let (mut scene, _) = called();
    let refused = |scene: &mut Scene, join: Join| {
        let ticket = scene.join(join);
        scene.joined(ticket).unwrap_err().error
    };
    let protocols = |name: &str, metadata: &'static [u8]| {
        vec![Protocol { name: name.to_owned(), metadata: Bytes::from_static(metadata) }]
    };
    let other = Join { protocol_type: "connect".into(), ..join("b") };
    assert_eq!(refused(&mut scene, other), GroupError::InconsistentProtocol);
    let other = Join { protocols: protocols("sticky", b""), ..join("b") };
    assert_eq!(refused(&mut scene, other), GroupError::InconsistentProtocol);
    let garbage = Join { protocols: protocols("range", b"garbage"), ..join("b") };
    assert_eq!(refused(&mut scene, garbage), GroupError::NoSubscription);
    let short = Join { session_ms: 1, ..join("b") };
    assert!(matches!(refused(&mut scene, short), GroupError::SessionTimeout { ms: 1, .. }));
    scene.settings.consumer.members_max = 2;
    assert_eq!(refused(&mut scene, join("b")), GroupError::Consumer(Fault::Full { max: 2 }));
}

#[test]
fn positions_are_moved_in_the_members_generation_alone_and_by_the_others_with_their_epoch() {
    let (mut scene, a) = called();
    let generation = scene.rejoin(&a, &[]);
    let commit = |scene: &mut Scene, member: &str, generation: i32, knows_epochs: bool| {
        let committer = Committer { member, instance: None, generation, knows_epochs };
        scene.group.admit(committer, &[], Timestamp(scene.now)).map_err(|error| error.to_string())
    };
    assert_eq!(commit(&mut scene, &a, generation, false), Ok(()));
    let stale = GroupError::Consumer(Fault::Generation { found: 1, expected: generation });
    assert_eq!(commit(&mut scene, &a, 1, false), Err(stale.to_string()));
    assert_eq!(commit(&mut scene, "x", 2, true), Ok(()));
    assert_eq!(commit(&mut scene, "x", 2, false), Err(Fault::OldCommit.to_string()));
    assert_eq!(commit(&mut scene, "b", 2, false), Err(Fault::UnknownMember { member: "b".into() }.to_string()));
}

#[test]
fn a_restart_finds_members_of_both_protocols_where_they_were() {
    let (mut scene, a) = called();
    let generation = scene.rejoin(&a, &[]);
    scene.read_by(&a, generation).unwrap();
    scene.restart();
    assert_eq!(scene.kind(), GroupKind::Consumer);
    assert_eq!(scene.classic_beat(&a, generation), Ok(()));
    assert_eq!(scene.read_by(&a, generation), Ok(vec![0]));
    assert_eq!(told(&scene.send(&beat("x", 2)).unwrap()), Some(vec![1]));
    scene.pass(SESSION_MS);
    assert_eq!(scene.classic_beat(&a, generation), Err(GroupError::unknown_member(&a)), "its own session");
}

#[test]
fn topics_that_grow_call_classic_members_too() {
    let (mut scene, a) = called();
    let generation = scene.rejoin(&a, &[]);
    scene.read_by(&a, generation).unwrap();
    scene.send(&beat("x", 2)).unwrap();
    scene.table.set("t", 4);
    assert_eq!(scene.classic_beat(&a, generation), Err(GroupError::RebalanceInProgress));
    assert!(scene.events.contains(&Event::Rebalancing { reason: Reason::Topics }));
    let generation = scene.rejoin(&a, &[0]);
    assert_eq!(scene.read_by(&a, generation).unwrap().len(), 2);
}

#[test]
fn a_classic_instance_is_replaced_by_one_of_the_consumer_protocol() {
    let mut scene = Scene::new(2);
    let one = scene.join(Join { instance_id: Some("one".into()), ..join("one") });
    scene.pass(0);
    let id = scene.joined(one).unwrap().member_id;
    scene.assign(std::slice::from_ref(&id), 1);
    let x = scene.send(&consumer::Heartbeat { instance: Some("one".into()), ..coming("x") }).unwrap();
    assert_eq!((scene.group.num_members(), told(&x)), (1, Some(vec![0, 1])));
    let fenced = Fault::FencedInstance { member: id.clone(), instance: "one".into(), by: "x".into() };
    assert_eq!(scene.leave(&id, Some("one")), Err(GroupError::Consumer(fenced)));
    assert_eq!(scene.leave("", Some("one")), Ok(()), "an operator knows the instance alone");
    assert_eq!(scene.state(), "Empty");
}

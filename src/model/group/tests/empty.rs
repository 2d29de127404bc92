//! A group without members goes from one kind to the other with its number alone.

use super::*;

#[test]
fn epochs_go_on_where_generations_were_and_back() {
    let (mut scene, ids) = Scene::classic(1, &["a"]);
    scene.leave(&ids[0], None).unwrap();
    assert_eq!(scene.state(), "Empty");
    let x = scene.come("x");
    assert_eq!((scene.kind(), x.epoch), (GroupKind::Consumer, 3), "generation 2 was that of no members");
    scene.go("x");
    assert_eq!((scene.kind(), scene.state()), (GroupKind::Consumer, "Empty"));
    assert!(scene.events.contains(&Event::Emptied { generation: 4 }));
    let a = scene.join(join("a"));
    scene.pass(1);
    assert_eq!((scene.kind(), scene.joined(a).unwrap().generation), (GroupKind::Classic, 5));
}

#[test]
fn a_refused_join_changes_no_kind_and_no_number() {
    let mut scene = Scene::new(1);
    scene.come("x");
    scene.go("x");
    let before = scene.kept.clone();
    let refused = scene.join(Join { protocol_type: String::new(), ..join("a") });
    scene.joined(refused).unwrap_err();
    assert_eq!(scene.kept, before);
    assert_eq!(scene.come("x").epoch, 3);
    scene.go("x");
    let bad = consumer::Heartbeat { assignor: Some("none such".into()), ..coming("y") };
    assert_eq!(scene.kept.as_ref().unwrap().kind, GroupKind::Consumer);
    scene.send(&bad).unwrap_err();
    assert_eq!(scene.come("y").epoch, 5);
}

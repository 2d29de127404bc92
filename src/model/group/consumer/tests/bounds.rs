//! What is bounded beside the number of members, and the answer when a bound is reached.

use super::super::super::classic::GROUP_BYTES_MAX;
use super::super::bounds::PATTERNS_MAX;
use super::*;

fn subscribed_by(regex: String) -> impl FnOnce(&mut Heartbeat) {
    move |beat| {
        beat.topics = None;
        beat.regex = Some(regex);
    }
}

/// Names of which `num` take `bytes` together.
fn names(num: usize, bytes: usize) -> BTreeSet<String> {
    (0..num).map(|n| format!("{n}{}", "0".repeat(bytes / num))).collect()
}

#[test]
fn members_that_tell_without_end_are_refused_and_the_others_go_on() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    let half = names(64, GROUP_BYTES_MAX / 2);
    scene.join("b", &[], |beat| beat.topics = Some(half.clone())).unwrap();
    let refused = scene.join("c", &[], |beat| beat.topics = Some(half.clone()));
    assert!(matches!(refused, Err(Fault::TooLarge { max: GROUP_BYTES_MAX, .. })), "{refused:?}");
    assert!(!scene.group.members.contains_key("c"));
    scene.beat("a", None);
    scene.beat("b", None);
    // Who tells less is not refused, and leaves room.
    let epoch = scene.epoch("b");
    scene.send(Heartbeat { topics: Some(names(1, 9)), ..beat("b", epoch) }).unwrap();
    scene.join("c", &[], |beat| beat.topics = Some(half)).unwrap();
}

#[test]
fn bytes_are_counted_of_those_who_are_there() {
    let mut scene = Scene::with(&[("t", 1)]);
    let empty = scene.group.bytes;
    scene.joined("a", &["t"]);
    let one = scene.group.bytes;
    scene.join("b", &["t", "u"], |beat| beat.instance = Some("i".to_owned())).unwrap();
    scene.restart();
    scene.send(Heartbeat { instance: Some("i".to_owned()), ..beat("b", LEAVE) }).unwrap();
    assert_eq!(scene.group.bytes, one);
    scene.send(beat("a", LEAVE)).unwrap();
    assert_eq!(scene.group.bytes, empty);
}

#[test]
fn one_regular_expression_too_many_is_refused_until_one_is_given_up() {
    let mut scene = Scene::with(&[("t", 1)]);
    for n in 0..PATTERNS_MAX {
        scene.join(&format!("m{n}"), &[], subscribed_by(format!("t{n}"))).unwrap();
    }
    let refused = scene.join("late", &[], subscribed_by("other".to_owned()));
    assert_eq!(refused, Err(Fault::TooManyPatterns { max: PATTERNS_MAX }));
    scene.join("same", &[], subscribed_by("t0".to_owned())).unwrap();
    scene.send(beat("m1", LEAVE)).unwrap();
    scene.join("late", &[], subscribed_by("other".to_owned())).unwrap();
}

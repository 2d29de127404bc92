//! Subscriptions by name and by regular expression, and topics that come, go and grow.

use super::*;

fn with_regex(regex: &str) -> impl FnOnce(&mut Heartbeat) + '_ {
    move |beat| {
        beat.topics = None;
        beat.regex = Some(regex.to_owned());
    }
}

#[test]
fn a_topic_that_grows_raises_the_epoch_once() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.table.set("t", 3);
    let told = scene.beat("a", None);
    assert_eq!((told.epoch, told.assignment), (2, Some(of(1, &[0, 1, 2]))));
    assert_eq!(scene.beat("a", None).epoch, 2);
}

#[test]
fn topics_that_nobody_subscribes_to_change_nothing() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.table.set("other", 3);
    assert_eq!(scene.beat("a", None).epoch, 1);
}

#[test]
fn a_deleted_topic_is_taken_away_and_a_new_one_under_its_name_is_another() {
    let mut scene = Scene::with(&[("t", 1), ("u", 1)]);
    scene.joined("a", &["t", "u"]);
    scene.table.delete("t");
    let both: Partitions = of(1, &[0]).into_iter().chain(of(2, &[0])).collect();
    let told = scene.beat("a", Some(both));
    assert_eq!((told.epoch, told.assignment), (1, Some(of(2, &[0]))));
    assert_eq!(scene.beat("a", Some(of(2, &[0]))).epoch, 2);
    let id = scene.table.set("t", 1).as_u128();
    let told = scene.beat("a", None);
    assert_eq!((told.epoch, told.assignment), (3, Some(of(2, &[0]).into_iter().chain(of(id, &[0])).collect())));
}

#[test]
fn a_view_that_comes_later_is_found_within_a_second() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t", "t..commit-0"]);
    // No version tells of it.
    scene.table.topics.insert("t..commit-0".into(), Topic { id: Uuid::from_u128(9), partitions: 1 });
    scene.now += 999;
    assert_eq!(scene.beat("a", None).epoch, 1);
    scene.now += 1;
    let told = scene.beat("a", None);
    assert_eq!((told.epoch, told.assignment), (2, Some(of(1, &[0]).into_iter().chain(of(9, &[0])).collect())));
}

#[test]
fn topics_that_changed_while_the_broker_was_down_raise_the_epoch() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    scene.restart();
    assert_eq!(scene.beat("a", None).epoch, 1, "nothing changed");
    scene.table.set("t", 2);
    scene.restart();
    assert_eq!(scene.beat("a", None).epoch, 2);
}

#[test]
fn a_regular_expression_matches_whole_names_and_new_topics() {
    let mut scene = Scene::with(&[("foo", 1), ("foobar", 1), ("bar", 1)]);
    let told = scene.join("a", &[], with_regex("foo|b.r")).unwrap();
    let expected: Partitions = of(1, &[0]).into_iter().chain(of(3, &[0])).collect();
    assert_eq!(told.assignment, Some(expected));
    let id = scene.table.set("bor", 1).as_u128();
    let told = scene.beat("a", None);
    assert_eq!(told.epoch, 2);
    assert!(told.assignment.unwrap().contains_key(&Uuid::from_u128(id)));
    assert!(scene.group.subscribes_to("bor") && !scene.group.subscribes_to("foobar"));
}

#[test]
fn a_bad_regular_expression_is_refused_and_changes_nothing() {
    let mut scene = Scene::with(&[("t", 1)]);
    scene.joined("a", &["t"]);
    let before = scene.group.epoch();
    let told = scene.join("b", &[], with_regex("t("));
    assert!(matches!(told, Err(Fault::InvalidRegex { .. })), "{told:?}");
    let told = scene.send(Heartbeat { regex: Some("[".into()), ..beat("a", 1) });
    assert!(matches!(told, Err(Fault::InvalidRegex { .. })), "{told:?}");
    assert_eq!((scene.group.epoch(), scene.group.members().len()), (before, 1));
    assert_eq!(scene.member("a").regex, None);
}

#[test]
fn a_member_goes_from_names_to_a_regular_expression_and_back() {
    let mut scene = Scene::with(&[("t", 1), ("u", 1)]);
    scene.joined("a", &["t"]);
    let topics = Some(BTreeSet::new());
    let change = Heartbeat { topics, regex: Some("u".into()), owned: Some(of(1, &[0])), ..beat("a", 1) };
    let told = scene.send(change).unwrap();
    assert_eq!((told.epoch, told.assignment), (1, Some(Partitions::new())));
    let told = scene.beat("a", Some(Partitions::new()));
    assert_eq!((told.epoch, told.assignment), (2, Some(of(2, &[0]))));
    let topics = Some(BTreeSet::from(["t".to_owned()]));
    let change = Heartbeat { topics, regex: Some(String::new()), owned: Some(of(2, &[0])), ..beat("a", 2) };
    assert_eq!(scene.send(change).unwrap().assignment, Some(Partitions::new()));
    assert_eq!(scene.beat("a", Some(Partitions::new())).assignment, Some(of(1, &[0])));
    assert!(!scene.group.subscribes_to("u"));
}

#[test]
fn an_unsubscribed_topic_is_taken_at_once_while_the_member_lets_go_of_something_else() {
    let mut scene = Scene::with(&[("t", 2), ("u", 1)]);
    scene.joined("a", &["t", "u"]);
    scene.joined("b", &["t"]);
    let all: Partitions = of(1, &[0, 1]).into_iter().chain(of(2, &[0])).collect();
    scene.beat("a", Some(all.clone()));
    assert_eq!(scene.member("a").state, MemberState::Unrevoked);
    let change = Heartbeat { topics: Some(["t".to_owned()].into()), owned: Some(all), ..beat("a", 1) };
    let told = scene.send(change).unwrap();
    assert!(!told.assignment.unwrap().contains_key(&Uuid::from_u128(2)));
    assert!(scene.member("a").revoking.contains_key(&Uuid::from_u128(2)));
}

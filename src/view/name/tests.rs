//! Names of views: read, written, refused.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::model::Timestamp;

fn view(name: &str) -> ViewName {
    match parse_topic(name) {
        Ok(TopicName::View(view)) => view,
        other => panic!("{name}: {other:?}"),
    }
}

fn refusal(name: &str) -> String {
    parse_topic(name).unwrap_err().to_string()
}

#[test]
fn every_name_of_the_table_is_read_and_written_back() {
    for rest in [
        "feed",
        "dedup",
        "latest",
        "changed",
        "commit-17",
        "commit-0..dedup",
        "commits-10-20",
        "commits-5-5..live",
        "since-10",
        "since-10..changed",
        "upto-20",
        "upto-20..live",
        "sealed-20260101T0900Z-20260101T1000Z",
        "sealed-20260101T0900Z-20260101T1000Z..latest",
        "hour-2026010109",
        "hour-2026010109..live",
        "day-20260101..dedup",
        "stream-42",
        "named-poll-14.00",
        "commits",
        "streams",
        "seal",
    ] {
        let name = format!("orders..{rest}");
        assert_eq!(view(&name).to_string(), name);
        assert_eq!(view(&name).feed, "orders");
    }
}

#[test]
fn names_mean_what_they_say() {
    assert_eq!(parse_topic("orders.v1"), Ok(TopicName::Plain("orders.v1")));
    assert_eq!(view("a..dedup"), ViewName { feed: "a".into(), selector: Selector::Feed, mode: Mode::Dedup });
    let nine = 1_767_258_000_000; // 2026-01-01T09:00Z
    let (from, to) = (Timestamp(nine), Timestamp(nine + 3_600_000));
    assert_eq!(view("a..hour-2026010109").selector, Selector::Sealed { from, to, spelling: TimeSpelling::Hour });
    let sealed = view("a..sealed-20260101T0900Z-20260101T1000Z").selector;
    assert_eq!(sealed, Selector::Sealed { from, to, spelling: TimeSpelling::FromTo });
}

#[test]
fn a_feed_may_end_in_a_dot() {
    assert_eq!(view("a...commit-1").feed, "a.");
    assert!(matches!(parse_topic("a....commit-1"), Err(NameError::Dots { .. })));
}

#[test]
fn a_refusal_says_what_would_be_right() {
    assert!(refusal("orders..commit-017").contains("without leading zeros"));
    assert!(refusal("orders..commits-20-10").contains("smaller number first"));
    assert!(refusal("orders..feed..dedup").contains("write that one"), "{}", refusal("orders..feed..dedup"));
    assert!(refusal("orders..feed..dedup").contains("\"orders..dedup\""));
    assert!(refusal("orders..raw").contains("\"orders..feed\""));
    assert!(refusal("orders..commit-3..raw").contains("\"orders..commit-3\""));
    assert!(refusal("orders..live").contains("..upto-N..live"));
    assert!(refusal("orders..since-3..live").contains("..upto-N..live"));
    assert!(refusal("orders..stream-3..latest").contains("takes no mode"));
    assert!(refusal("orders..commits..dedup").contains("takes no mode"));
    assert!(refusal("orders..hour-20260101").contains("hour-2026010109"));
    assert!(refusal("orders..day-20260231").contains("day-20260101"));
    assert!(refusal("orders..sealed-20260101T1000Z-20260101T0900Z").contains("lies before"));
    assert!(refusal("orders..sealed-202601T01000Z-20260101T0900Z").contains("YYYYMMDDTHHMMZ"));
    assert!(refusal("orders..commit-9223372036854775807").contains("up to 9223372036854775806"));
    assert!(refusal("orders..newest").contains("no view is called \"newest\""));
    assert!(refusal("orders..feed-").contains("no view is called"));
    assert!(refusal("orders..commit-1..best").contains("no mode is called \"best\""));
    assert!(refusal("orders..named-a..b").contains("label"));
    assert!(refusal("..feed").contains("before '..'"));
    assert!(refusal("or ders").contains("' '"));
    assert!(refusal(&"a".repeat(250)).contains("250"));
    assert_eq!(refusal(""), "the topic name is empty");
    assert_eq!(refusal("."), "the topic name \".\" is not allowed");
}

#[test]
fn topic_ids_of_views_are_stable_and_differ_from_random_ones() {
    let feed = Uuid::from_u128(0x1234_5678_9abc_4def_8012_3456_789a_bcde);
    let id = view("orders..commit-17").topic_id(&feed);
    assert_eq!(id.to_string(), "1620706a-924c-82f3-bc8e-c89ee848724e", "ids of views must never change");
    assert_eq!(id.get_version_num(), 8);
    assert_ne!(id, view("orders..commit-18").topic_id(&feed));
    assert_ne!(id, view("orders..commit-17").topic_id(&Uuid::from_u128(1)));
}

fn any_selector() -> impl Strategy<Value = (Selector, Mode)> {
    let number = prop_oneof![0..20_i64, 0..i64::MAX];
    let minute = -62_135_596_800_000_i64 / 60_000..250_000_000_000_000_i64 / 60_000;
    let commit = number.clone().prop_map(CommitNumber);
    let follows = prop_oneof![Just(Selector::Feed), commit.clone().prop_map(Selector::Since)];
    let bounded = prop_oneof![
        commit.clone().prop_map(Selector::Commit),
        commit.clone().prop_map(Selector::Upto),
        (commit.clone(), commit).prop_map(|(a, b)| Selector::Commits { first: a.min(b), last: a.max(b) }),
        (minute.clone(), 1..100_000_i64).prop_map(|(at, len)| Selector::Sealed {
            from: Timestamp(at * 60_000),
            to: Timestamp((at + len) * 60_000),
            spelling: TimeSpelling::FromTo,
        }),
        minute.prop_map(|at| {
            let hour = at.div_euclid(60) * 3_600_000;
            Selector::Sealed { from: Timestamp(hour), to: Timestamp(hour + 3_600_000), spelling: TimeSpelling::Hour }
        }),
    ];
    let alone = prop_oneof![
        number.prop_map(|n| Selector::Stream(StreamId(n))),
        "[a-zA-Z0-9_-]([.]?[a-zA-Z0-9_-]){0,20}".prop_map(Selector::Named),
        Just(Selector::CommitLog),
        Just(Selector::StreamLog),
        Just(Selector::Seal),
    ];
    let following_mode = prop_oneof![Just(Mode::Raw), Just(Mode::Dedup), Just(Mode::Latest), Just(Mode::Changed)];
    let any_mode = prop_oneof![following_mode.clone(), Just(Mode::Live)];
    prop_oneof![(follows, following_mode), (bounded, any_mode), (alone, Just(Mode::Raw))]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back((selector, mode) in any_selector(), feed in "[a-z]([.]?[a-z0-9_-]){0,20}[.]?") {
        let name = ViewName { feed, selector, mode };
        let text = name.to_string();
        prop_assert_eq!(parse_topic(&text), Ok(TopicName::View(name.clone())));
        prop_assert!(!name.topic_id(&Uuid::nil()).is_nil());
    }

    #[test]
    fn garbage_is_refused_or_canonical(name in "\\PC{0,40}|[a-z]{0,3}[.]{1,3}[a-z]{0,8}-?[0-9TZ-]{0,30}([.]{2}[a-z]{0,7})?") {
        if let Ok(TopicName::View(view)) = parse_topic(&name) {
            prop_assert_eq!(view.to_string(), name);
        }
    }
}

//! `streamstack subscription`.

use std::time::Duration;

use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, JoinGroupRequest, OffsetCommitRequest, TopicName, join_group_request,
};
use kafka_protocol::protocol::StrBytes;
use serde_json::{Value, json};
use streamstack::cli::client::Connection;

use crate::terminal::{Terminal, settled};

/// Three records in commit 0, two in commit 1, one that is not sealed; two partitions, all of it in the first.
fn with_orders() -> Terminal {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders", "--partitions", "2"]);
    for (input, seal) in [("1\n2\n3\n", true), ("4\n5\n", true), ("6\n", false)] {
        let produce = ["produce", "orders", "--partition", "0", "--seal"];
        let args = if seal { &produce[..] } else { &produce[..4] };
        assert_eq!(terminal.feed(args, input).code, 0);
    }
    terminal
}

fn reset(terminal: &Terminal, topic: &str, to: &[&str]) -> Vec<String> {
    let args = [&["subscription", "reset", "warehouse", topic, "--yes"], to].concat();
    settled(&terminal.out(&args))
}

/// The lines of a description as JSON, without the time behind, which must be there.
fn described(terminal: &Terminal) -> Vec<Value> {
    let lines = terminal.out(&["subscription", "describe", "warehouse", "-o", "json"]);
    let lag = |line: &str| {
        let mut lag: Value = serde_json::from_str(line).unwrap();
        let seconds = lag.as_object_mut().unwrap().remove("lag_seconds").unwrap().as_f64().unwrap();
        assert_eq!(lag["lag_records"] == json!(0), seconds == 0.0, "{line}");
        for (name, value) in [("state", json!("Empty")), ("protocol", json!("classic")), ("members", json!(0))] {
            assert_eq!(lag.as_object_mut().unwrap().remove(name), Some(value), "{line}");
        }
        for name in ["member", "client"] {
            assert_eq!(lag.as_object_mut().unwrap().remove(name), Some(Value::Null), "{line}");
        }
        lag
    };
    lines.lines().map(lag).collect()
}

fn lag(topic: &str, partition: i32, position: i64, end: i64, [offsets, records, commits]: [i64; 3]) -> Value {
    json!({
        "subscription": "warehouse", "topic": topic, "partition": partition, "position": position, "end": end,
        "lag_offsets": offsets, "lag_records": records, "lag_commits": commits, "metadata": "",
    })
}

#[test]
fn lag_is_told_in_offsets_records_commits_and_time() {
    let terminal = with_orders();
    reset(&terminal, "orders", &["--to-offset", "3"]);
    reset(&terminal, "orders..feed", &["--to-offset", "2", "--partition", "0"]);
    reset(&terminal, "orders..commits", &["--to-commit", "1"]);
    reset(&terminal, "orders..commits-0-1", &["--to-earliest", "--partition", "0"]);
    let expected = [
        lag("orders", 0, 3, 6, [3, 3, 1]),
        lag("orders", 1, 0, 0, [0, 0, 0]),
        lag("orders..commits", 0, 1, 2, [1, 1, 1]),
        lag("orders..commits-0-1", 0, 0, 5, [5, 5, 2]),
        lag("orders..feed", 0, 2, 5, [3, 3, 2]),
    ];
    assert_eq!(described(&terminal), expected);
    let table = settled(&terminal.out(&["subscription", "describe", "warehouse", "orders"]));
    assert_eq!(table[0], "warehouse is Empty: no members (classic protocol)");
    assert_eq!(table[1], "TOPIC PARTITION POSITION END OFFSETS RECORDS COMMITS BEHIND METADATA");
    assert!(table[2].starts_with("orders 0 3 6 3 3 1 ") && table[2].ends_with(" s -"), "{table:?}");
    assert_eq!(table[3..], ["orders 1 0 0 0 0 0 0.0 s -"]);
}

#[test]
fn whoever_has_read_all_is_behind_by_nothing() {
    let terminal = with_orders();
    for topic in ["orders", "orders..feed", "orders..commits"] {
        reset(&terminal, topic, &["--to-latest"]);
    }
    for lag in described(&terminal) {
        assert_eq!(lag["position"], lag["end"], "{lag}");
        for zero in ["lag_offsets", "lag_records", "lag_commits"] {
            assert_eq!(lag[zero], 0, "{lag}");
        }
    }
}

#[test]
fn deleted_records_are_no_records_to_be_read() {
    let terminal = Terminal::with(&["--override", "log.retention.check.interval.ms=50"]);
    terminal.run(&["feed", "create", "orders", "-c", "streamstack.retention.commits=1"]);
    reset(&terminal, "orders", &["--to-earliest"]);
    terminal.feed(&["produce", "orders", "--seal"], "1\n2\n3\n");
    terminal.feed(&["produce", "orders", "--seal"], "4\n5\n");
    // The oldest commit goes by itself.
    while !settled(&terminal.out(&["commits", "list", "orders"]))[1].contains("deleted") {}
    assert_eq!(described(&terminal), [lag("orders", 0, 0, 5, [5, 2, 1])]);
}

#[test]
fn a_reset_shows_its_plan_and_is_done_only_when_it_is_meant() {
    let terminal = with_orders();
    reset(&terminal, "orders", &["--to-offset", "2"]);
    let plan = ["TOPIC PARTITION FROM TO", "orders 0 2 6", "orders 1 0 0"];
    let args = ["subscription", "reset", "warehouse", "orders", "--to-latest"];
    let unsure = terminal.run(&args);
    assert_eq!((unsure.code, &settled(&unsure.out)[..]), (2, &plan.map(str::to_owned)[..]));
    assert!(unsure.errors.contains("nothing was changed: say --yes to do it"), "{}", unsure.errors);
    assert_eq!(settled(&terminal.out(&[&args[..], &["--dry-run"]].concat())), plan);
    assert_eq!(described(&terminal)[0]["position"], 2);
    let done = reset(&terminal, "orders", &["--to-latest"]);
    assert_eq!(done, [&plan[..], &["moved 2 positions"]].concat());
    assert_eq!(described(&terminal)[0]["position"], 6);
    let json = terminal.out(&[&args[..4], &["--to-earliest", "--partition", "0", "--dry-run", "-o", "json"]].concat());
    let expected = json!({
        "subscription": "warehouse", "topic": "orders", "partition": 0, "from": 6, "to": 0, "done": false,
    });
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), expected);
}

#[test]
fn a_plan_tells_what_is_not_there() {
    let terminal = with_orders();
    reset(&terminal, "orders", &["--to-offset", "2", "--partition", "0"]);
    let args = ["subscription", "reset", "warehouse", "orders", "--dry-run"];
    let plan = |to: &[&str]| settled(&terminal.out(&[&args[..], to].concat()));
    let expected = ["TOPIC PARTITION FROM TO NOTE", "orders 0 2 5", "orders 1 - 0 not 5, which is past the end"];
    assert_eq!(plan(&["--to-offset", "5"]), expected);
    let expected = ["TOPIC PARTITION FROM TO NOTE", "orders 0 2 0 not -7, which is before the start"];
    assert_eq!(plan(&["--shift-by", "-9", "--partition", "0"]), expected);
    let json = terminal.out(&[&args[..], &["--to-offset", "9", "--partition", "0", "-o", "json"]].concat());
    let line: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&line["to"], &line["asked"]), (&json!(6), &json!(9)));
}

#[test]
fn a_reset_goes_to_every_kind_of_place() {
    let terminal = with_orders();
    let to = |topic: &str, to: &[&str]| {
        let line = reset(&terminal, topic, &[to, &["--partition", "0"]].concat())[1].clone();
        line.split_whitespace().nth(3).unwrap().parse::<i64>().unwrap()
    };
    assert_eq!(to("orders", &["--to-commit", "1"]), 3);
    assert_eq!(to("orders", &["--to-commit", "2"]), 5, "what no commit has yet begins there");
    assert_eq!(to("orders", &["--shift-by", "-3"]), 2);
    assert_eq!(to("orders", &["--shift-by", "100"]), 6);
    assert_eq!(to("orders", &["--to-datetime", "2020-01-01"]), 0);
    assert_eq!(to("orders", &["--to-datetime", "2099-01-01T10:00"]), 6);
    assert_eq!(to("orders..feed", &["--to-commit", "1"]), 3);
    assert_eq!(to("orders..feed", &["--to-commit", "2"]), 5);
    assert_eq!(to("orders..feed", &["--to-datetime", "2020-01-01T00:00Z"]), 0);
    assert_eq!(to("orders..commits", &["--to-commit", "1"]), 1);
    assert_eq!(to("orders..commits", &["--to-offset", "9"]), 2, "no further than it reaches");
}

#[test]
fn what_cannot_be_moved_is_told() {
    let terminal = with_orders();
    let refusal = |args: &[&str], code: i32, what: &str| {
        let (found, errors) = terminal.refusal(&[&["subscription", "reset", "warehouse"], args].concat());
        assert_eq!(found, code, "{args:?}: {errors}");
        assert!(errors.contains(what), "{args:?}: {errors}");
    };
    refusal(&["orders"], 2, "--to-earliest");
    refusal(&["orders", "--to-earliest", "--to-latest"], 2, "cannot be used with");
    refusal(&["orders", "--to-datetime", "soon"], 2, "is no time in UTC");
    refusal(&["orders", "--shift-by", "1", "--yes"], 1, "there is no position in orders-0 that could be shifted");
    refusal(&["orders", "--to-latest", "--partition", "2", "--yes"], 1, "orders has no partition 2: it has 2");
    refusal(&["nothing", "--to-latest", "--yes"], 1, "check the name");
    refusal(&["orders..streams", "--to-commit", "1", "--yes"], 2, "have nothing to do with commits");
}

#[test]
fn subscriptions_are_listed_with_what_they_are_behind() {
    let terminal = with_orders();
    let none = terminal.run(&["subscription", "list"]);
    assert_eq!((none.code, &*none.out, &*none.errors), (0, "", "there are no such subscriptions\n"));
    reset(&terminal, "orders", &["--to-offset", "4"]);
    reset(&terminal, "orders..commits", &["--to-earliest"]);
    let table = settled(&terminal.out(&["subscription", "list", "ware"]));
    let expected = [
        "SUBSCRIPTION STATE KIND POSITIONS RECORDS BEHIND COMMITS BEHIND TOPICS",
        "warehouse Empty classic 3 2 2 orders, orders..commits",
    ];
    assert_eq!(table, expected);
    let json = terminal.out(&["subscription", "list", "-o", "json"]);
    let expected = json!({
        "subscription": "warehouse", "state": "Empty", "kind": "classic", "topics": ["orders", "orders..commits"],
        "positions": 3, "lag_records": 2, "lag_commits": 2, "lag_events": null,
    });
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), expected);
}

#[test]
fn a_subscription_or_its_positions_in_a_topic_are_deleted_when_it_is_meant() {
    let terminal = with_orders();
    reset(&terminal, "orders", &["--to-earliest"]);
    reset(&terminal, "orders..feed", &["--to-earliest"]);
    let delete = ["subscription", "delete", "warehouse"];
    let unsure = terminal.run(&delete);
    assert_eq!((unsure.code, &*unsure.out), (2, "this deletes warehouse with 4 positions\n"));
    let in_topic = [&delete[..], &["--topic", "orders", "--yes"]].concat();
    assert_eq!(terminal.out(&in_topic), "deleted 2 positions of warehouse in orders\n");
    assert_eq!(terminal.refusal(&in_topic), (1, "error: warehouse has no positions in orders\n".to_owned()));
    assert_eq!(terminal.out(&[&delete[..], &["--yes"]].concat()), "deleted warehouse with 2 positions\n");
    let gone = "error: there is no subscription warehouse: `streamstack subscription list` shows which there are\n";
    assert_eq!(terminal.refusal(&["subscription", "describe", "warehouse"]), (1, gone.to_owned()));
    assert_eq!(terminal.refusal(&[&delete[..], &["--yes"]].concat()), (1, gone.to_owned()));
}

fn connect(terminal: &Terminal) -> Connection {
    let patience = Duration::from_secs(10);
    Connection::open(&terminal.serving.address.to_string(), patience, patience).unwrap()
}

fn name(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

#[test]
fn a_description_tells_who_reads_what() {
    let terminal = with_orders();
    let mut member = connect(&terminal);
    let join = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(name("warehouse")))
        .with_member_id(name("m-1"))
        .with_instance_id(Some(name("loader-1")))
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![TopicName(name("orders"))]))
        .with_topic_partitions(Some(Vec::new()));
    assert_eq!(member.ask(1, &join).unwrap().error_code, 0);
    let described = terminal.run(&["subscription", "describe", "warehouse"]);
    // An address looks like a time to whoever blanks those out.
    let expected = [
        "warehouse is Stable: 1 member (consumer protocol, assignor uniform)",
        "MEMBER INSTANCE CLIENT HOST READS",
        "m-1 loader-1 streamstack TIME orders 0-1",
    ];
    assert_eq!(settled(&described.out), expected);
    assert_eq!((described.code, &*described.errors), (0, "warehouse has no positions there yet\n"));
    let position = OffsetCommitRequestPartition::default().with_partition_index(1);
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(name("orders")));
    let commit = OffsetCommitRequest::default()
        .with_group_id(GroupId(name("warehouse")))
        .with_member_id(name("m-1"))
        .with_group_instance_id(Some(name("loader-1")))
        .with_generation_id_or_member_epoch(1)
        .with_topics(vec![topic.with_partitions(vec![position])]);
    assert_eq!(member.ask(9, &commit).unwrap().topics[0].partitions[0].error_code, 0);
    let line: Value =
        serde_json::from_str(&terminal.out(&["subscription", "describe", "warehouse", "-o", "json"])).unwrap();
    assert_eq!(
        (&line["state"], &line["protocol"], &line["members"]),
        (&json!("Stable"), &json!("consumer"), &json!(1))
    );
    assert_eq!((&line["partition"], &line["member"]), (&json!(1), &json!("m-1")));
}

#[test]
fn members_of_the_classic_protocol_are_told_too() {
    let terminal = with_orders();
    let mut member = connect(&terminal);
    let protocol = join_group_request::JoinGroupRequestProtocol::default().with_name(name("range"));
    let join = JoinGroupRequest::default()
        .with_group_id(GroupId(name("old")))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(10_000)
        .with_group_instance_id(Some(name("i")))
        .with_protocol_type(name("consumer"))
        .with_protocols(vec![protocol]);
    assert_eq!(member.ask(9, &join).unwrap().error_code, 0);
    let described = settled(&terminal.run(&["subscription", "describe", "old"]).out);
    assert_eq!(described[0], "old is CompletingRebalance: 1 member (classic protocol)");
    assert!(described[2].ends_with(" i streamstack TIME -"), "{described:?}");
}

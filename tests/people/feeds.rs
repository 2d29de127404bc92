//! `streamstack feed`.

use serde_json::{Value, json};

use crate::terminal::{Terminal, settled};

#[test]
fn feeds_are_listed_with_what_they_hold() {
    let terminal = Terminal::new();
    let none = terminal.run(&["feed", "list"]);
    assert_eq!((none.code, none.out.as_str(), none.errors.as_str()), (0, "", "there are no such feeds\n"));
    assert_eq!(terminal.out(&["feed", "create", "orders", "--partitions", "2"]), "made orders: 2 partitions\n");
    terminal.feed(&["produce", "orders", "--seal", "noon"], "1\n2\n");
    terminal.feed(&["produce", "visits"], "1\n");
    let table = settled(&terminal.out(&["feed", "list"]));
    assert_eq!(table[0], "FEED PARTITIONS RECORDS BYTES COMMITS LAST COMMIT (UTC) LABEL");
    assert!(table[1].starts_with("orders 2 2 ") && table[1].ends_with(" 1 DATE TIME noon"), "{table:?}");
    assert!(table[2].starts_with("visits 1 1 ") && table[2].ends_with(" 0 - -"), "{table:?}");
    let listed = terminal.out(&["feed", "list", "vis", "-o", "json"]);
    let visits: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&visits["feed"], &visits["commits"], &visits["last_commit"]),
        (&"visits".into(), &0.into(), &Value::Null)
    );
}

#[test]
fn describe_tells_configs_that_were_set_and_what_durability_means() {
    let terminal = Terminal::with(&["--override", "streamstack.durability=os"]);
    let create = ["feed", "create", "orders", "-p", "2", "-c", "segment.bytes=2000000", "-o", "json"];
    assert_eq!(terminal.out(&create), "{\"feed\":\"orders\",\"partitions\":2}\n");
    terminal.feed(&["produce", "orders", "--partition", "1", "--seal", "noon"], "1\n2\n");
    let text = settled(&terminal.out(&["feed", "describe", "orders"]));
    assert_eq!(text[0], "orders");
    for line in [
        "records 2",
        "commits 1",
        "first commit 0, sealed DATE TIME UTC, label noon",
        "last commit 0, sealed DATE TIME UTC, label noon",
        "durability os: an acknowledged record survives a crash of the process, not power loss",
        "configs set segment.bytes=2000000 (default 1073741824)",
        "PARTITION START END RECORDS BYTES",
    ] {
        assert!(text.iter().any(|found| found == line), "{line} is not in {text:#?}");
    }
    let described: Value = serde_json::from_str(&terminal.out(&["feed", "describe", "orders", "-o", "json"])).unwrap();
    assert_eq!(described["configs"], json!({ "segment.bytes": "2000000" }));
    assert_eq!((&described["durability"], &described["partitions"][1]["end"]), (&"os".into(), &2.into()));
}

#[test]
fn configs_are_set_and_unset_and_partitions_added() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let set = terminal.out(&["feed", "configure", "orders", "streamstack.seal.ms=1000", "segment.ms=9000"]);
    let lines = settled(&set);
    assert_eq!(lines[0], "orders: 1 partition");
    assert!(lines[1].starts_with("segment.ms=9000") && lines[2].starts_with("streamstack.seal.ms=1000"), "{set}");
    let unset = ["feed", "configure", "orders", "--unset", "segment.ms", "--partitions", "3", "-o", "json"];
    let expected = json!({ "feed": "orders", "partitions": 3, "configs": { "streamstack.seal.ms": "1000" } });
    assert_eq!(serde_json::from_str::<Value>(&terminal.out(&unset)).unwrap(), expected);
}

#[test]
fn a_feed_is_deleted_only_when_it_is_meant() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let (code, errors) = terminal.refusal(&["feed", "delete", "orders"]);
    assert_eq!(code, 2);
    assert!(errors.contains("this deletes orders with all its records and commits, for ever: say --yes"), "{errors}");
    assert_eq!(terminal.out(&["feed", "delete", "orders", "--yes"]), "deleted orders\n");
    let (code, errors) = terminal.refusal(&["feed", "delete", "orders", "--yes"]);
    assert_eq!(code, 1);
    assert!(errors.starts_with("error: BROKER refuses to delete orders: UnknownTopicOrPartition"), "{errors}");
}

#[test]
fn refusals_are_the_brokers() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let refusal = |args: &[&str], code: i32, what: &str| {
        let (found, errors) = terminal.refusal(args);
        assert_eq!(found, code, "{args:?}: {errors}");
        assert!(errors.contains(what), "{args:?}: {errors}");
    };
    refusal(&["feed", "create", "orders"], 1, "TopicAlreadyExists");
    refusal(&["feed", "create", "a..b"], 1, "it holds '..', which separates a feed from a view of it");
    refusal(&["feed", "create", "a", "-c", "nothing=1"], 1, "Unknown topic config name: nothing");
    refusal(&["feed", "create", "a", "-p", "0"], 2, "invalid value '0'");
    refusal(&["feed", "configure", "orders", "segment.ms=x"], 1, "segment.ms");
    refusal(&["feed", "configure", "orders", "segment.ms=1", "--unset", "segment.ms"], 2, "segment.ms stands twice");
    refusal(&["feed", "configure", "orders", "--partitions", "1"], 1, "refuses to give orders 1 partitions");
    refusal(&["feed", "describe", "nothing"], 1, "check the name, or create the topic first");
    refusal(&["feed", "describe", "orders..feed"], 2, "orders..feed is a view: name the feed alone");
}

#[test]
fn a_subscription_that_is_to_keep_history_and_is_not_there_is_told() {
    let terminal = Terminal::new();
    let missing = "there is no subscription nobody yet: nothing is kept for it until it has a position\n";
    let made = terminal.run(&["feed", "create", "orders", "-c", "streamstack.retain=nobody"]);
    assert_eq!((made.code, &*made.out, &*made.errors), (0, "made orders: 1 partition\n", missing));
    terminal.out(&["subscription", "reset", "warehouse", "orders", "--to-earliest", "--yes"]);
    let configured = terminal.run(&["feed", "configure", "orders", "streamstack.retain=warehouse, nobody"]);
    assert_eq!((configured.code, &*configured.errors), (0, missing));
    terminal.out(&["feed", "configure", "orders", "streamstack.retain=warehouse"]);
}

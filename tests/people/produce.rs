//! `streamstack produce`.

use serde_json::Value;

use crate::terminal::{Terminal, finish};

/// The summary without what differs from run to run.
fn summary(text: &str) -> Vec<String> {
    let cut = |line: &str| match line.split_once(" in ") {
        Some((counts, _)) => counts.to_owned(),
        None => line.trim().to_owned(),
    };
    text.lines().map(cut).collect()
}

#[test]
fn lines_become_records_and_the_summary_says_where_they_stand() {
    let terminal = Terminal::new();
    let first = terminal.feed(&["produce", "orders", "--key-separator", ":"], "a:1\nb:2\n");
    assert_eq!((first.code, first.errors.as_str()), (0, "topic orders is new; partitions: 1\n"));
    assert_eq!(summary(&first.out), ["orders: 2 records, 4 B", "partition 0: 2 records, offsets 0 to 1"]);
    let second = terminal.feed(&["produce", "orders", "-o", "json", "--header", "from=shop", "-z", "zstd"], "three");
    let told: Value = serde_json::from_str(&second.out).unwrap();
    assert_eq!((&told["records"], &told["bytes"], &told["commit"]), (&1.into(), &13.into(), &Value::Null));
    assert_eq!(told["partitions"].to_string(), r#"[{"partition":0,"records":1,"first_offset":2,"last_offset":2}]"#);
    assert_eq!(terminal.out(&["read", "orders", "-k", "="]), "a=1\nb=2\n=three\n");
}

#[test]
fn a_seal_makes_a_commit_of_all_before_it() {
    let terminal = Terminal::new();
    let by_header = terminal.feed(&["produce", "orders", "--seal", "morning"], "1\n2\n3\n");
    assert_eq!(summary(&by_header.out).last().unwrap(), "sealed as commit 0 with label \"morning\": 3 records");
    let with_metadata = ["produce", "orders", "--seal=noon", "--metadata", "by=hand", "-o", "json"];
    let by_record = terminal.feed(&with_metadata, "4\n");
    let told: Value = serde_json::from_str(&by_record.out).unwrap();
    assert_eq!(told["commit"].to_string(), r#"{"commit":1,"label":"noon","records":1}"#);
    let empty = terminal.feed(&["produce", "orders", "--seal"], "");
    assert_eq!(summary(&empty.out), ["orders: 0 records, 0 B", "sealed as commit 2: 0 records"]);
    assert_eq!(terminal.out(&["read", "orders", "--commit", "0"]), "1\n2\n3\n");
    assert_eq!(terminal.out(&["read", "orders", "--commits", "1-2"]), "4\n");
}

#[test]
fn json_goes_through_a_pipe_unchanged() {
    let terminal = Terminal::new();
    let lines = concat!(
        r#"{"key":"k","value":"/wA=","value_encoding":"base64","headers":[{"key":"h","value":"1"},{"key":"h","value":null}]}"#,
        "\n",
        r#"{"key":null,"value":null}"#,
        "\n"
    );
    assert_eq!(terminal.feed(&["produce", "a", "--input", "json"], lines).code, 0);
    let read = terminal.out(&["read", "a", "-o", "json"]);
    assert_eq!(terminal.feed(&["produce", "b", "--input", "json"], &read).code, 0);
    let without_place = |text: &str| -> Vec<Value> {
        let mut objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for object in &mut objects {
            object["topic"] = Value::Null;
            object["timestamp"] = Value::Null;
        }
        objects
    };
    assert_eq!(without_place(&read), without_place(&terminal.out(&["read", "b", "-o", "json"])));
    assert!(read.starts_with(r#"{"topic":"a","partition":0,"offset":0,"timestamp":"#), "{read}");
    let first: Value = serde_json::from_str(read.lines().next().unwrap()).unwrap();
    assert_eq!((&first["value"], &first["value_encoding"]), (&"/wA=".into(), &"base64".into()));
}

#[test]
fn keys_and_partitions_choose_where_records_go() {
    let terminal = Terminal::with(&["--override", "num.partitions=3"]);
    let lines: String = (0..30).map(|n| format!("key-{n}:{n}\n")).collect();
    terminal.feed(&["produce", "orders", "-k", ":"], &lines);
    let read = terminal.out(&["read", "orders", "-o", "json"]);
    let objects: Vec<Value> = read.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let partition_of = |key: &str| objects.iter().find(|object| object["key"] == key).unwrap()["partition"].clone();
    // murmur2 of the key, modulo 3, as Kafka's producer has it.
    assert_eq!(["key-0", "key-1", "key-2"].map(partition_of), [1, 0, 2].map(Value::from));
    let fixed = terminal.feed(&["produce", "orders", "-k", ":", "--partition", "2"], "key-0:x\n");
    assert!(fixed.out.contains("partition 2: 1 record"), "{}", fixed.out);
    let none = terminal.feed(&["produce", "orders", "--partition", "3"], "x");
    assert_eq!((none.code, none.errors.as_str()), (1, "error: orders has no partition 3: it has 3, counted from 0\n"));
}

#[test]
fn what_cannot_be_sent_is_told_with_its_line() {
    let terminal = Terminal::new();
    let ran = terminal.feed(&["produce", "orders", "-k", ":"], "a:1\nb\nc:3\n");
    assert_eq!(ran.code, 1);
    assert!(ran.errors.ends_with("error: line 2 of the input: there is no \":\" between key and value\n"), "{ran:?}");
    // What stands before it was sent, and the summary says so.
    assert_eq!(summary(&ran.out)[0], "orders: 1 record, 2 B");
    let view = terminal.feed(&["produce", "orders..feed"], "x");
    assert_eq!(view.code, 1);
    assert!(view.errors.contains("orders..feed is a view and read-only; produce to orders"), "{view:?}");
    let nothing = terminal.feed(&["produce", "nothing..seal"], "x");
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
    assert!(nothing.errors.contains("no feed \"nothing\""), "{nothing:?}");
    let large = terminal.feed(&["produce", "orders"], vec![b'x'; 2_000_000]);
    assert_eq!(large.code, 1);
    assert!(large.errors.contains("max.message.bytes is 1048588"), "{large:?}");
}

#[test]
fn wrong_options_end_with_two() {
    let terminal = Terminal::new();
    for args in [
        &["produce"][..],
        &["produce", "orders", "--acks", "2"],
        &["produce", "orders", "--header", "x"],
        &["produce", "orders", "--metadata", "a=1"],
        &["produce", "orders", "--seal", "--metadata", "x"],
        &["produce", "orders", "--acks", "0", "--seal"],
        &["produce", "orders", "--input", "json", "-k", ":"],
        &["produce", "orders", "--timeout", "10"],
    ] {
        let (code, errors) = terminal.refusal(args);
        assert_eq!(code, 2, "{args:?}: {errors}");
        assert!(errors.starts_with("error: "), "{args:?}: {errors}");
    }
}

#[test]
fn without_a_broker_the_command_says_where_it_looked() {
    let mut command = crate::serving::program(&["produce", "orders", "-b", "127.0.0.1:1", "--timeout", "200ms"]);
    let ran = finish(&mut command, b"x");
    assert_eq!(ran.code, 1);
    assert!(ran.errors.starts_with("error: no broker at 127.0.0.1:1: "), "{ran:?}");
}

#[test]
fn a_file_and_no_answers() {
    let terminal = Terminal::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    std::fs::write(&file, "a\nb\n").unwrap();
    let ran = terminal.run(&["produce", "orders", "--file", file.to_str().unwrap(), "--acks", "0"]);
    assert_eq!(summary(&ran.out)[1], "partition 0: 2 records, offsets not told");
    let (code, errors) = terminal.refusal(&["produce", "orders", "--file", "no/such"]);
    assert_eq!(code, 1);
    assert!(errors.starts_with("error: cannot read no/such: "), "{errors}");
}

#[test]
fn a_topic_that_no_broker_makes_by_itself_is_told_soon() {
    let terminal = Terminal::with(&["--override", "auto.create.topics.enable=false"]);
    let begun = std::time::Instant::now();
    let told = "error: there is no topic nothing, and the broker makes none by itself: `streamstack feed create nothing` does\n";
    assert_eq!(terminal.refusal(&["produce", "nothing", "--seal", "noon"]), (1, told.to_owned()));
    assert!(begun.elapsed().as_secs() < 8, "{:?}", begun.elapsed());
}

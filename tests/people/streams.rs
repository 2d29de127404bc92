//! `streamstack stream`.

use serde_json::Value;
use streamstack::batch::NewRecord;
use streamstack::cli::client::Client;

use crate::terminal::{Terminal, settled};

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_stream_is_open_until_it_is_sealed() {
    let terminal = Terminal::with(&["--override", "num.partitions=2"]);
    terminal.feed(&["produce", "orders", "-k", ":"], "a:1\nb:2\nc:3\n");
    let open = json(&terminal.out(&["stream", "list", "orders", "-o", "json"])).pop().unwrap();
    assert_eq!((&open["state"], &open["records"], &open["commit"]), (&"open".into(), &3.into(), &Value::Null));
    let sealed = terminal.out(&["stream", "seal", "orders", "--label", "noon", "--metadata", r#"{"n":1}"#]);
    assert_eq!(sealed, "orders sealed as commit 0 with label \"noon\": 3 records\n");
    let table = settled(&terminal.out(&["stream", "list", "orders"]));
    assert_eq!(table[0], "STREAM STATE OPENED (UTC) AGE RECORDS BYTES COMMIT REASON LABEL TRANSACTION HELD BACK");
    assert!(table[1].starts_with("0 sealed DATE TIME ") && table[1].ends_with(" 0 control noon - -"), "{table:?}");
    let commit = &json(&terminal.out(&["commits", "show", "orders", "-o", "json"]))[0];
    assert_eq!((&commit["metadata"]["n"], &commit["reason"]), (&1.into(), &"control".into()));
    let empty = json(&terminal.out(&["stream", "seal", "orders", "-o", "json"]));
    assert_eq!((&empty[0]["commit"], &empty[0]["records"]), (&1.into(), &0.into()));
}

#[test]
fn show_tells_how_to_read_a_stream() {
    let terminal = Terminal::new();
    terminal.feed(&["produce", "orders"], "1\n2\n");
    let shown = terminal.out(&["stream", "show", "orders"]);
    assert!(shown.starts_with("orders stream 0\n  state        open\n"), "{shown}");
    assert!(shown.ends_with("  to read it   streamstack read orders..stream-0\n"), "{shown}");
    assert_eq!(terminal.out(&["read", "orders..stream-0"]), "1\n2\n");
    // Only what is sealed is shown to who wants it committed.
    assert_eq!(terminal.out(&["read", "orders..stream-0", "--isolation", "read_committed"]), "");
}

#[test]
fn the_list_is_cut_at_past_streams_only() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    (0..4).for_each(|_| drop(terminal.out(&["stream", "seal", "orders"])));
    terminal.feed(&["produce", "orders"], "open\n");
    let numbers = |args: &[&str]| -> Vec<Value> {
        let args = [&["stream", "list", "orders", "-o", "json"], args].concat();
        json(&terminal.out(&args)).into_iter().map(|stream| stream["stream"].clone()).collect()
    };
    assert_eq!(numbers(&["--last", "1"]), [3, 4]);
    assert_eq!(numbers(&["--all"]), [0, 1, 2, 3, 4]);
}

#[test]
fn what_cannot_be_sealed_or_shown_is_told() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let none = "error: orders has had no stream yet: nothing was written\n";
    assert_eq!(terminal.refusal(&["stream", "show", "orders"]), (1, none.to_owned()));
    let missing = "error: orders has had no stream 7\n";
    assert_eq!(terminal.refusal(&["stream", "show", "orders", "7"]), (1, missing.to_owned()));
    assert_eq!(terminal.refusal(&["stream", "seal", "orders", "--metadata", "x"]).0, 2);
    let (code, errors) = terminal.refusal(&["stream", "seal", "nothing"]);
    assert_eq!(code, 1);
    assert!(errors.contains("no feed \"nothing\""), "{errors}");
    let (code, errors) = terminal.refusal(&["stream", "seal", "orders", "--label", &"x".repeat(2_000)]);
    assert_eq!(code, 1);
    assert!(errors.contains("2000 bytes long, and 1024 is the most for a label"), "{errors}");
}

#[test]
fn a_label_that_names_no_view_is_taken_and_told() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let sealed = terminal.run(&["stream", "seal", "orders", "--label", "14:00 poll"]);
    assert_eq!(sealed.out, "orders sealed as commit 0 with label \"14:00 poll\": 0 records\n");
    let note = "the label cannot be written in the name of a view; the commit can be read as orders..commit-0\n";
    assert_eq!((sealed.code, &*sealed.errors), (0, note));
    terminal.out(&["stream", "seal", "orders", "--label", "noon"]);
    terminal.out(&["stream", "seal", "orders", "--label", "a..b", "-o", "json"]);
    let listed = terminal.run(&["stream", "list", "orders"]);
    let note = "label \"14:00 poll\" and 1 more cannot be written in the name of a view; such a stream can be read as \
                orders..stream-0\n";
    assert_eq!((listed.code, &*listed.errors), (0, note));
    assert_eq!(terminal.out(&["read", "orders..named-noon"]), "");
}

#[test]
fn an_open_transaction_is_seen_with_what_it_holds_back_and_can_be_aborted() {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders"]);
    let mut client = Client::connect(&terminal.serving.address.to_string()).unwrap();
    let mut producer = client.open_transactional("loader").unwrap();
    let mut batch = producer.batch("orders", 0);
    (0..2).for_each(|_| batch.push(NewRecord { value: Some(b"v"), ..NewRecord::default() }));
    producer.send(&mut client, "orders", 0, batch).unwrap();
    terminal.feed(&["produce", "orders"], "after\n");
    let open = &json(&terminal.out(&["stream", "list", "orders", "-o", "json"]))[0];
    assert_eq!((&open["state"], &open["transactional_id"]), (&"open".into(), &"loader".into()));
    assert_eq!((&open["records"], &open["held_back"]), (&2.into(), &3.into()));
    assert_eq!(terminal.out(&["read", "orders", "--isolation", "read_committed"]), "");

    let plan = terminal.out(&["stream", "abort", "orders", "0", "--dry-run"]);
    let words = "aborts the transaction of loader (producer 0, epoch 0), open for ";
    assert!(plan.contains(words) && plan.ends_with(", on orders (1 partition)\n"), "{plan}");
    let unsure = terminal.run(&["stream", "abort", "orders", "0"]);
    assert!(unsure.code == 2 && unsure.errors.contains("nothing was changed: say --yes to do it"), "{unsure:?}");
    let (code, errors) = terminal.refusal(&["stream", "abort", "orders", "1", "--yes"]);
    assert!(code == 1 && errors.contains("stream 1 of orders is part of no transaction"), "{errors}");

    let done = terminal.out(&["stream", "abort", "orders", "0", "--yes"]);
    assert!(done.starts_with("aborted the transaction of loader"), "{done}");
    let ended = &json(&terminal.out(&["stream", "list", "orders", "-o", "json"]))[0];
    assert_eq!((&ended["state"], &ended["held_back"]), (&"aborted".into(), &Value::Null));
    assert_eq!(terminal.out(&["read", "orders", "--isolation", "read_committed"]), "after\n");
    assert!(producer.end(&mut client, true).is_err(), "its producer is fenced");
    let (code, errors) = terminal.refusal(&["stream", "abort", "orders", "0", "--yes"]);
    assert!(code == 1 && errors.contains("stream 0 of orders is aborted, and cannot be aborted"), "{errors}");
}

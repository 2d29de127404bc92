//! `streamstack commits`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::terminal::{Terminal, settled};

fn with_two_commits() -> Terminal {
    let terminal = Terminal::new();
    terminal.run(&["feed", "create", "orders", "--partitions", "2"]);
    let first = ["produce", "orders", "--partition", "1", "--seal", "first", "--metadata", "by=hand"];
    assert_eq!(terminal.feed(&first, "1\n2\n3\n").code, 0);
    assert_eq!(terminal.feed(&["produce", "orders", "--partition", "0", "--seal"], "4\n").code, 0);
    terminal
}

#[test]
fn a_list_has_a_line_for_each_commit() {
    let terminal = with_two_commits();
    let list = settled(&terminal.out(&["commits", "list", "orders"]));
    let heads = "COMMIT SEALED (UTC) RECORDS BYTES REASON STATE LABEL METADATA";
    assert_eq!(list[0], heads);
    assert_eq!(list[1], r#"0 DATE TIME 3 SIZE B control live first {"by":"hand"}"#);
    assert_eq!(list[2], "1 DATE TIME 1 SIZE B header live - -");
    assert_eq!(settled(&terminal.out(&["commits", "list", "orders", "1"]))[1..], list[2..]);
    assert_eq!(settled(&terminal.out(&["commits", "list", "orders", "0-1"])), list);
    assert_eq!(settled(&terminal.out(&["commits", "list", "orders", "--last", "1"]))[1..], list[2..]);
}

#[test]
fn json_is_the_manifest_itself() {
    let terminal = with_two_commits();
    let list = terminal.out(&["commits", "list", "orders", "-o", "json"]);
    assert_eq!(list, terminal.out(&["read", "orders..commits"]));
    assert_eq!(terminal.out(&["commits", "show", "orders", "0-", "-o", "json"]), list);
    let manifest: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!((&manifest["label"], &manifest["metadata"]["by"]), (&"first".into(), &"hand".into()));
}

#[test]
fn show_tells_all_of_a_commit() {
    let terminal = with_two_commits();
    let shown = settled(&terminal.out(&["commits", "show", "orders", "0"]));
    let expected = [
        "orders commit 0",
        "label first",
        "stream 0",
        "kind implicit",
        "opened DATE TIME UTC",
        "sealed DATE TIME UTC, by control",
        "records 3, 0 of them tombstones",
        "bytes SIZE B",
        "state live",
        r#"metadata {"by":"hand"}"#,
        "PARTITION RECORDS BYTES FEED OFFSETS LOG OFFSETS",
        "1 3 SIZE B 0 to 2 0 to 2",
    ];
    assert_eq!(shown, expected);
    let newest = terminal.out(&["commits", "show", "orders"]);
    assert!(newest.starts_with("orders commit 1\n"), "{newest}");
}

#[test]
fn what_is_not_there_is_told() {
    let terminal = with_two_commits();
    terminal.run(&["feed", "create", "empty"]);
    let refusal = |args: &[&str]| terminal.refusal(args);
    let none = terminal.run(&["commits", "list", "empty"]);
    assert_eq!((none.code, none.out.as_str(), none.errors.as_str()), (0, "", "empty has no commits yet\n"));
    assert_eq!(refusal(&["commits", "show", "empty"]), (1, "error: empty has no commits yet\n".to_owned()));
    let missing = "error: orders has no commit 2: its commits are 0 to 1\n";
    assert_eq!(refusal(&["commits", "show", "orders", "1-2"]), (1, missing.to_owned()));
    assert_eq!(refusal(&["commits", "list", "orders", "2"]), (1, missing.to_owned()));
    assert_eq!(refusal(&["commits", "list", "orders", "2-1"]).0, 2);
    assert_eq!(refusal(&["commits", "list", "orders", "x"]).0, 2);
    let (code, errors) = refusal(&["commits", "list", "nothing"]);
    assert_eq!(code, 1);
    assert!(errors.contains("no feed \"nothing\"; check the name, or create the topic first"), "{errors}");
}

#[test]
fn follow_shows_commits_as_they_are_sealed() {
    let terminal = with_two_commits();
    let mut command = terminal.command(&["commits", "list", "orders", "--last", "1", "--follow", "-o", "json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut number = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap()["commit"].clone();
    assert_eq!(number(), 1);
    terminal.out(&["stream", "seal", "orders"]);
    assert_eq!(number(), 2);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

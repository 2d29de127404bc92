//! `streamstack read`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::{Terminal, settled};

fn with_three_commits() -> Terminal {
    let terminal = Terminal::new();
    for (number, label) in ["zero", "one", "two"].iter().enumerate() {
        let lines = format!("k{number}:v{number}\nk:{number}\n");
        assert_eq!(terminal.feed(&["produce", "orders", "-k", ":", "--seal", label], lines).code, 0);
    }
    terminal
}

#[test]
fn values_go_into_a_pipe_and_a_table_to_a_person() {
    let terminal = with_three_commits();
    assert_eq!(terminal.out(&["read", "orders"]), "v0\n0\nv1\n1\nv2\n2\n");
    let table = settled(&terminal.out(&["read", "orders", "-o", "table", "--limit", "2"]));
    assert_eq!(table, ["PARTITION OFFSET TIME (UTC) KEY VALUE", "0 0 DATE TIME k0 v0", "0 1 DATE TIME k 0"]);
}

#[test]
fn parts_are_named_by_options_or_by_the_views_name() {
    let terminal = with_three_commits();
    assert_eq!(terminal.out(&["read", "orders", "--commit", "1"]), "v1\n1\n");
    assert_eq!(terminal.out(&["read", "orders", "--commits", "0-1"]), "v0\n0\nv1\n1\n");
    assert_eq!(terminal.out(&["read", "orders", "--since", "2"]), "v2\n2\n");
    assert_eq!(terminal.out(&["read", "orders..named-one"]), "v1\n1\n");
    assert_eq!(terminal.out(&["read", "orders..commits"]).lines().count(), 3);
}

#[test]
fn from_and_to_are_offsets_or_times() {
    let terminal = with_three_commits();
    assert_eq!(terminal.out(&["read", "orders", "--from", "1", "--to", "3"]), "0\nv1\n");
    assert_eq!(terminal.out(&["read", "orders", "--from", "-2"]), "v2\n2\n");
    assert_eq!(terminal.out(&["read", "orders", "--from", "end"]), "");
    assert_eq!(terminal.out(&["read", "orders", "--from", "2001-01-01", "--limit", "1"]), "v0\n");
    assert_eq!(terminal.out(&["read", "orders", "--to", "2001-01-01T00:00Z"]), "");
    assert_eq!(terminal.out(&["read", "orders", "--from", "2201-01-01"]), "");
}

#[test]
fn refusals_say_what_the_broker_knows() {
    let terminal = with_three_commits();
    let refusal = |args: &[&str], code: i32, what: &str| {
        let (found, errors) = terminal.refusal(args);
        assert_eq!(found, code, "{args:?}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(what), "{args:?}: {errors}");
    };
    refusal(&["read", "nothing"], 1, "check the name, or create the topic first");
    refusal(&["read", "orders..live"], 1, "live is for names whose end is fixed: write ..upto-N..live");
    refusal(&["read", "orders..upto-9..latest"], 1, "commit 9 is not sealed yet: the feed has 3 commits");
    refusal(&["read", "orders..newest"], 1, "no view is called \"newest\"");
    refusal(&["read", "orders", "--commit", "9"], 1, "commit 9 is not sealed yet: the feed has 3 commits");
    refusal(&["read", "orders", "--from", "7"], 1, "orders-0 has no offset 7: it starts at 0 and ends before 6");
    refusal(&["read", "orders", "--partition", "1"], 1, "orders has no partition 1: it has 1, counted from 0");
    refusal(&["read", "orders", "--commits", "5-3"], 2, "5-3 is empty: write the smaller number first");
    refusal(&["read", "orders", "--commit", "x"], 2, "invalid value 'x'");
    refusal(&["read", "orders", "--commit", "1", "--since", "1"], 2, "cannot be used with");
    refusal(&["read", "orders..feed", "--commit", "1"], 2, "orders..feed is a view already");
    refusal(&["read", "orders", "--from", "soon"], 2, "\"soon\" is none of: start, end, an offset");
    refusal(&["read", "orders", "--follow", "--to", "2026-01-01"], 2, "--follow ends at an offset");
}

#[test]
fn a_reader_that_goes_ends_the_command_without_a_word() {
    let terminal = Terminal::new();
    let lines: String = (0..100_000).map(|n| format!("a line of some length, number {n}\n")).collect();
    terminal.feed(&["produce", "orders"], lines);
    let mut command = terminal.command(&["read", "orders"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "a line of some length, number 0\n");
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn follow_shows_what_comes_until_it_is_interrupted() {
    let terminal = Terminal::new();
    terminal.feed(&["produce", "orders"], "old\n");
    let mut command = terminal.command(&["read", "orders", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "old");
    terminal.feed(&["produce", "orders"], "new\n");
    assert_eq!(lines.next().unwrap(), "new");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(lines.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn follow_waits_for_a_commit_and_ends_with_it() {
    let terminal = with_three_commits();
    let mut command = terminal.command(&["read", "orders", "--commit", "3", "--follow"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    terminal.feed(&["produce", "orders", "--seal"], "three\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"three\n"[..]));
}

#[test]
fn follow_says_what_it_waits_for_and_why() {
    let terminal = Terminal::new();
    terminal.feed(&["produce", "orders"], "1\n");
    let mut command = terminal.command(&["read", "orders..named-never", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let expected =
        "waiting for orders..named-never: no stream of the feed carries the label \"never\" yet (Ctrl-C ends it)";
    assert_eq!(said.next().unwrap(), expected);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!((said.next(), child.wait().unwrap().code()), (None, Some(0)));
}

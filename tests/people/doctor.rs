//! `streamstack doctor`.

use std::net::TcpListener;

use serde_json::Value;

use crate::serving::program;
use crate::terminal::{Ran, Terminal, finish};

/// Check, level and finding, in order.
fn findings(out: &str) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let finding = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["remedy"].is_null(), object["level"] == "good", "{object}");
        (text(&object["check"]), text(&object["level"]), text(&object["finding"]))
    };
    out.lines().map(finding).collect()
}

fn one<'a>(found: &'a [(String, String, String)], check: &str) -> (&'a str, &'a str) {
    let (_, level, finding) = found.iter().find(|(name, ..)| name == check).unwrap();
    (level, finding)
}

#[test]
fn a_broker_in_good_health_has_no_problems() {
    let terminal = Terminal::new();
    terminal.feed(&["produce", "orders"], "1\n");
    let found = findings(&terminal.out(&["doctor", "-o", "json"]));
    let checks: Vec<&str> = found.iter().map(|(check, ..)| check.as_str()).collect();
    let expected = ["name", "connection", "protocol", "software", "advertised", "clock", "disk", "durability"];
    assert_eq!(checks, expected, "{found:#?}");
    assert!(found.iter().all(|(_, level, _)| level != "problem"), "{found:#?}");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(one(&found, "software"), ("good", format!("StreamStack {version}, as this program").as_str()));
    assert_eq!(one(&found, "clock"), ("good", "the broker's clock and this machine's are within 2000 ms"));
    assert_eq!(one(&found, "durability"), ("good", "fsync: an acknowledged record survives power loss"));
    let (level, finding) = one(&found, "advertised");
    assert_eq!(level, "note");
    assert!(finding.ends_with("which answers, and which only clients on this machine can reach"), "{finding}");
    assert!(one(&found, "disk").1.contains(" are free"), "{found:#?}");
}

#[test]
fn a_table_says_what_to_do_below_what_was_found() {
    let terminal = Terminal::with(&["--override", "streamstack.durability=os"]);
    let table = terminal.out(&["doctor"]);
    let lines: Vec<&str> = table.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("warning  durability    os: an acknowledged")).unwrap();
    assert!(
        lines[at + 1].starts_with("           what to do  if that is not meant, set streamstack.durability=fsync"),
        "{table}"
    );
}

#[test]
fn an_address_that_clients_cannot_use_is_a_problem() {
    let nobody = "streamstack.invalid:9092";
    let terminal = Terminal::with(&["--override", &format!("advertised.listeners=PLAINTEXT://{nobody}")]);
    let Ran { code, out, errors } = terminal.run(&["doctor", "-o", "json"]);
    assert_eq!((code, errors.as_str()), (1, "error: 1 problem found\n"), "{out}");
    let found = findings(&out);
    let expected = format!("clients are sent to {nobody}, and streamstack.invalid is not known here");
    assert_eq!(one(&found, "advertised"), ("problem", expected.as_str()));
}

#[test]
fn another_broker_at_the_address_that_clients_are_told_is_a_problem() {
    let other = Terminal::new();
    let told = format!("advertised.listeners=PLAINTEXT://{}", other.serving.address);
    let terminal = Terminal::with(&["--override", &told]);
    let ran = terminal.run(&["doctor", "-o", "json"]);
    assert_eq!(ran.code, 1);
    let found = findings(&ran.out);
    let (level, finding) = one(&found, "advertised");
    assert_eq!(level, "problem");
    assert!(finding.ends_with("where another cluster answers"), "{finding}");
}

#[test]
fn without_a_broker_the_reason_is_told() {
    let doctor = |address: &str| {
        let ran = finish(&mut program(&["doctor", "-b", address, "--timeout", "1s", "-o", "json"]), b"");
        assert_eq!(ran.code, 1, "{ran:?}");
        findings(&ran.out).pop().unwrap()
    };
    let (check, level, finding) = doctor("127.0.0.1:1");
    assert_eq!((check.as_str(), level.as_str()), ("connection", "problem"));
    assert!(finding.starts_with("no broker at 127.0.0.1:1: "), "{finding}");
    let (check, _, finding) = doctor("streamstack.invalid");
    assert_eq!(check, "name");
    assert!(finding.starts_with("streamstack.invalid:9092 stands for no address: "), "{finding}");
    // Something listens and does not speak.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (check, _, finding) = doctor(&silent.local_addr().unwrap().to_string());
    assert_eq!(check, "connection");
    assert!(finding.contains("no answer in time"), "{finding}");
}

#[test]
fn a_data_folder_is_looked_at_without_a_broker() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let ran = finish(&mut program(&["doctor", "--data", data, "-o", "json"]), b"");
    let found = findings(&ran.out);
    assert_eq!(one(&found, "folder"), ("good", format!("{data} is empty: a new broker may take it").as_str()));
    assert!(one(&found, "sync").1.contains(" are on the disk after "), "{found:?}");
    let missing = finish(&mut program(&["doctor", "--data", "no/such"]), b"");
    assert_eq!((missing.code, missing.errors.as_str()), (1, "error: 1 problem found\n"));
}

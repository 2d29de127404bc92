//! Commands at work while the broker is killed and comes back.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::serving::{Serving, program};
use crate::terminal::finish;

#[test]
fn produce_and_follow_go_on_where_they_were_after_the_broker_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let first = Serving::start(&data, &["--log-level", "error"]);
    let (address, port) = (first.address.to_string(), first.address.port().to_string());
    let command = |args: &[&str]| -> Command {
        let mut command = program(args);
        command.env("STREAMSTACK_BOOTSTRAP", &address).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    };
    finish(&mut command(&["feed", "create", "orders"]), b"");
    let mut reader = command(&["read", "orders", "--follow", "--limit", "2", "--timeout", "60s"]).spawn().unwrap();
    let mut read = BufReader::new(reader.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut producer = command(&["produce", "orders", "--timeout", "60s"]).spawn().unwrap();
    let mut lines = producer.stdin.take().unwrap();
    lines.write_all(b"before\n").unwrap();
    assert_eq!(read.next().unwrap(), "before");
    first.kill();
    lines.write_all(b"meanwhile\n").unwrap();
    let _second = Serving::start_at(&port, &data, &["--log-level", "error"]);
    drop(lines);
    let summary = producer.wait_with_output().unwrap();
    assert_eq!(summary.status.code(), Some(0));
    assert!(String::from_utf8(summary.stdout).unwrap().starts_with("orders: 2 records, 15 B"));
    assert_eq!(read.next().unwrap(), "meanwhile");
    assert_eq!(reader.wait().unwrap().code(), Some(0));
    assert_eq!(finish(&mut command(&["read", "orders"]), b"").out, "before\nmeanwhile\n");
}

//! The program as an operator meets it: starts without arguments but a place, says when it is ready, stops
//! in order, and tells wrong configs by name and place.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

#[path = "common/serving.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod serving;

use std::process::{Command, Output};

use rustix::process::Signal;
use serving::{Serving, program};

fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_broker_says_when_it_is_ready_and_stops_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for signal in [Signal::TERM, Signal::INT] {
        let broker = Serving::start(&data, &["--log-format", "json"]);
        broker.connect();
        let durability = broker.lines.iter().find(|line| line.contains("durability")).unwrap();
        assert!(durability.contains("fsync"), "{durability}");
        let (code, logs) = broker.stop(signal);
        assert_eq!(code, 0, "{logs}");
        assert!(logs.lines().all(|line| line.starts_with('{')), "not JSON: {logs}");
    }
}

#[test]
fn two_brokers_do_not_share_a_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let first = Serving::start(&data, &[]);
    let (code, _, errors) = run(&mut program(&["serve", "--listen", "0", "--data", data.to_str().unwrap()]));
    assert_eq!(code, 1);
    assert!(errors.contains("another process uses this data folder"), "{errors}");
    assert_eq!(first.stop(Signal::TERM).0, 0);
}

#[test]
fn wrong_configs_end_with_two_and_name_the_place() {
    let (code, _, errors) = run(&mut program(&["serve", "--override", "num.partition=3"]));
    assert_eq!(
        (code, errors.as_str()),
        (2, "error: --override: unknown config num.partition (did you mean num.partitions?)\n")
    );
    let (code, _, errors) = run(program(&["config"]).env("KAFKA_LISTENERS", "SSL://:9093"));
    assert_eq!(code, 2);
    assert!(errors.contains("environment KAFKA_LISTENERS: listeners: listener SSL has protocol SSL"), "{errors}");
    let (code, _, errors) = run(&mut program(&["config", "--config", "no/such.properties"]));
    assert_eq!(code, 2);
    assert!(errors.starts_with("error: cannot read no/such.properties"), "{errors}");
}

#[test]
fn config_shows_value_and_source() {
    let (code, out, _) = run(program(&["config", "--json", "--listen", "9999"]).env("STREAMSTACK_DURABILITY", "os"));
    assert_eq!(code, 0);
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let shown = |name: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["source"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(shown("streamstack.durability"), pair("os", "environment STREAMSTACK_DURABILITY"));
    assert_eq!(shown("listeners"), pair("PLAINTEXT://127.0.0.1:9999", "--listen"));
    assert_eq!(shown("num.partitions"), pair("1", "default"));
}

#[test]
fn why_a_view_is_refused_stands_in_the_log_once_and_is_told_to_whoever_reads() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Serving::start(&folder.path().join("data"), &[]);
    let address = broker.address.to_string();
    let streamstack = |args: &[&str]| run(program(args).env("STREAMSTACK_BOOTSTRAP", &address));
    assert_eq!(streamstack(&["feed", "create", "orders"]).0, 0);
    for _ in 0..3 {
        let (code, _, errors) = streamstack(&["read", "orders..commit-7", "--timeout", "100ms"]);
        assert_eq!(code, 1);
        assert!(errors.contains("commit 7 is not sealed yet: the feed has 0 commits"), "{errors}");
        let (code, _, errors) = streamstack(&["read", "orders..commit-0..latest", "--timeout", "100ms"]);
        assert_eq!(code, 1);
        assert!(errors.contains("commit 0 is not sealed yet"), "{errors}");
    }
    let (_, logs) = broker.stop(Signal::TERM);
    for words in ["commit 7 is not sealed yet", "commit 0 is not sealed yet"] {
        assert_eq!(logs.lines().filter(|line| line.contains(words)).count(), 1, "{words}: {logs}");
    }
}

#[test]
fn two_signals_at_once_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Serving::start(&folder.path().join("data"), &[]);
    let pid = rustix::process::Pid::from_raw(broker.id() as i32).unwrap();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    let (code, logs) = broker.stop(Signal::TERM);
    assert_eq!(code, 0, "{logs}");
}

#[test]
fn a_variable_that_is_no_config_is_refused_with_the_nearest_one_and_a_way_out() {
    let (code, _, errors) = run(program(&["config"]).env("KAFKA_MY_NUM_PARTITIONS_X", "3"));
    assert_eq!(code, 2);
    assert!(errors.contains("KAFKA_MY_NUM_PARTITIONS_X: no config has this name"), "{errors}");
    assert!(errors.contains("num.partitions"), "{errors}");
    assert!(errors.contains("`env -u KAFKA_MY_NUM_PARTITIONS_X streamstack serve`"), "{errors}");
}

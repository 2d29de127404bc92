//! The program as an operator meets it: starts without arguments but a place, says when it is ready, stops
//! in order, and tells wrong configs by name and place.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_streamstack"));
    // Whatever the environment of the test run sets must not reach the program.
    command.env_clear().args(args);
    command
}

fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A broker on a free port; killed when dropped.
struct Serving {
    child: Child,
    lines: Vec<String>,
    address: SocketAddr,
}

impl Serving {
    /// Returns once the program says that it is ready.
    fn start(data: &Path) -> Serving {
        let args = ["serve", "--listen", "0", "--data", data.to_str().unwrap(), "--log-format", "json"];
        let mut child = program(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            lines.push(line.unwrap());
            if lines.last().unwrap().starts_with("ready in ") {
                break;
            }
        }
        let listening =
            lines.iter().find_map(|line| line.split_once("PLAINTEXT://")).map(|(_, address)| address.trim());
        let address = listening.unwrap_or_else(|| panic!("not ready: {lines:?}")).parse().unwrap();
        Serving { child, lines, address }
    }

    /// The exit code and the logs.
    fn stop(mut self, signal: Signal) -> (i32, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut logs = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut logs).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), logs)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Already gone when it was stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn answers(&self) -> bool {
        TcpStream::connect(self.address).is_ok()
    }
}

#[test]
fn a_broker_says_when_it_is_ready_and_stops_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for signal in [Signal::TERM, Signal::INT] {
        let broker = Serving::start(&data);
        assert!(broker.answers());
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
    let first = Serving::start(&data);
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

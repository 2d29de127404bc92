//! `streamstack serve` as a process that is made to suffer: run under another program, killed in its start, its log kept.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::cli::client::Client;

const START_MAX: Duration = Duration::from_secs(60);
const END_MAX: Duration = Duration::from_secs(30);

/// How to start one.
pub struct Start<'a> {
    /// Where its log goes, and its data unless `data` says otherwise.
    pub folder: &'a Path,
    pub data: PathBuf,
    pub overrides: Vec<String>,
    /// A program and its arguments that run it.
    pub under: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// A running process. Killed when dropped.
pub struct Broker {
    pub address: String,
    log: PathBuf,
    log_start: u64,
    child: Child,
}

impl<'a> Start<'a> {
    pub fn at(folder: &'a Path) -> Start<'a> {
        // As small as they may be, so that files are rolled, recycled and trimmed under load.
        let small = ["streamstack.checkpoint.bytes=1048576", "streamstack.journal.file.bytes=1048576"];
        Start {
            folder,
            data: folder.join("data"),
            overrides: small.map(str::to_owned).to_vec(),
            under: Vec::new(),
            env: Vec::new(),
        }
    }

    pub fn with(mut self, overrides: &[&str]) -> Start<'a> {
        self.overrides.extend(overrides.iter().map(|text| (*text).to_owned()));
        self
    }

    pub fn under(mut self, program: &[&str]) -> Start<'a> {
        self.under = program.iter().map(|text| (*text).to_owned()).collect();
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Start<'a> {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it and waits until it serves.
    pub fn serving(self) -> Broker {
        let mut broker = self.spawn();
        let ready = broker.wait_until_ready();
        assert!(ready, "the broker does not start:\n{}", broker.log());
        broker
    }

    /// Starts it, and tells whether it came to serve before it ended.
    pub fn attempt(self) -> (Broker, bool) {
        let mut broker = self.spawn();
        let ready = broker.wait_until_ready();
        (broker, ready)
    }

    /// Starts it and waits for nothing.
    pub fn spawn(self) -> Broker {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = self.folder.join("streamstack.log");
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let log_start = file.metadata().unwrap().len();
        let mut line = self.under.clone();
        line.push(env!("CARGO_BIN_EXE_streamstack").to_owned());
        let child = Command::new(&line[0])
            .args(&line[1..])
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data", self.data.to_str().unwrap()])
            .args(self.overrides.iter().flat_map(|text| ["--override", text]))
            .env_clear()
            .envs(self.env)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Broker { address: format!("127.0.0.1:{port}"), log, log_start, child }
    }
}

impl Broker {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> Client {
        Client::connect(&self.address).unwrap()
    }

    /// False when it ended instead.
    fn wait_until_ready(&mut self) -> bool {
        let begin = Instant::now();
        while Client::connect(&self.address).is_err() {
            if self.has_ended() {
                return false;
            }
            assert!(begin.elapsed() < START_MAX, "neither ready nor ended:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
        true
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < END_MAX, "it does not end:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// SIGKILL; must still have been running.
    pub fn kill(mut self) {
        assert!(!self.has_ended(), "the broker ended by itself:\n{}", self.log());
    }

    /// What this process has logged.
    pub fn log(&self) -> String {
        let all = std::fs::read(&self.log).unwrap();
        String::from_utf8_lossy(&all[self.log_start as usize..]).into_owned()
    }

    /// A line of the log holds all of these.
    pub fn assert_told(&self, words: &[&str]) {
        let log = self.log();
        let told = log.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(told, "no line tells {words:?}:\n{log}");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

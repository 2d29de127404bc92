//! The real `streamstack serve`, ended by its process id.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::cli::client::Client;

/// As small as they may be, so that checkpoints are written and journal files recycled under load.
const SMALL: [&str; 4] =
    ["--override", "streamstack.checkpoint.bytes=1048576", "--override", "streamstack.journal.file.bytes=1048576"];
const START_MAX: Duration = Duration::from_secs(30);

/// A running process. Killed when dropped.
pub struct Broker {
    pub address: String,
    child: Child,
}

impl Broker {
    /// Starts it on a free port and waits until it serves.
    pub fn start(folder: &Path) -> Broker {
        let mut broker = Broker::spawn(folder);
        broker.wait_until_ready(folder);
        broker
    }

    /// Starts it and kills it in the middle of its recovery, or thereabouts.
    pub fn kill_at_start(folder: &Path, after: Duration) {
        let broker = Broker::spawn(folder);
        thread::sleep(after);
        broker.kill();
    }

    fn spawn(folder: &Path) -> Broker {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = File::options().create(true).append(true).open(folder.join("streamstack.log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_streamstack"))
            .arg("serve")
            .arg("--data")
            .arg(folder.join("data"))
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .args(SMALL)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Broker { address: format!("127.0.0.1:{port}"), child }
    }

    fn wait_until_ready(&mut self, folder: &Path) {
        let begin = Instant::now();
        while Client::connect(&self.address).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begin.elapsed() < START_MAX,
                "the broker does not start ({ended:?}):\n{}",
                std::fs::read_to_string(folder.join("streamstack.log")).unwrap()
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// SIGKILL. Must still have been running.
    pub fn kill(mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "the broker ended by itself");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The real `streamstack serve` on a free port, with an environment of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// The program, with nothing of what the environment of the test run sets.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_streamstack"));
    command.env_clear().args(args);
    command
}

/// A running broker; killed when dropped.
pub struct Serving {
    child: Child,
    /// What it said until it was ready.
    pub lines: Vec<String>,
    pub address: SocketAddr,
}

impl Serving {
    /// Returns once the program says that it is ready. `args` come after those of every broker here.
    pub fn start(data: &Path, args: &[&str]) -> Serving {
        Serving::start_at("0", data, args)
    }

    /// On a port of 127.0.0.1; 0 takes a free one.
    pub fn start_at(port: &str, data: &Path, args: &[&str]) -> Serving {
        let mut command = program(&["serve", "--listen", port, "--data", data.to_str().unwrap()]);
        command.args(args);
        Serving::of(command)
    }

    /// What `command` starts, in whatever way.
    pub fn of(mut command: Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
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

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// SIGKILL; another broker may take the place.
    pub fn kill(self) {}

    /// The exit code and the logs.
    pub fn stop(mut self, signal: Signal) -> (i32, String) {
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

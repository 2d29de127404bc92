//! What the tests need of the machine: strace, libfaketime, root.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

const FAKETIME: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"];

/// True when all is there; otherwise says loudly what is left out.
fn have(what: &str, found: bool) -> bool {
    if !found {
        let required = std::env::var("FAULT_TOOLS").is_ok_and(|value| value == "required");
        assert!(!required, "{what} is missing");
        eprintln!("\n*** SKIPPED: {what} is missing, so this fault was NOT tried ***\n");
    }
    found
}

pub fn strace() -> bool {
    have(
        "strace, allowed to trace",
        Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|s| s.success()),
    )
}

pub fn prlimit() -> bool {
    have("prlimit", Command::new("prlimit").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()))
}

pub fn root() -> bool {
    have("root (to mount a tmpfs)", rustix::process::getuid().is_root())
}

pub fn faketime() -> Option<&'static str> {
    let found = FAKETIME.into_iter().find(|path| Path::new(path).exists());
    have("libfaketime", found.is_some()).then_some(found).flatten()
}

/// The injection that makes each of these calls take so much longer.
pub fn delay(call: &str, by: Duration) -> String {
    format!("{call}:delay_enter={}", by.as_micros())
}

/// strace at work on a running process; it lets go when dropped.
pub struct Strace {
    child: Child,
}

impl Strace {
    /// Injects into a process as in `fdatasync:error=EIO:when=3`, counted from now.
    pub fn attach(pid: u32, injections: &[&str]) -> Strace {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-p", &pid.to_string()]);
        let names: Vec<&str> = injections.iter().map(|text| text.split(':').next().unwrap()).collect();
        command.args(["-e", &format!("trace={}", names.join(","))]);
        command.args(injections.iter().flat_map(|text| ["-e".to_owned(), format!("inject={text}")]));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let traced = |task: PathBuf| {
            std::fs::read_to_string(task.join("status")).is_ok_and(|status| !status.contains("TracerPid:\t0\n"))
        };
        let tasks = || std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|task| task.unwrap().path());
        while !tasks().all(traced) {
            thread::sleep(Duration::from_millis(2));
        }
        Strace { child }
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        // A process that ended took its tracer with it.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}

/// A file system in memory, of a size; unmounted when dropped.
pub struct Tmpfs {
    pub folder: tempfile::TempDir,
}

impl Tmpfs {
    pub fn mount(megabytes: u32) -> Tmpfs {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()));
        Tmpfs { folder }
    }

    pub fn remount(&self, options: &str) {
        run(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.folder.path()));
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

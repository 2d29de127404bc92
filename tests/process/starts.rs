//! Starts that are cut short, and folders that no start may touch.

use std::fs;
use std::path::Path;

use super::broker::Start;
use super::ledger::{Ended, Ledger};
use super::tools::{self, Tmpfs};

const CHANGES: &str = "pwritev,pwrite64,fdatasync,fsync,rename,unlink,ftruncate,fallocate,mkdir";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Kills the start in its nth change of the disk, for more and more n, until one comes through. Gives how many were killed.
fn killed_again_and_again(folder: &Path) -> u32 {
    let (mut nth, mut num_killed) = (1, 0);
    loop {
        let inject = format!("inject={CHANGES}:signal=KILL:when={nth}");
        let strace = ["strace", "-D", "-f", "-o", "/dev/null", "-e", &format!("trace={CHANGES}"), "-e", &inject];
        let (broker, ready) = Start::at(folder).under(&strace).attempt();
        if ready {
            drop(broker);
            return num_killed;
        }
        num_killed += 1;
        // One by one at first, where folders are set up and the journal is looked through; then wider, for tails.
        nth += 1 + nth / 12;
    }
}

#[test]
fn a_start_killed_again_and_again_ends_as_an_undisturbed_one() {
    if !tools::strace() {
        return;
    }
    let folder = folder();
    let broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 800);
    broker.kill();
    let num_killed = killed_again_and_again(folder.path());
    println!("{num_killed} starts were killed");
    assert!(num_killed >= 5, "{num_killed}");
    let broker = Start::at(folder.path()).serving();
    ledger.heals(&broker.address);
}

#[test]
fn a_start_killed_after_an_orderly_stop_is_recovered_from() {
    if !tools::strace() {
        return;
    }
    let folder = folder();
    let mut broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 300);
    tools::signal(broker.pid(), rustix::process::Signal::TERM);
    assert!(broker.wait().success());
    killed_again_and_again(folder.path());
    // Under load again, and killed: no mark of the orderly stop hides what came after.
    let broker = Start::at(folder.path()).serving();
    ledger.write(&broker.address, 400);
    broker.kill();
    let broker = Start::at(folder.path()).serving();
    ledger.heals(&broker.address);
}

/// What a start says that does not come to serve.
fn refusal(start: Start<'_>) -> String {
    let (mut broker, ready) = start.attempt();
    assert!(!ready, "it serves:\n{}", broker.log());
    assert_eq!(broker.wait().code(), Some(1), "{}", broker.log());
    broker.log()
}

#[test]
fn folders_that_are_foreign_emptied_newer_or_in_use_are_refused_and_left_as_they_are() {
    let folder = folder();
    let broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 50);
    let log = refusal(Start::at(folder.path()));
    assert!(log.contains("another process uses this data folder"), "{log}");
    ledger.heals(&broker.address);
    broker.kill();
    let data = folder.path().join("data");
    let meta = data.join("meta.properties");
    let sound = fs::read_to_string(&meta).unwrap();
    for (text, told) in [
        (sound.replace("format=2", "format=9"), "use a newer streamstack"),
        ("version=1\ncluster.id=abc\nnode.id=1\n".to_owned(), "another program"),
        (sound.replace("node.id=1", "node.id=7"), "node.id"),
    ] {
        fs::write(&meta, text).unwrap();
        let log = refusal(Start::at(folder.path()));
        assert!(log.contains(told), "{told}: {log}");
    }
    fs::write(&meta, sound).unwrap();
    for part in ["journal", "manifest", "feeds"] {
        fs::rename(data.join(part), folder.path().join("aside")).unwrap();
        let log = refusal(Start::at(folder.path()));
        assert!(log.contains("missing"), "without {part}: {log}");
        // A refusal may have made nothing in its place.
        assert!(!data.join(part).exists() || fs::read_dir(data.join(part)).unwrap().next().is_none(), "{part}");
        let _ = fs::remove_dir(data.join(part));
        fs::rename(folder.path().join("aside"), data.join(part)).unwrap();
    }
    let broker = Start::at(folder.path()).serving();
    ledger.heals(&broker.address);
}

#[test]
fn a_disk_that_may_only_be_read_is_refused_by_name() {
    if !tools::root() {
        return;
    }
    let disk = Tmpfs::mount(64);
    let logs = folder();
    let on_disk = || Start { data: disk.folder.path().join("data"), ..Start::at(logs.path()) };
    let broker = on_disk().with(&["streamstack.disk.free.min.bytes=1000000"]).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    assert!(matches!(ledger.write(&broker.address, 50), Ended::Told));
    broker.kill();
    disk.remount("ro");
    let log = refusal(on_disk());
    assert!(log.contains("Read-only file system") && log.contains("data"), "{log}");
    disk.remount("rw");
    let broker = on_disk().with(&["streamstack.disk.free.min.bytes=1000000"]).serving();
    ledger.heals(&broker.address);
}

//! Syscalls that fail.

use super::broker::Start;
use super::ledger::{Ended, Ledger};
use super::tools::{self, Strace};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A broker under load meets the fault. It goes on, or stops and says why; a new start has everything.
/// Returns whether it stopped.
fn meets(injection: &str, durability: &str) -> bool {
    let folder = folder();
    let durability = format!("streamstack.durability={durability}");
    let mut broker = Start::at(folder.path()).with(&[&durability]).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    assert!(matches!(ledger.write(&broker.address, 20), Ended::Told));
    let strace = Strace::attach(broker.pid(), &[injection]);
    let ended = ledger.write(&broker.address, 1_500);
    drop(strace);
    if matches!(ended, Ended::Told) && !broker.has_ended() {
        // What failed was not what an acknowledgement rests on.
        ledger.heals(&broker.address);
        broker.kill();
    } else {
        let status = broker.wait();
        assert_eq!(status.code(), Some(1), "{injection}: {ended:?}\n{}", broker.log());
        broker.assert_told(&["os error"]);
        broker.assert_told(&["the disk failed", "start again with the same data folder"]);
        let broker = Start::at(folder.path()).with(&[&durability]).serving();
        ledger.heals(&broker.address);
        return true;
    }
    let broker = Start::at(folder.path()).with(&[&durability]).serving();
    ledger.heals(&broker.address);
    false
}

#[test]
fn a_sync_that_fails_once_loses_nothing_acknowledged_at_each_nth_call() {
    if !tools::strace() {
        return;
    }
    let stopped = (1..=10).filter(|n| meets(&format!("fdatasync:error=EIO:when={n}"), "fsync")).count();
    assert_eq!(stopped, 10, "no sync is tried again: the broker stops each time");
}

#[test]
fn a_write_that_fails_loses_nothing_acknowledged_at_each_nth_call() {
    if !tools::strace() {
        return;
    }
    for errno in ["EIO", "ENOSPC"] {
        for n in [1, 2, 3, 4, 101] {
            assert!(meets(&format!("pwritev:error={errno}:when={n}"), "fsync"), "{errno} at {n} was not noticed");
        }
    }
    assert!(meets("pwritev:error=EIO:when=2", "os"));
}

#[test]
fn a_file_that_cannot_be_opened_made_sized_renamed_or_removed_loses_nothing_acknowledged() {
    if !tools::strace() {
        return;
    }
    // Which of them stop the broker and which are tried again later is its own affair.
    let calls = [
        "openat:error=EIO",
        "openat:error=EMFILE",
        "rename:error=EIO",
        "fallocate:error=ENOSPC",
        "ftruncate:error=EIO",
        "fsync:error=EIO",
        "unlink:error=EIO",
        "pwrite64:error=ENOSPC",
        "pread64:error=EIO",
        "statfs:error=EIO",
    ];
    let stopped = calls.iter().filter(|call| meets(&format!("{call}:when=1..3"), "fsync")).count();
    println!("{stopped} of {} stopped the broker", calls.len());
}

#[test]
fn a_short_or_interrupted_write_goes_on() {
    if !tools::strace() {
        return;
    }
    assert!(!meets("pwritev:error=EINTR:when=1+3", "fsync"), "an interrupted write is written again");
}

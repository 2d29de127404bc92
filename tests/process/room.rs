//! Disks without room, for real.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::broker::Start;
use super::ledger::{Ended, Ledger};
use super::tools::{self, Tmpfs};

/// Takes the room there is, but for so many bytes.
fn fill(folder: &Path, leave: u64) {
    let free = || {
        let stat = rustix::fs::statvfs(folder).unwrap();
        stat.f_bavail * stat.f_frsize
    };
    let ballast = File::create(folder.join("ballast")).unwrap();
    let size = free().saturating_sub(leave);
    rustix::fs::fallocate(&ballast, rustix::fs::FallocateFlags::empty(), 0, size).unwrap();
}

#[test]
fn a_full_disk_refuses_writes_and_goes_on_by_itself_when_there_is_room() {
    if !tools::root() {
        return;
    }
    let disk = Tmpfs::mount(64);
    let folder = disk.folder.path();
    let start = || Start::at(folder).with(&["streamstack.disk.free.min.bytes=8000000"]);
    let broker = start().serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 50);
    fill(folder, 9_000_000);
    let ended = ledger.write(&broker.address, 100_000);
    let Ended::Refused(refusal) = ended else { panic!("it was never full: {ended:?}, {}", broker.log()) };
    assert!(refusal.to_string().contains("streamstack.disk.free.min.bytes"), "{refusal}");
    broker.assert_told(&["free disk space crossed", "has_space=false"]);
    ledger.check(&mut broker.connect());
    // Killed and started on the full disk: everything is there, reads and deletions work.
    broker.kill();
    let broker = start().serving();
    ledger.check(&mut broker.connect());
    let taken = ledger.num_acks();
    std::fs::remove_file(folder.join("ballast")).unwrap();
    for _ in 0..200 {
        if ledger.num_acks() > taken {
            break;
        }
        ledger.write(&broker.address, taken + 1);
        thread::sleep(Duration::from_millis(50));
    }
    ledger.heals(&broker.address);
    println!("{taken} records were taken before the disk was full");
}

#[test]
fn a_disk_that_fills_under_a_write_stops_the_broker_and_a_start_with_room_has_everything() {
    if !tools::root() {
        return;
    }
    for leave in [0, 4_096, 100_000, 700_000, 1_500_000] {
        let disk = Tmpfs::mount(32);
        let folder = disk.folder.path();
        // Without a floor nothing keeps the last byte free.
        let start = || Start::at(folder).with(&["streamstack.disk.free.min.bytes=0"]);
        let mut broker = start().serving();
        let mut ledger = Ledger::open(&mut broker.connect());
        ledger.write(&broker.address, 50);
        fill(folder, leave);
        let ended = ledger.write(&broker.address, 20_000);
        assert!(!matches!(ended, Ended::Told), "{leave}: it was never full");
        if matches!(ended, Ended::Cut) {
            assert_eq!(broker.wait().code(), Some(1), "{}", broker.log());
            broker.assert_told(&["No space left on device"]);
        }
        std::fs::remove_file(folder.join("ballast")).unwrap();
        drop(broker);
        let broker = start().serving();
        ledger.heals(&broker.address);
    }
}

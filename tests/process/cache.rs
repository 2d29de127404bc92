//! The same bytes come from memory and from the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{Advice, fadvise};
use streamstack::cli::client::{Bounds, Client, Record};

use super::broker::Start;
use super::ledger::{Ended, Ledger, TOPIC};

/// The files with an ending in a folder and those below.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false if entry.path().extension().is_some_and(|e| e == ending) => found.push(entry.path()),
                false => {}
            }
        }
    }
    found
}

/// Takes files out of the page cache; needs no rights.
fn forget(files: &[PathBuf]) {
    for path in files {
        let file = fs::File::open(path).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
}

fn all(client: &mut Client, start: i64, end: i64) -> Vec<Record> {
    client.read(TOPIC, Bounds { partition: 0, start, end }).unwrap()
}

#[test]
fn a_reader_at_the_end_one_in_the_middle_and_one_of_the_cold_start_read_the_same_from_memory_and_from_the_disk() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let start = || Start::at(folder.path()).with(&["streamstack.durability=os"]);
    let broker = start().serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 500);
    let on = AtomicBool::new(true);
    let tailed = thread::scope(|scope| {
        let tailing = scope.spawn(|| {
            let mut client = broker.connect();
            let mut found = Vec::new();
            while found.len() < 3_000 {
                let end = client.bounds(TOPIC).unwrap()[0].end;
                found.extend(all(&mut client, found.len() as i64, end));
            }
            on.store(false, Ordering::Release);
            found
        });
        let cold = scope.spawn(|| {
            let mut client = broker.connect();
            while on.load(Ordering::Acquire) {
                forget(&files(&folder.path().join("data"), "log"));
                assert_eq!(all(&mut client, 0, 500).len(), 500);
            }
        });
        assert!(matches!(ledger.write_while(&broker.address, &on), Ended::Told));
        cold.join().unwrap();
        tailing.join().unwrap()
    });
    let end = tailed.len() as i64;
    let logs = files(&folder.path().join("data"), "log");
    assert!(logs.len() >= 4, "segments were rolled: {logs:?}");
    forget(&logs);
    let mut client = broker.connect();
    assert!(all(&mut client, end / 2, end) == tailed[tailed.len() / 2..], "one in the middle, from the disk");
    assert!(all(&mut client, 0, end) == tailed, "one from the start, partly from memory");
    broker.kill();
    forget(&files(&folder.path().join("data"), "log"));
    let broker = start().serving();
    assert!(all(&mut broker.connect(), 0, end) == tailed, "after a restart, from the disk");
    ledger.heals(&broker.address);
}

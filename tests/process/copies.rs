//! Copies of a data folder that is in use.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamstack::model::Manifest;

use super::broker::{Broker, Start};
use super::ledger::{Ended, Ledger, TOPIC};

/// Copies that are made under load, and the time within which some of them must have opened.
const COPIES: usize = 10;

/// What was there when a copy was begun and when it was done.
struct Copied {
    folder: std::path::PathBuf,
    /// No more records can be in it.
    sent: usize,
}

fn copy(folder: &Path, name: &str, num_acks: &AtomicUsize) -> Copied {
    let copy = folder.join(name);
    // Files vanish under cp, which then says so.
    let _ = Command::new("cp").arg("-r").arg(folder.join("data")).arg(&copy).output().unwrap();
    Copied { folder: copy, sent: num_acks.load(Ordering::Acquire) + 2 }
}

/// A prefix: records from the first one on, in order, none that was not sent by then; commits of them, one after another;
/// and the same records through the feed.
fn check_prefix(copied: &Copied, broker: &Broker) -> usize {
    let mut client = broker.connect();
    let records = client.read_to_end(TOPIC).unwrap();
    assert!(records.len() <= copied.sent, "{} records of {} that were sent", records.len(), copied.sent);
    for (record, offset) in records.iter().zip(0..) {
        assert_eq!(record.offset, offset);
        assert!(record.value.as_deref().unwrap().starts_with(format!("{offset}.").as_bytes()), "{offset}");
    }
    let mut sealed = 0;
    for (record, commit) in client.read_to_end(&format!("{TOPIC}..commits")).unwrap().iter().zip(0..) {
        let manifest = Manifest::parse(record.value.as_deref().unwrap()).unwrap();
        assert_eq!((record.offset, manifest.commit), (commit, commit));
        let part = &manifest.partitions[0];
        assert_eq!((part.feed_base, part.runs[0].log_base), (sealed, sealed), "commit {commit}");
        sealed += part.count;
    }
    let feed = client.read_to_end(&format!("{TOPIC}..feed")).unwrap();
    assert!(feed.len() as i64 >= sealed && feed.len() <= records.len(), "{} sealed of {}", feed.len(), records.len());
    assert!(feed.iter().zip(&records).all(|(sealed, record)| sealed.value == record.value));
    records.len()
}

#[test]
fn a_copy_of_a_folder_in_use_opens_as_a_prefix_or_is_refused() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 100);
    let (on, num_acks) = (AtomicBool::new(true), AtomicUsize::new(ledger.num_acks()));
    let (mut opened, mut refused) = (Vec::new(), 0);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            while on.load(Ordering::Acquire) {
                let enough = num_acks.load(Ordering::Acquire) + 10;
                assert!(matches!(ledger.write(&broker.address, enough), Ended::Told));
                num_acks.store(ledger.num_acks(), Ordering::Release);
            }
        });
        for n in 0..COPIES {
            thread::sleep(Duration::from_millis(50));
            let mut copied = copy(folder.path(), &format!("copy-{n}"), &num_acks);
            // The round of ten that was under way.
            copied.sent += 10;
            let logs = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let data = copied.folder.clone();
            let (started, ready) = Start { data, ..Start::at(logs.path()) }.attempt();
            if ready {
                opened.push(check_prefix(&copied, &started));
            } else {
                let log = started.log();
                assert!(log.contains("error: "), "refused without a reason: {log}");
                refused += 1;
            }
        }
        on.store(false, Ordering::Release);
        writing.join().unwrap();
    });
    // A copy taken while nothing is written is whole.
    let copied = copy(folder.path(), "copy-at-rest", &num_acks);
    let logs = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let began = Instant::now();
    let started = Start { data: copied.folder.clone(), ..Start::at(logs.path()) }.serving();
    assert!(check_prefix(&copied, &started) >= ledger.num_acks(), "after {:?}", began.elapsed());
    println!("copies with {opened:?} records opened, {refused} were refused");
    assert_eq!(opened.len() + refused, COPIES);
    ledger.heals(&broker.address);
}

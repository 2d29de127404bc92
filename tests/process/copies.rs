//! Copies of a data folder that is in use.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::broker::Start;
use super::ledger::{Ended, Ledger, TOPIC};

#[test]
fn a_copy_of_a_folder_in_use_opens_as_a_prefix_or_is_refused() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 100);
    let on = AtomicBool::new(true);
    let (mut opened, mut refused) = (0, 0);
    thread::scope(|scope| {
        let writing = scope.spawn(|| ledger.write_while(&broker.address, &on));
        for n in 0..6 {
            thread::sleep(Duration::from_millis(100));
            let copy = folder.path().join(format!("copy-{n}"));
            // Files vanish under cp, which then says so.
            let _ = Command::new("cp").arg("-r").arg(folder.path().join("data")).arg(&copy).output().unwrap();
            let logs = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let (copied, ready) = Start { data: copy, ..Start::at(logs.path()) }.attempt();
            if !ready {
                let log = copied.log();
                assert!(log.contains("error: "), "refused without a reason: {log}");
                refused += 1;
                continue;
            }
            opened += 1;
            for (record, offset) in copied.connect().read_to_end(TOPIC).unwrap().iter().zip(0..) {
                assert_eq!(record.offset, offset);
                assert!(record.value.as_deref().unwrap().starts_with(format!("{offset}.").as_bytes()), "{offset}");
            }
        }
        on.store(false, Ordering::Release);
        assert!(matches!(writing.join().unwrap(), Ended::Told));
    });
    println!("{opened} copies opened, {refused} were refused");
    ledger.heals(&broker.address);
}

//! Crashes and failures of the disk at every operation.

use super::history::{History, Shape};
use super::*;
use crate::disk::{CrashPolicy, Failure, Op, SplitMix};

/// So small that a short life has checkpoints, merges and removals.
const SHORT: Options = Options { lot_records: 25, checkpoint_records: 150, piece_pages: 1 };

const SHAPE: Shape = Shape { keys: 60, values: 3, records_max: 40 };

fn history(seed: u64) -> History {
    let mut random = SplitMix::new(seed);
    let mut history = History::new(2);
    (0..16).for_each(|_| history.commit(&mut random, SHAPE));
    history
}

/// One life: indexes, stores, trims and opens again, until an operation fails.
fn live(fixture: &mut Fixture, seed: u64) -> Result<(), LinksError> {
    let mut random = SplitMix::new(seed);
    for step in 0..14 {
        let _ = fixture.links.advance_over(&fixture.history, 1 + random.below(120) as usize)?;
        match step {
            4 | 9 => fixture.links.checkpoint_over(&fixture.history)?,
            6 => fixture.reopen()?,
            7 => {
                fixture.history.drop_commits(4);
                fixture.links.trim_below(&fixture.history);
            }
            _ => (),
        }
        fixture.check()?;
    }
    fixture.links.checkpoint_over(&fixture.history)
}

fn boot(disk: FaultyDisk, history: History) -> Result<Fixture, LinksError> {
    Fixture::open(disk, history, Identity::KeyAndValue, SHORT, 1 << 10)
}

fn new_disk() -> FaultyDisk {
    let disk = FaultyDisk::new();
    disk.create_dir_all(FOLDER.as_ref()).unwrap();
    for folder in ["/", "/data", "/data/feeds", "/data/feeds/1"] {
        disk.sync_dir(folder.as_ref()).unwrap();
    }
    disk
}

/// A whole life on a disk; what is left of the history at its end, and how that came.
fn life(disk: &FaultyDisk, seed: u64) -> (History, Result<(), LinksError>) {
    match boot(disk.clone(), history(seed)) {
        Ok(mut fixture) => {
            let lived = live(&mut fixture, seed);
            (fixture.history, lived)
        }
        Err(error) => (history(seed), Err(error)),
    }
}

/// What is on the disk is gone on with, and comes to the right end.
fn check_image(disk: FaultyDisk, history: &History, context: &str) {
    let mut fixture = boot(disk, history.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
    fixture.check().unwrap_or_else(|error| panic!("{context}: {error}"));
    fixture.history.drop_commits(4);
    fixture.catch_up().unwrap_or_else(|error| panic!("{context}: {error}"));
    fixture.check().unwrap();
    assert_eq!(fixture.links.indexed().0, history.num_commits());
}

#[test]
fn a_crash_at_every_operation_leaves_an_index_that_goes_on_or_begins_anew() {
    let mut images = 0;
    // One life at each operation, others at some.
    for (seed, step) in [(0, 1), (1, 7), (2, 7)] {
        let setup = new_disk().num_ops();
        let disk = new_disk();
        life(&disk, seed).1.unwrap();
        for crash in (setup + 1..=disk.num_ops()).step_by(step) {
            let disk = new_disk();
            disk.crash_at(crash);
            let (history, lived) = life(&disk, seed);
            lived.unwrap_err();
            for image in 0..4 {
                let policy = match image {
                    0 => CrashPolicy::DropAll,
                    1 => CrashPolicy::KeepAll,
                    image => CrashPolicy::Seeded(crash * 10 + image),
                };
                images += 1;
                check_image(disk.crash_image(policy), &history, &format!("seed {seed}, {crash}, {policy:?}"));
            }
            check_image(disk.kill_image(), &history, &format!("seed {seed}, {crash}, killed"));
        }
    }
    assert!(images > 300, "{images}");
}

#[test]
fn what_a_checkpoint_stored_is_not_indexed_again_after_a_power_loss() {
    let disk = new_disk();
    let fixture = boot(disk.clone(), history(1)).unwrap();
    fixture.catch_up().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    let again = boot(disk.crash_image(CrashPolicy::DropAll), history(1)).unwrap();
    assert_eq!(again.links.indexed(), fixture.links.indexed());
    again.check().unwrap();
}

#[test]
fn an_operation_that_fails_is_done_again() {
    for op in [Op::Write, Op::Sync, Op::Create, Op::Rename, Op::Unlink, Op::SyncDir, Op::Read, Op::Truncate] {
        for nth in (1..40).step_by(2) {
            let disk = new_disk();
            let mut fixture = boot(disk.clone(), history(2)).unwrap();
            fixture.disk.fail(Failure { op, nth, errno: libc::EIO, for_ever: false });
            let mut num_failed = 0;
            loop {
                let outcome = fixture.catch_up().and_then(|()| {
                    fixture.links.checkpoint_over(&fixture.history)?;
                    Ok(fixture.check()?)
                });
                match outcome {
                    Ok(()) => break,
                    Err(LinksError::File(_)) => num_failed += 1,
                    Err(error) => panic!("{op:?} {nth}: {error}"),
                }
                assert!(num_failed < 3, "{op:?} {nth}");
            }
            disk.heal();
            fixture.reopen().unwrap();
            assert_eq!(fixture.links.indexed().0, fixture.history.num_commits(), "{op:?} {nth}");
            fixture.check().unwrap();
        }
    }
}

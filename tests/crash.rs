//! Crashes: a store on a disk that loses power, at every write and sync of many histories, must come back with
//! everything that was acknowledged, byte for byte, and with nothing but what was asked of it.

#[path = "crash/contents.rs"]
mod contents;
#[path = "crash/history.rs"]
mod history;
#[path = "crash/order.rs"]
mod order;
#[path = "crash/rest.rs"]
mod rest;
#[path = "crash/tables.rs"]
mod tables;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use history::{Point, Ran, WIDE_GROUPS, go_on, open, run, run_to_rest, run_wide};
use streamstack::disk::{CrashPolicy, Disk, FaultyDisk, OpenMode};
use streamstack::model::{State, feed_of_topic};
use streamstack::store::inspect::{Selection, inspect};
use streamstack::store::{Durability, Opened};

/// Opens an image and sees to it that it is at one of the points. Returns which.
fn check_image(image: &FaultyDisk, durability: Durability, allowed: &[Point], told: &str) -> Opened {
    let opened = open(image, durability).unwrap_or_else(|error| panic!("{told}: {error}"));
    let point = allowed.iter().find(|point| point.lsn == opened.lsn);
    let point = point.unwrap_or_else(|| {
        let lsns: Vec<u64> = allowed.iter().map(|point| point.lsn.0).collect();
        panic!("{told}: recovered to {}, allowed are {lsns:?}", opened.lsn)
    });
    assert!(point.state == opened.state, "{told}: the state at {} is another one", opened.lsn);
    point.contents.check(&opened.store, &opened.state);
    opened
}

/// A crash at operation `number` of a history: where may it come back to?
struct Crash {
    disk: FaultyDisk,
    ran: Ran,
    told: String,
}

impl Crash {
    fn at(number: u64, durability: Durability, seed: u64, num_groups: usize) -> Crash {
        let disk = FaultyDisk::new();
        disk.crash_at(number);
        let ran = run(&disk, durability, seed, num_groups);
        Crash { disk, ran, told: format!("seed {seed}, crash at operation {number}") }
    }

    /// The last acknowledged point, and the one in flight.
    fn acknowledged(&self) -> &[Point] {
        &self.ran.points[self.ran.num_acknowledged - 1..]
    }
}

fn num_ops(durability: Durability, seed: u64, num_groups: usize) -> u64 {
    let disk = FaultyDisk::new();
    let ran = run(&disk, durability, seed, num_groups);
    assert_eq!(ran.num_acknowledged, num_groups + 1);
    disk.num_ops()
}

/// Runs `check` for every operation of the histories of `seeds`, on two threads.
fn at_every_operation(
    durability: Durability,
    seeds: std::ops::Range<u64>,
    num_groups: usize,
    check: impl Fn(&Crash, u64) + Sync,
) {
    let crashes: Vec<(u64, u64)> =
        seeds.flat_map(|seed| (1..=num_ops(durability, seed, num_groups)).map(move |number| (seed, number))).collect();
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((seed, number)) = crashes.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    check(&Crash::at(*number, durability, *seed, num_groups), *number);
                }
            });
        }
    });
}

#[test]
fn no_mark_is_ahead_of_its_data_and_no_journal_file_goes_before_it_is_replaced() {
    for durability in [Durability::Fsync, Durability::Os] {
        let (mut num_manifests, mut num_gone) = (0, 0);
        for seed in 0..20 {
            let disk = FaultyDisk::new();
            run(&disk, durability, seed, 60);
            let seen = order::check(&disk.trace(), &format!("{durability:?}, seed {seed}"));
            num_manifests += seen.manifests;
            num_gone += seen.journal_files_gone;
        }
        assert!(num_manifests > 40 && num_gone > 20, "{num_manifests} manifests, {num_gone} journal files gone");
    }
}

#[test]
fn power_loss_at_every_operation_loses_nothing_acknowledged() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Fsync, 0..3, 24, |crash, number| {
        let policies = [CrashPolicy::DropAll, CrashPolicy::KeepAll];
        let seeded = (0..3).map(|draw| CrashPolicy::Seeded(number * 100 + draw));
        for policy in policies.into_iter().chain(seeded) {
            let told = format!("{}, {policy:?}", crash.told);
            let image = crash.disk.crash_image(policy);
            let opened = check_image(&image, Durability::Fsync, crash.acknowledged(), &told);
            let lsn = opened.lsn;
            drop(opened);
            // What was served once is served again, though the power fails right after the start.
            let again = image.crash_image(CrashPolicy::DropAll);
            let again = check_image(&again, Durability::Fsync, crash.acknowledged(), &format!("{told}, again"));
            assert_eq!(again.lsn, lsn, "{told}: the second start comes back elsewhere");
            num_images.fetch_add(2, Ordering::Relaxed);
        }
    });
    let num_images = num_images.into_inner();
    println!("{num_images} crash images recovered");
    assert!(num_images >= 10_000, "{num_images}");
}

#[test]
fn an_acknowledged_position_never_goes_back() {
    let num_positions = AtomicU64::new(0);
    at_every_operation(Durability::Fsync, 500..502, 20, |crash, number| {
        for policy in [CrashPolicy::DropAll, CrashPolicy::KeepAll, CrashPolicy::Seeded(number)] {
            let opened = open(&crash.disk.crash_image(policy), Durability::Fsync).unwrap();
            let groups = crash.acknowledged()[0].state.subscriptions();
            for (group, topic, partition, position) in
                groups.flat_map(|(group, s)| s.positions().map(move |(topic, p, position)| (group, topic, p, position)))
            {
                let told = format!("{}, {policy:?}: {group} in {topic}-{partition}", crash.told);
                match opened.state.subscription(group).and_then(|s| s.position(topic, partition)) {
                    Some(found) => assert!(found.offset >= position.offset, "{told}: {found:?} after {position:?}"),
                    None => assert!(opened.state.feed_named(feed_of_topic(topic)).is_none(), "{told} is lost"),
                }
                num_positions.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert!(num_positions.into_inner() > 1_000);
}

/// True when the transaction of [`run_wide`] ended; panics when it did so in part.
fn wide_transaction_ended(state: &State) -> bool {
    let commits: Vec<i64> = state.feeds().map(|feed| feed.next_commit().0).collect();
    let has_position = state.subscription("group of loader-a").is_some();
    for partition in state.feeds().flat_map(|feed| feed.partitions()) {
        let (feed_end, stable, end) = (partition.feed_end().0, partition.last_stable().0, partition.log_end().0);
        match has_position {
            // The marker stands behind the records.
            true => assert_eq!((feed_end, stable), (end - 1, end)),
            false => assert_eq!((feed_end, stable), (0, 0)),
        }
    }
    assert!(commits.iter().all(|commits| *commits == i64::from(has_position)), "{commits:?}");
    has_position
}

#[test]
fn a_transaction_over_five_partitions_of_three_feeds_ends_as_a_whole_or_not_at_all() {
    let (mut num_ended, mut num_open) = (0, 0);
    for (durability, seed) in [(Durability::Fsync, 1), (Durability::Fsync, 5), (Durability::Os, 2)] {
        let whole = FaultyDisk::new();
        assert_eq!(run_wide(&whole, durability, seed).num_acknowledged, WIDE_GROUPS + 1);
        for number in 1..=whole.num_ops() {
            let disk = FaultyDisk::new();
            disk.crash_at(number);
            let crash = Crash {
                ran: run_wide(&disk, durability, seed),
                disk,
                told: format!("seed {seed}, operation {number}"),
            };
            let lost = [CrashPolicy::DropAll, CrashPolicy::KeepAll, CrashPolicy::Seeded(number)];
            let images: Vec<FaultyDisk> = match durability {
                Durability::Fsync => lost.into_iter().map(|policy| crash.disk.crash_image(policy)).collect(),
                Durability::Os => vec![crash.disk.kill_image()],
            };
            for image in images {
                let opened = check_image(&image, durability, crash.acknowledged(), &crash.told);
                let ended = wide_transaction_ended(&opened.state);
                let acknowledged = crash.ran.num_acknowledged == WIDE_GROUPS + 1;
                assert!(ended || !acknowledged, "{}: an acknowledged end is gone", crash.told);
                *(if ended { &mut num_ended } else { &mut num_open }) += 1;
            }
        }
    }
    println!("{num_ended} images with the transaction ended, {num_open} without");
    assert!(num_ended > 10 && num_open > 100, "{num_ended} {num_open}");
}

#[test]
fn a_store_that_came_back_goes_on_and_comes_back_again() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Fsync, 300..302, 20, |crash, number| {
        for policy in [CrashPolicy::KeepAll, CrashPolicy::Seeded(number)] {
            let told = format!("{}, {policy:?}", crash.told);
            let image = crash.disk.crash_image(policy);
            let opened = check_image(&image, Durability::Fsync, crash.acknowledged(), &told);
            let point = crash.ran.points.iter().find(|point| point.lsn == opened.lsn).unwrap();
            // What the crash left past the ends of files must not come up again under what is written now.
            let end = go_on(opened, point.contents.clone(), number, 12);
            let told = format!("{told}, after going on");
            let killed = check_image(&image.kill_image(), Durability::Fsync, std::slice::from_ref(&end), &told);
            drop(killed);
            let lost = image.crash_image(CrashPolicy::Seeded(number));
            check_image(&lost, Durability::Fsync, std::slice::from_ref(&end), &told);
            num_images.fetch_add(3, Ordering::Relaxed);
        }
    });
    println!("{} crash images recovered and gone on with", num_images.into_inner());
}

#[test]
fn inspect_names_the_file_of_every_flipped_byte() {
    let disk = FaultyDisk::new();
    run_to_rest(&disk, 400, 60, false);
    let damaged = |disk: FaultyDisk| {
        let disk: Arc<dyn Disk> = Arc::new(disk);
        let mut found = Vec::new();
        inspect(&disk, Path::new("/data"), &Selection::default(), &mut |item| {
            found.extend(item.damage.map(|damage| (item.file, damage)));
        })
        .unwrap();
        found
    };
    assert_eq!(damaged(disk.kill_image()), []);
    let trimmed = FaultyDisk::new();
    run_to_rest(&trimmed, 401, 120, true);
    assert_eq!(damaged(trimmed.kill_image()), [], "what was deleted is not missed");
    let (mut num_flipped, mut num_found) = (0, 0);
    for path in files_of(&disk, Path::new("/data/feeds")) {
        let size = disk.open(&path, OpenMode::Read).unwrap().size().unwrap();
        for at in (0..size).step_by(41) {
            let image = disk.kill_image();
            let file = image.open(&path, OpenMode::Write).unwrap();
            let mut byte = [0];
            file.read_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 4], at).unwrap();
            let found = damaged(image);
            // The leader epoch and the label's hash stand for themselves: nothing says what they should be.
            let unchecked = found.is_empty();
            assert!(unchecked || found.iter().any(|(file, _)| related(file, &path)), "{path:?} at {at}: {found:?}");
            num_flipped += 1;
            num_found += u64::from(!unchecked);
        }
    }
    println!("{num_found} of {num_flipped} flips found");
    assert!(num_flipped > 500 && num_found * 10 > num_flipped * 9, "{num_found} of {num_flipped}");
}

/// The same file, or the one that it is held against.
fn related(found: &Path, flipped: &Path) -> bool {
    found == flipped || found.parent() == flipped.parent()
}

fn files_of(disk: &FaultyDisk, folder: &Path) -> Vec<PathBuf> {
    let names = disk.list(folder).unwrap();
    let paths = names.iter().map(|name| folder.join(name));
    paths.flat_map(|path| if disk.list(&path).is_ok() { files_of(disk, &path) } else { vec![path] }).collect()
}

#[test]
fn a_crash_during_recovery_changes_nothing() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Fsync, 100..101, 20, |crash, number| {
        let image = crash.disk.crash_image(CrashPolicy::Seeded(number));
        let before = image.num_ops();
        let undisturbed = image.kill_image();
        let lsn = check_image(&undisturbed, Durability::Fsync, crash.acknowledged(), &crash.told).lsn;
        // Every third, starting anywhere: all of them are met over the operations of the history.
        for number in (before + 1 + number % 3..=before + undisturbed.num_ops()).step_by(3) {
            let disturbed = image.kill_image();
            disturbed.crash_at(number);
            let told = format!("{}, then at operation {number} of the start", crash.told);
            if open(&disturbed, Durability::Fsync).is_ok() {
                break;
            }
            let disturbed = disturbed.crash_image(CrashPolicy::Seeded(number));
            let opened = check_image(&disturbed, Durability::Fsync, crash.acknowledged(), &told);
            // A group in flight may be there or not, but what was decided once stays.
            assert!(opened.lsn <= lsn.max(crash.acknowledged()[0].lsn), "{told}");
            num_images.fetch_add(1, Ordering::Relaxed);
        }
    });
    println!("{} crash images of recoveries recovered", num_images.into_inner());
}

#[test]
fn a_killed_process_loses_nothing_acknowledged_without_syncs_either() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Os, 200..202, 24, |crash, number| {
        let image = crash.disk.kill_image();
        check_image(&image, Durability::Os, crash.acknowledged(), &crash.told);
        // A power loss may take groups back, but never from their middle.
        let image = crash.disk.crash_image(CrashPolicy::Seeded(number));
        check_image(&image, Durability::Os, &crash.ran.points, &crash.told);
        let image = crash.disk.crash_image(CrashPolicy::DropAll);
        check_image(&image, Durability::Os, &crash.ran.points, &crash.told);
        num_images.fetch_add(3, Ordering::Relaxed);
    });
    println!("{} crash images recovered in os durability", num_images.into_inner());
}

#[test]
fn what_no_sync_secured_is_secured_by_a_start_that_promises_it() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Os, 500..502, 16, |crash, number| {
        for image in [crash.disk.kill_image(), crash.disk.crash_image(CrashPolicy::Seeded(number))] {
            let opened = check_image(&image, Durability::Fsync, &crash.ran.points, &crash.told);
            let lsn = opened.lsn;
            drop(opened);
            let lost = image.crash_image(CrashPolicy::DropAll);
            let again = check_image(&lost, Durability::Fsync, &crash.ran.points, &format!("{}, again", crash.told));
            assert_eq!(again.lsn, lsn, "{}: the second start comes back elsewhere", crash.told);
            num_images.fetch_add(2, Ordering::Relaxed);
        }
    });
    println!("{} crash images changed over from os to fsync", num_images.into_inner());
}

#[test]
fn a_store_without_syncs_goes_on_and_comes_back_again() {
    let num_images = AtomicU64::new(0);
    at_every_operation(Durability::Os, 600..602, 16, |crash, number| {
        for image in [crash.disk.kill_image(), crash.disk.crash_image(CrashPolicy::Seeded(number))] {
            let opened = check_image(&image, Durability::Os, &crash.ran.points, &crash.told);
            let point = crash.ran.points.iter().find(|point| point.lsn == opened.lsn).unwrap();
            // What was dropped must not come up again under what is written now.
            let end = go_on(opened, point.contents.clone(), number, 8);
            let told = format!("{}, after going on", crash.told);
            check_image(&image.kill_image(), Durability::Os, std::slice::from_ref(&end), &told);
            // A power loss takes back what it takes, and leaves a store that starts.
            let lost = image.crash_image(CrashPolicy::Seeded(number));
            open(&lost, Durability::Os).unwrap_or_else(|error| panic!("{told}: {error}"));
            num_images.fetch_add(2, Ordering::Relaxed);
        }
    });
    println!("{} crash images in os durability recovered and gone on with", num_images.into_inner());
}

//! Crashes at every operation, of a first life, of the start after it, and of the life after that.

use super::*;
use crate::disk::SplitMix;

const FILE_BYTES: u64 = 1536;

/// What the store knows for certain at the crash.
#[derive(Clone, Default)]
struct Ledger {
    /// Everything appended, the one in flight included.
    written: Vec<Group>,
    /// Entries below were synced.
    synced: Lsn,
    /// The manifest that was durable.
    from: Lsn,
}

impl Ledger {
    /// Everything synced is there, in order, and nothing but a prefix of the rest.
    fn check(&self, read: &[Group], context: &str) {
        let expected: Vec<&Group> = self.written.iter().filter(|group| group.end() > self.from).collect();
        assert!(read.len() <= expected.len(), "{context}");
        assert!(read.iter().eq(expected[..read.len()].iter().copied()), "{context}: what is read was not written");
        let end = read.last().map_or(self.from, Group::end);
        assert!(end >= self.synced.max(self.from), "{context}: read up to {end}, synced {}", self.synced);
    }

    /// From here on what was read is all that there is.
    fn settle(&mut self, journal: &Journal) {
        self.written.retain(|group| group.end() <= journal.next());
        self.synced = journal.next();
    }
}

/// One life: appends, syncs, trims, marks and spares as the seed has it, until an operation fails.
fn live(journal: &mut Journal, ledger: &mut Ledger, seed: u64, steps: usize) -> Result<(), JournalError> {
    let mut random = SplitMix::new(seed);
    for _ in 0..steps {
        match random.below(12) {
            0..6 => {
                let bytes = if random.chance(1, 8) { 2500 } else { random.below(400) as usize };
                let group = group(journal, 1 + random.below(3) as u32, bytes, seed as u8);
                ledger.written.push(group.clone());
                append(journal, &group)?;
            }
            6..9 => {
                journal.sync()?;
                ledger.synced = journal.next();
            }
            9 => {
                journal.mark_idle()?;
                ledger.synced = journal.next();
            }
            10 => {
                ledger.from = Lsn(random.below(journal.next().0 + 1)).max(ledger.from);
                journal.trim(ledger.from)?;
            }
            _ => drop(journal.prepare_spare()?),
        }
    }
    Ok(())
}

/// Opens, checks, and lives on; gives back the first error of the disk.
fn boot(
    disk: &FaultyDisk,
    options: JournalOptions,
    ledger: &mut Ledger,
    seed: u64,
    steps: usize,
) -> Result<(), JournalError> {
    let (mut journal, read) = open_with(disk, options, ledger.from)?;
    ledger.check(&read, &format!("seed {seed}"));
    ledger.settle(&journal);
    live(&mut journal, ledger, seed, steps)
}

fn num_ops(options: JournalOptions, seed: u64, steps: usize) -> u64 {
    let disk = new_disk();
    boot(&disk, options, &mut Ledger::default(), seed, steps).unwrap();
    disk.num_ops()
}

#[test]
fn a_crash_at_every_operation_keeps_what_was_synced() {
    let mut images = 0;
    for durability in [Durability::Fsync, Durability::Os] {
        let options = JournalOptions { durability, ..options(FILE_BYTES) };
        for seed in 0..6 {
            for crash in SETUP_OPS + 1..=num_ops(options, seed, 60) {
                let disk = new_disk();
                disk.crash_at(crash);
                let mut ledger = Ledger::default();
                boot(&disk, options, &mut ledger, seed, 60).unwrap_err();
                for image in 0..9 {
                    let policy = match image {
                        0 => CrashPolicy::DropAll,
                        1 => CrashPolicy::KeepAll,
                        image => CrashPolicy::Seeded(crash * 100 + image),
                    };
                    images += 1;
                    check_image(&disk.crash_image(policy), options, &ledger, seed + 1000);
                }
                check_image(&disk.kill_image(), options, &ledger, seed + 1000);
            }
        }
    }
    assert!(images >= 10_000, "{images}");
}

/// Boots an image, loses power once more at the end of a short life, and boots again.
fn check_image(disk: &FaultyDisk, options: JournalOptions, ledger: &Ledger, seed: u64) {
    let mut ledger = ledger.clone();
    boot(disk, options, &mut ledger, seed, 6).unwrap();
    boot(&disk.crash_image(CrashPolicy::Seeded(seed)), options, &mut ledger, seed, 0).unwrap();
}

#[test]
fn what_a_start_has_shown_survives_the_next_power_loss() {
    let options = options(FILE_BYTES);
    for seed in 0..4 {
        for crash in (SETUP_OPS + 1..=num_ops(options, seed, 40)).step_by(3) {
            let disk = new_disk();
            disk.crash_at(crash);
            let mut ledger = Ledger::default();
            boot(&disk, options, &mut ledger, seed, 40).unwrap_err();
            for image in [disk.kill_image(), disk.crash_image(CrashPolicy::Seeded(crash))] {
                let (_, shown) = open_with(&image, options, ledger.from).unwrap();
                let (_, again) = open_with(&image.crash_image(CrashPolicy::DropAll), options, ledger.from).unwrap();
                assert_eq!(shown, again);
            }
        }
    }
}

#[test]
fn a_start_that_crashes_at_every_operation_changes_nothing() {
    let options = options(FILE_BYTES);
    for seed in 0..4 {
        for crash in (SETUP_OPS + 1..=num_ops(options, seed, 40)).step_by(5) {
            let disk = new_disk();
            disk.crash_at(crash);
            let mut ledger = Ledger::default();
            boot(&disk, options, &mut ledger, seed, 40).unwrap_err();
            let image = disk.crash_image(CrashPolicy::Seeded(crash ^ seed));
            let undisturbed = image.kill_image();
            let (_, shown) = open_with(&undisturbed, options, ledger.from).unwrap();
            for crash in 1..=undisturbed.num_ops() {
                let disturbed = image.kill_image();
                disturbed.crash_at(crash);
                assert!(open_with(&disturbed, options, ledger.from).is_err());
                let again = disturbed.crash_image(CrashPolicy::Seeded(crash));
                assert_eq!(open_with(&again, options, ledger.from).unwrap().1, shown);
            }
        }
    }
}

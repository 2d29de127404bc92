//! Failing writes and syncs, and a full disk.

use super::*;
use crate::disk::{Failure, Op};

const FILE_BYTES: u64 = 2048;

fn fail_next(disk: &FaultyDisk, op: Op, errno: i32) {
    disk.fail(Failure { op, nth: 1, errno, for_ever: false });
}

fn assert_takes_nothing_more(disk: &FaultyDisk, journal: &mut Journal) {
    let before = disk.num_ops();
    let group = group(journal, 1, 5, 0);
    let results = [append(journal, &group), journal.sync(), journal.mark_idle(), journal.trim(Lsn(100))];
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, JournalError::Poisoned { .. }), "{error}");
        assert!(error.to_string().contains(DIR), "{error}");
    }
    assert_eq!(disk.num_ops(), before);
}

#[test]
fn after_a_failed_write_or_sync_nothing_more_is_taken() {
    for op in [Op::Write, Op::Sync] {
        let disk = new_disk();
        let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
        let synced = append_many(&mut journal, 2, 64, 0);
        journal.sync().unwrap();
        fail_next(&disk, op, libc::EIO);
        let lost = group(&journal, 1, 64, 0);
        append(&mut journal, &lost).and_then(|()| journal.sync()).unwrap_err();
        assert_takes_nothing_more(&disk, &mut journal);
        let (_, read) = open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap();
        assert_eq!(read, synced);
    }
}

/// The kernel forgets that pages are dirty when their sync fails: they are read back, but a later sync does
/// not write them. What a restart serves from them must survive the next power loss all the same.
#[test]
fn what_is_recovered_after_a_failed_sync_is_written_again() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let mut written = append_many(&mut journal, 2, 64, 0);
    journal.sync().unwrap();
    written.extend(append_many(&mut journal, 3, 64, 0));
    fail_next(&disk, Op::Sync, libc::EIO);
    journal.sync().unwrap_err();
    let restarted = disk.kill_image();
    assert_eq!(open(&restarted, FILE_BYTES, 0).unwrap().1, written);
    assert_eq!(open(&restarted.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap().1, written);
}

#[test]
fn a_full_disk_refuses_a_new_file_and_goes_on_when_there_is_room() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    disk.set_capacity(Some(FILE_BYTES + 1000));
    let mut written = append_many(&mut journal, 15, 64, 0);
    let next = group(&journal, 1, 64, 0);
    let error = append(&mut journal, &next).unwrap_err();
    assert!(
        matches!(&error, JournalError::Io { source, .. } if source.raw_os_error() == Some(libc::ENOSPC)),
        "{error}"
    );
    journal.prepare_spare().unwrap_err();
    journal.sync().unwrap();
    assert_eq!(disk.list(Path::new(DIR)).unwrap().len(), 1, "nothing half made is left");
    disk.set_capacity(None);
    append(&mut journal, &next).unwrap();
    journal.sync().unwrap();
    written.push(next);
    assert_eq!(open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap().1, written);
}

#[test]
fn each_failing_operation_is_survived() {
    for op in [Op::Write, Op::Sync, Op::Rename, Op::SyncDir, Op::Create, Op::Unlink, Op::Allocate, Op::Truncate] {
        for nth in 1..40 {
            let disk = new_disk();
            disk.fail(Failure { op, nth, errno: libc::EIO, for_ever: nth % 2 == 0 });
            let mut written = Vec::new();
            let mut synced = 0;
            let failed = life(&disk, &mut written, &mut synced).is_err();
            disk.heal();
            for image in
                [disk.kill_image(), disk.crash_image(CrashPolicy::DropAll), disk.crash_image(CrashPolicy::Seeded(nth))]
            {
                let (_, read) = open(&image, FILE_BYTES, 0).unwrap();
                assert!(read.len() >= synced && read == written[..read.len()], "{op:?} {nth}");
                assert!(failed || synced == written.len());
            }
        }
    }
}

fn life(disk: &FaultyDisk, written: &mut Vec<Group>, synced: &mut usize) -> Result<(), JournalError> {
    let (mut journal, _) = open(disk, FILE_BYTES, 0)?;
    for index in 0..24 {
        let group = group(&journal, 1, 150, 0);
        written.push(group.clone());
        append(&mut journal, &group)?;
        if index % 3 == 2 {
            journal.sync()?;
            *synced = written.len();
        }
    }
    journal.mark_idle()?;
    *synced = written.len();
    Ok(())
}

//! What the journal does when nothing goes wrong.

use super::*;
use crate::disk::OsDisk;

#[test]
fn groups_come_back_in_order_over_many_files() {
    let disk = new_disk();
    let (mut journal, none) = open(&disk, 2048, 0).unwrap();
    assert_eq!(none, []);
    let mut written = Vec::new();
    for size in [0, 1, 300, 700, 36, 1200, 5, 4000, 900] {
        let group = group(&journal, 1 + size as u32 % 3, size, 0);
        append(&mut journal, &group).unwrap();
        written.push(group);
    }
    journal.sync().unwrap();
    drop(journal);
    let (journal, read) = open(&disk, 2048, 0).unwrap();
    assert_eq!(read, written);
    assert_eq!(journal.recovery().num_groups, 9);
    assert_eq!(journal.recovery().dropped, None);
    let (_, read) = open(&disk, 2048, written[3].first.0 + 1).unwrap();
    assert_eq!(read, written[3..], "a group is handed out whole when part of it is needed");
}

#[test]
fn a_group_larger_than_a_file_gets_a_file_of_its_size() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    // The first file holds no frame yet, and is replaced by one of the same name.
    let mut written = append_many(&mut journal, 2, 5000, 0);
    written.extend(append_many(&mut journal, 1, 10, 0));
    journal.mark_idle().unwrap();
    let sizes: Vec<usize> = journal_files(&disk).iter().map(|path| read_bytes(&disk, path).len()).collect();
    assert_eq!(sizes, [512 + 36 + 5000 + 36, 512 + 36 + 5000 + 36, 1024]);
    assert_eq!(open(&disk, 1024, 0).unwrap().1, written);
}

#[test]
fn trimmed_files_are_recycled_and_the_rest_gives_its_room_back() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    append_many(&mut journal, 40, 200, 0);
    journal.sync().unwrap();
    let before = journal_files(&disk).len();
    assert!(before > 10);
    journal.trim(journal.next()).unwrap();
    assert_eq!(journal_files(&disk).len(), 1);
    let spares = disk.list(Path::new(DIR)).unwrap().iter().filter(|name| name.ends_with(".spare")).count();
    assert_eq!(spares, 4);
    assert!(!journal.prepare_spare().unwrap(), "one is ready");
    let kept = append_many(&mut journal, 4, 200, 1);
    journal.sync().unwrap();
    assert!(disk.list(Path::new(DIR)).unwrap().iter().filter(|name| name.ends_with(".spare")).count() < 4);
    assert_eq!(open(&disk, 1024, kept[0].first.0).unwrap().1, kept);
}

#[test]
fn a_prepared_spare_is_taken_without_growing_a_file() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 3 << 20, 0).unwrap();
    assert!(journal.spares().wanted());
    assert!(journal.prepare_spare().unwrap());
    assert!(!journal.spares().wanted());
    let before = disk.num_ops();
    append_many(&mut journal, 4, 1 << 20, 0);
    let done: Vec<_> = disk.trace()[before as usize..].iter().map(|traced| traced.op).collect();
    use crate::disk::Op::{Rename, Sync, SyncDir, Write};
    assert_eq!(done, [Write, Write, Write, Sync, Rename, SyncDir, Write, Write]);
}

#[test]
fn one_sync_serves_all_files_and_the_idle_mark_is_written_once() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    let written = append_many(&mut journal, 9, 200, 0);
    assert_eq!(journal.synced(), Lsn(0));
    journal.sync().unwrap();
    assert_eq!(journal.synced(), journal.next());
    assert_eq!(open(&disk.crash_image(CrashPolicy::DropAll), 1024, 0).unwrap().1, written);
    journal.mark_idle().unwrap();
    let before = disk.num_ops();
    journal.mark_idle().unwrap();
    assert_eq!(disk.num_ops(), before);
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    let before = disk.num_ops();
    journal.mark_idle().unwrap();
    assert_eq!(disk.num_ops(), before, "the mark is still there after a restart");
}

#[test]
fn the_machines_disk_keeps_a_journal_too() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("journal");
    let options = JournalOptions { file_bytes: 1 << 16, durability: Durability::Fsync, salt: 7 };
    let mut read = Vec::new();
    let mut written = Vec::new();
    for life in 0..3_u8 {
        read.clear();
        let mut journal =
            Journal::open(Arc::new(OsDisk), dir.clone(), options, Lsn(0), &mut |first, count, payload| {
                read.push(Group { first, count, payload });
                Ok(Taken::Whole)
            })
            .unwrap();
        assert_eq!(read, written);
        journal.prepare_spare().unwrap();
        for bytes in [10, 30_000, 30_000, 100_000, 4] {
            let group = group(&journal, 2, bytes, life);
            append(&mut journal, &group).unwrap();
            written.push(group);
        }
        journal.mark_idle().unwrap();
    }
}

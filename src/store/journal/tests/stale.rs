//! What an earlier life of a file left behind never joins the journal.

use super::*;

const FILE_BYTES: u64 = 2048;

#[test]
fn frames_of_an_earlier_life_never_replay() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let mut kept = Vec::new();
    // Frames of one size: the old ones stand exactly where the new ones end.
    for life in 0..6 {
        kept = append_many(&mut journal, 30, 64, life);
        journal.sync().unwrap();
        journal.trim(kept[0].first).unwrap();
    }
    let more = append_many(&mut journal, 3, 64, 9);
    journal.sync().unwrap();
    for disk in [disk.kill_image(), disk.crash_image(CrashPolicy::DropAll)] {
        let (_, read) = open(&disk, FILE_BYTES, kept[0].first.0).unwrap();
        assert_eq!(read, [kept.clone(), more.clone()].concat());
    }
}

/// Frame `n` of a journal is lost and the unsynced frames behind it reach the disk. All are dropped; the new
/// frame `n` has the old one's size, so the old frame `n + 1` follows it exactly, with the right lsn.
#[test]
fn frames_behind_a_torn_one_do_not_come_back_when_the_gap_is_filled() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let synced = append_many(&mut journal, 2, 64, 0);
    journal.sync().unwrap();
    append_many(&mut journal, 4, 64, 1);
    let path = &journal_files(&disk)[0];
    write_bytes(&disk, path, 712, &[0; 100]);

    let (mut journal, read) = open(&disk, FILE_BYTES, 0).unwrap();
    assert_eq!(read, synced);
    let dropped = journal.recovery().dropped.clone().unwrap();
    assert_eq!((dropped.file, dropped.byte, dropped.lsn), (path.clone(), 712, Lsn(2)));
    let new = append_many(&mut journal, 1, 64, 2);
    journal.sync().unwrap();
    let (_, read) = open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap();
    assert_eq!(read, [synced, new].concat());
}

/// A torn frame lacks its first sector, which holds only its length. The next frame in its place has the
/// same length, and of it only that sector reaches the disk: together they would be the old frame.
#[test]
fn two_torn_frames_do_not_make_a_whole_one() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    // The next frame starts 4 bytes before a sector's end.
    let synced = append_many(&mut journal, 1, 512 - FRAME_HEAD_BYTES - 4, 0);
    journal.sync().unwrap();
    append_many(&mut journal, 1, 64, 1);
    let path = &journal_files(&disk)[0];
    let length = read_bytes(&disk, path)[1020..1024].to_vec();
    write_bytes(&disk, path, 1020, &[0; 4]);
    let (journal, read) = open(&disk, FILE_BYTES, 0).unwrap();
    assert_eq!((journal.next(), read), (Lsn(1), synced.clone()));
    write_bytes(&disk, path, 1020, &length);
    assert_eq!(open(&disk, FILE_BYTES, 0).unwrap().1, synced);
}

/// The same over two files: the second one's frames are whole, and unsynced.
#[test]
fn a_file_behind_a_torn_frame_goes() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let synced = append_many(&mut journal, 2, 64, 0);
    journal.sync().unwrap();
    append_many(&mut journal, 20, 64, 1);
    let files = journal_files(&disk);
    assert_eq!(files.len(), 2);
    write_bytes(&disk, &files[0], 750, &[0xee, 0xee]);
    let (mut journal, read) = open(&disk, FILE_BYTES, 0).unwrap();
    assert_eq!(read, synced);
    assert_eq!(journal_files(&disk).len(), 1);
    let new = append_many(&mut journal, 20, 64, 2);
    journal.sync().unwrap();
    assert_eq!(open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap().1, [synced, new].concat());
}

/// The dropped file's name is gone for good before the journal grows up to where that file started.
#[test]
fn a_dropped_file_does_not_come_back_when_the_journal_reaches_its_start() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let synced = append_many(&mut journal, 2, 64, 0);
    journal.sync().unwrap();
    append_many(&mut journal, 20, 64, 1);
    let path = journal_files(&disk).remove(0);
    write_bytes(&disk, &path, 750, &[0xee, 0xee]);
    let second: u32 = journal_files(&disk)[1].file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let new = group(&journal, second - 2, 64, 2);
    append(&mut journal, &new).unwrap();
    journal.sync().unwrap();
    let (_, read) = open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap();
    assert_eq!(read, [synced, vec![new]].concat());
}

/// A client's payload that looks like a frame of a later entry proves nothing: it cannot guess the generation.
#[test]
fn a_payload_that_looks_like_a_frame_is_no_proof() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let synced = append_many(&mut journal, 2, 64, 0);
    journal.sync().unwrap();
    let head = frame::FrameHead { first: Lsn(3), generation: 1 << 32, synced: Lsn(3), count: 1, bytes: 36 };
    let forged = Bytes::copy_from_slice(&head.encode(&[]));
    journal.append(Lsn(2), 1, &[forged]).unwrap();
    let path = &journal_files(&disk)[0];
    write_bytes(&disk, path, 719, &[0xff]);
    assert_eq!(open(&disk, FILE_BYTES, 0).unwrap().1, synced);
}

/// A spare may hold a life that was never trimmed but lost with its name.
#[test]
fn generations_go_on_from_the_highest_even_if_a_spare_has_it() {
    let disk = new_disk();
    let os = JournalOptions { durability: Durability::Os, ..options(FILE_BYTES) };
    let (mut journal, _) = open_with(&disk, os, Lsn(0)).unwrap();
    append_many(&mut journal, 40, 64, 0);
    journal.sync().unwrap();
    journal.trim(journal.next()).unwrap();
    let kept = append_many(&mut journal, 30, 64, 1);
    let image = disk.crash_image(CrashPolicy::DropAll);
    let from = kept[0].first;
    let (mut journal, read) = open_with(&image, os, from).unwrap();
    assert_eq!(read, kept[..read.len()]);
    let (next, mut read) = (journal.next(), read);
    read.extend(append_many(&mut journal, 30, 64, 2));
    journal.sync().unwrap();
    assert!(journal.next() > next);
    assert_eq!(open_with(&image.crash_image(CrashPolicy::DropAll), os, from).unwrap().1, read);
}

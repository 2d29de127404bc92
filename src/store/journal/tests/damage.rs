//! Flipped bytes, cut files, missing files: the same entries, or a refusal that says where and what to do.

use super::*;

const FILE_BYTES: u64 = 2500;

/// A journal of 200 entries; an open one was synced after each group.
fn journal(closed: bool) -> (FaultyDisk, Vec<Group>) {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let mut written = Vec::new();
    for index in 0..100 {
        let group = group(&journal, 1 + index % 3, 11 + index as usize % 30, 0);
        append(&mut journal, &group).unwrap();
        written.push(group);
        if index % 4 == 3 || !closed {
            journal.sync().unwrap();
        }
    }
    assert!(journal.next() >= Lsn(199));
    if closed {
        journal.mark_idle().unwrap();
    }
    (disk, written)
}

/// What a start makes of a harmed journal.
enum Outcome {
    Same,
    Fewer(usize),
    Refused { file: PathBuf, byte: u64 },
}

fn outcome(disk: &FaultyDisk, written: &[Group]) -> Outcome {
    outcome_in(disk, FILE_BYTES, written)
}

fn outcome_in(disk: &FaultyDisk, file_bytes: u64, written: &[Group]) -> Outcome {
    match open(disk, file_bytes, 0) {
        Ok((_, read)) if read == written => Outcome::Same,
        Ok((_, read)) => {
            assert_eq!(read, written[..read.len()], "a start gives a prefix");
            Outcome::Fewer(read.len())
        }
        Err(error) => {
            let text = error.to_string();
            let JournalError::Damaged { file, byte, lsn, .. } = error else { panic!("{text}") };
            assert!(text.contains(file.to_str().unwrap()) && text.contains(&format!("byte {byte}")), "{text}");
            assert!(text.contains(&format!("create the empty file {DIR}/give-up-from-{:020}", lsn.0)), "{text}");
            Outcome::Refused { file, byte }
        }
    }
}

fn flipped(disk: &FaultyDisk, path: &Path, at: usize, bits: u8) -> FaultyDisk {
    let disk = copy(disk);
    let byte = read_bytes(&disk, path)[at];
    write_bytes(&disk, path, at as u64, &[byte ^ bits]);
    disk
}

#[test]
fn every_flipped_byte_of_a_closed_journal_is_harmless_or_refused() {
    let (disk, written) = journal(true);
    let mut refused = 0;
    for path in journal_files(&disk) {
        for at in 0..read_bytes(&disk, &path).len() {
            match outcome(&flipped(&disk, &path, at, 1 << (at % 8)), &written) {
                Outcome::Same => {}
                Outcome::Fewer(left) => panic!("byte {at} of {path:?}: only {left} groups are left"),
                Outcome::Refused { file, byte } => {
                    refused += 1;
                    assert_eq!(file, path);
                    assert!(byte <= at as u64, "the named byte {byte} starts the frame that holds byte {at}");
                }
            }
        }
    }
    assert!(refused > 6000, "{refused}");
}

#[test]
fn random_flipped_bits_of_a_large_journal_are_harmless_or_refused() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 200_000, 0).unwrap();
    let written = append_many(&mut journal, 300, 2_000, 0);
    journal.mark_idle().unwrap();
    let files = journal_files(&disk);
    let mut random = crate::disk::SplitMix::new(4);
    let mut refused = 0;
    for _ in 0..1000 {
        let path = &files[random.below(files.len() as u64) as usize];
        let at = random.below(read_bytes(&disk, path).len() as u64) as usize;
        match outcome_in(&flipped(&disk, path, at, 1 << random.below(8)), 200_000, &written) {
            Outcome::Same => {}
            Outcome::Fewer(left) => panic!("byte {at} of {path:?}: only {left} groups are left"),
            Outcome::Refused { file, byte } => {
                refused += 1;
                assert!(file == *path && byte <= at as u64, "byte {at} of {path:?}: {file:?}, {byte}");
            }
        }
    }
    assert!(refused > 700, "{refused}");
}

#[test]
fn a_flip_in_the_last_frame_of_an_open_journal_drops_only_its_group() {
    let (disk, written) = journal(false);
    let files = journal_files(&disk);
    let last_frame = last_frame(&disk);
    let mut dropped = 0;
    for path in &files {
        for at in 0..read_bytes(&disk, path).len() {
            if let Outcome::Fewer(left) = outcome(&flipped(&disk, path, at, 0xff), &written) {
                dropped += 1;
                assert_eq!(left, written.len() - 1);
                assert_eq!(path, files.last().unwrap());
                assert!(last_frame.contains(&(at as u64)));
            }
        }
    }
    assert_eq!(dropped, last_frame.end - last_frame.start);
}

fn last_frame(disk: &FaultyDisk) -> std::ops::Range<u64> {
    let frames = inspect(disk, Path::new(DIR)).unwrap().filter_map(|found| match found {
        Found::Frame { position, head, .. } => Some(position..position + head.bytes),
        _ => None,
    });
    frames.last().unwrap()
}

#[test]
fn every_cut_of_a_file_is_harmless_or_refused() {
    for closed in [true, false] {
        let (disk, written) = journal(closed);
        for path in journal_files(&disk) {
            for size in 0..read_bytes(&disk, &path).len() {
                let disk = copy(&disk);
                cut(&disk, &path, size as u64);
                match outcome(&disk, &written) {
                    Outcome::Same => {}
                    Outcome::Fewer(left) => panic!("{path:?} cut to {size}: only {left} groups are left"),
                    Outcome::Refused { file, byte } => {
                        assert_eq!(file, path);
                        assert!(byte <= size as u64);
                    }
                }
            }
        }
    }
}

#[test]
fn a_missing_file_is_refused_wherever_it_was() {
    let (disk, written) = journal(true);
    let files = journal_files(&disk);
    assert!(files.len() > 3);
    let headless = copy(&disk);
    headless.remove_file(&files[0]).unwrap();
    let error = open(&headless, FILE_BYTES, 0).err().unwrap();
    assert!(matches!(error, JournalError::Missing { lsn: Lsn(0), .. }), "{error}");
    for path in &files[1..files.len() - 1] {
        let disk = copy(&disk);
        disk.remove_file(path).unwrap();
        assert!(matches!(outcome(&disk, &written), Outcome::Refused { .. }), "{path:?}");
    }
}

#[test]
fn a_missing_journal_is_refused_when_a_manifest_speaks_of_it() {
    let disk = new_disk();
    let error = open(&disk, FILE_BYTES, 17).err().unwrap();
    assert!(matches!(error, JournalError::Missing { lsn: Lsn(17), .. }), "{error}");
    write_bytes(&disk, &dir().join(give_up_name(Lsn(17))), 0, b"");
    let (journal, read) = open(&disk, FILE_BYTES, 17).unwrap();
    assert_eq!((journal.next(), read), (Lsn(17), vec![]));
    drop(journal);
    open(&disk, FILE_BYTES, 17).unwrap();
}

#[test]
fn swapped_files_and_swapped_frames_are_refused() {
    let (disk, written) = journal(true);
    let files = journal_files(&disk);
    let swapped = copy(&disk);
    swapped.rename(&files[1], &dir().join("aside")).unwrap();
    swapped.rename(&files[2], &files[1]).unwrap();
    swapped.rename(&dir().join("aside"), &files[2]).unwrap();
    assert!(matches!(outcome(&swapped, &written), Outcome::Refused { .. }));

    // Two frames of one length change places: each is whole, neither belongs there.
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let written = append_many(&mut journal, 5, 64, 0);
    journal.mark_idle().unwrap();
    let path = &journal_files(&disk)[0];
    let bytes = read_bytes(&disk, path);
    write_bytes(&disk, path, 612, &bytes[712..812]);
    write_bytes(&disk, path, 712, &bytes[612..712]);
    assert!(matches!(outcome(&disk, &written), Outcome::Refused { byte: 612, .. }));
}

#[test]
fn garbage_after_the_end_changes_nothing() {
    let (disk, written) = journal(true);
    let path = journal_files(&disk).pop().unwrap();
    let size = read_bytes(&disk, &path).len() as u64;
    write_bytes(&disk, &path, size, &[0xa5; 3000]);
    let end = last_frame(&disk).end;
    write_bytes(&disk, &path, end, &[0x5a; 200]);
    write_bytes(&disk, &dir().join("notes.txt"), 0, b"hello");
    write_bytes(&disk, &dir().join("12.journal"), 0, b"hello");
    assert!(matches!(outcome(&disk, &written), Outcome::Same));
}

#[test]
fn what_the_operator_gives_up_goes_and_the_journal_goes_on() {
    let (disk, written) = journal(true);
    for path in journal_files(&disk) {
        for at in (0..read_bytes(&disk, &path).len()).step_by(41) {
            let disk = flipped(&disk, &path, at, 0x10);
            let Err(JournalError::Damaged { lsn, .. }) = open(&disk, FILE_BYTES, 0) else { continue };
            write_bytes(&disk, &dir().join(give_up_name(lsn)), 0, b"");
            let (mut journal, read) = open(&disk, FILE_BYTES, 0).unwrap();
            assert_eq!(read, written.iter().filter(|group| group.first < lsn).cloned().collect::<Vec<_>>());
            let more = append_many(&mut journal, 30, 100, 9);
            journal.sync().unwrap();
            let (_, all) = open(&disk.crash_image(CrashPolicy::DropAll), FILE_BYTES, 0).unwrap();
            assert_eq!(all, [read, more].concat());
        }
    }
}

#[test]
fn a_cut_file_that_is_given_up_is_a_whole_file_again() {
    let (disk, written) = journal(true);
    let path = journal_files(&disk).pop().unwrap();
    cut(&disk, &path, 700);
    let Err(JournalError::Damaged { lsn, .. }) = open(&disk, FILE_BYTES, 0) else { panic!("it was accepted") };
    write_bytes(&disk, &dir().join(give_up_name(lsn)), 0, b"");
    open(&disk, FILE_BYTES, 0).unwrap();
    let (_, read) = open(&disk, FILE_BYTES, 0).unwrap();
    assert!(read.len() < written.len() && read == written[..read.len()]);
}

#[test]
fn a_newer_format_is_refused_by_its_version() {
    let disk = new_disk();
    open(&disk, FILE_BYTES, 0).unwrap();
    let path = &journal_files(&disk)[0];
    let mut header = read_bytes(&disk, path)[..HEADER_BYTES].to_vec();
    header[11] = 2;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&header[..12]), &header[16..]);
    header[12..16].copy_from_slice(&crc.to_be_bytes());
    write_bytes(&disk, path, 0, &header);
    let error = open(&disk, FILE_BYTES, 0).err().unwrap().to_string();
    assert!(error.contains("format version 2, this program reads 1"), "{error}");
}

#[test]
fn a_group_that_the_store_refuses_is_named() {
    let (disk, written) = journal(true);
    let refuse = &mut |first, _, _| if first == written[7].first { Err("nonsense".into()) } else { Ok(Taken::Whole) };
    let error = Journal::open(Arc::new(disk), dir(), options(FILE_BYTES), Lsn(0), refuse).err().unwrap();
    let text = error.to_string();
    assert!(matches!(error, JournalError::Replay { lsn, .. } if lsn == written[7].first), "{text}");
    assert!(text.contains("nonsense") && text.contains("byte ") && text.contains("give-up-from-"), "{text}");
}

#[test]
fn a_group_whose_ground_is_gone_is_torn_or_damaged_as_any_other() {
    let (disk, written) = journal(true);
    let torn = written[7].first;
    let lacking = &mut |first, _, _| Ok(if first == torn { Taken::Torn("no batch".into()) } else { Taken::Whole });
    // Later frames say that it was durable.
    let error = Journal::open(Arc::new(disk), dir(), options(FILE_BYTES), Lsn(0), lacking).err().unwrap();
    let text = error.to_string();
    assert!(matches!(error, JournalError::Damaged { lsn, .. } if lsn == torn), "{text}");
    assert!(text.contains("no batch") && text.contains("give-up-from-"), "{text}");

    let disk = FaultyDisk::new();
    let options = JournalOptions { durability: Durability::Os, ..options(FILE_BYTES) };
    let mut journal = open_with(&disk, options, Lsn(0)).unwrap().0;
    let groups: Vec<Group> = (0..3)
        .map(|life| {
            let group = group(&journal, 2, 50, life);
            append(&mut journal, &group).unwrap();
            group
        })
        .collect();
    drop(journal);
    let torn = groups[1].first;
    let lacking = &mut |first, _, _| Ok(if first == torn { Taken::Torn("no batch".into()) } else { Taken::Whole });
    let journal = Journal::open(Arc::new(disk.clone()), dir(), options, Lsn(0), lacking).unwrap();
    assert_eq!((journal.next(), journal.recovery().num_groups), (torn, 1));
    let dropped = journal.recovery().dropped.as_ref().unwrap();
    assert_eq!((dropped.lsn, dropped.found.as_str()), (torn, "no batch"));
    drop(journal);
    // What was dropped does not come back.
    assert_eq!(open_with(&disk, options, Lsn(0)).unwrap().1, groups[..1]);
}

//! The bytes of version 1, for ever; and what the inspection says of good bytes and of garbage.

use super::*;
use crate::disk::SplitMix;

/// Written by hand from the module doc of the journal: three groups and the idle mark.
const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/journal/version-1.journal");

fn golden_groups() -> Vec<Group> {
    let group = |first, count, payload| Group { first: Lsn(first), count, payload: Bytes::from_static(payload) };
    vec![group(0, 1, b"one"), group(1, 2, b""), group(3, 3, b"three entries")]
}

#[test]
fn version_1_is_written_as_ever() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    for group in golden_groups() {
        append(&mut journal, &group).unwrap();
        if group.first == Lsn(1) {
            journal.sync().unwrap();
        }
    }
    journal.mark_idle().unwrap();
    assert_eq!(read_bytes(&disk, &journal_files(&disk)[0]), GOLDEN);
}

#[test]
fn version_1_is_read_as_ever() {
    let disk = new_disk();
    disk.create_dir_all(Path::new(DIR)).unwrap();
    write_bytes(&disk, &dir().join("00000000000000000000.journal"), 0, GOLDEN);
    let (journal, read) = open(&disk, 4096, 0).unwrap();
    assert_eq!(read, golden_groups());
    assert_eq!(journal.next(), Lsn(6));
}

#[test]
fn an_inspection_lists_every_frame() {
    let disk = new_disk();
    disk.create_dir_all(Path::new(DIR)).unwrap();
    write_bytes(&disk, &dir().join("00000000000000000000.journal"), 0, GOLDEN);
    let before = disk.num_ops();
    let found: Vec<Found> = inspect(&disk, Path::new(DIR)).unwrap().collect();
    assert!(matches!(&found[0], Found::File { bytes: 1024, header: Ok(header), .. } if header.first == Lsn(0)));
    let frames: Vec<_> = found[1..5]
        .iter()
        .map(|found| match found {
            Found::Frame { position, head, .. } => (*position, head.first.0, head.count, head.bytes, head.synced.0),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(frames, [(512, 0, 1, 39, 0), (551, 1, 2, 36, 0), (587, 3, 3, 49, 3), (636, 6, 0, 36, 6)]);
    let end = &found[5];
    assert!(matches!(end, Found::End { position: 672, lsn: Lsn(6), proof: None, .. }), "{end:?}");
    assert_eq!((found.len(), disk.num_ops()), (6, before));
}

#[test]
fn an_inspection_tells_damage_and_goes_on() {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, 1024, 0).unwrap();
    append_many(&mut journal, 12, 100, 0);
    journal.mark_idle().unwrap();
    let files = journal_files(&disk);
    write_bytes(&disk, &files[0], 700, b"????");
    write_bytes(&disk, &files[1], 30, b"????");
    disk.remove_file(&files[2]).unwrap();
    let found: Vec<Found> = inspect(&disk, Path::new(DIR)).unwrap().collect();
    let ends: Vec<_> = found.iter().filter(|found| !matches!(found, Found::Frame { .. })).collect();
    assert!(matches!(ends[1], Found::End { position: 648, .. }), "{ends:?}");
    assert!(matches!(ends[2], Found::Gap { .. }), "{ends:?}");
    assert!(matches!(ends[3], Found::File { header: Err(_), .. }), "{ends:?}");
    assert!(matches!(ends[4], Found::File { header: Ok(_), .. }), "{ends:?}");
}

#[test]
fn garbage_never_panics() {
    for seed in 0..400 {
        let mut random = SplitMix::new(seed);
        let disk = new_disk();
        disk.create_dir_all(Path::new(DIR)).unwrap();
        let mut bytes = GOLDEN.to_vec();
        bytes.truncate(random.below(1100) as usize);
        for _ in 0..random.below(30) {
            let at = random.below(bytes.len() as u64 + 1) as usize;
            bytes.splice(
                at..,
                [random.draw() as u8, 0xff, 0xff, 0xff].into_iter().chain(GOLDEN[at.min(512)..].iter().copied()),
            );
        }
        write_bytes(&disk, &dir().join("00000000000000000000.journal"), 0, &bytes);
        write_bytes(&disk, &dir().join("99999999999999999999.journal"), 0, &bytes);
        write_bytes(&disk, &dir().join("18446744073709551615.journal"), 0, &bytes);
        assert!(inspect(&disk, Path::new(DIR)).unwrap().count() > 0);
        drop(open(&disk, 1024, random.below(8)));
    }
}

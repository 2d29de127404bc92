//! Bits that a disk turned in segments at rest: what is served is what was written, and the rest is an error by name.

use super::log::filled;
use super::*;
use crate::batch::HEADER_LEN;
use crate::disk::{Disk, OpenMode, SplitMix, waiting};
use crate::store::{FileError, ReadError};

/// Turns one bit of a batch's bytes, in the segment where it lies.
fn flip(fixture: &Fixture, batches: &[(i64, Bytes)], number: usize, byte: usize, bit: u64) {
    let first = number / 40 * 40;
    let position: usize = batches[first..number].iter().map(|(_, batch)| batch.len()).sum();
    let file = fixture.disk.open(&segment_path(batches[first].0, "log"), OpenMode::Write).unwrap();
    file.write_all_at(&[batches[number].1[byte] ^ (1 << bit)], (position + byte) as u64).unwrap();
}

/// Reads from each batch on and checks what comes; gives the numbers of the batches that were errors.
fn unreadable(fixture: &Fixture, batches: &[(i64, Bytes)], bytes_max: usize) -> Vec<usize> {
    let partition = fixture.partition();
    let mut refused = Vec::new();
    let mut number = 0;
    while number < batches.len() {
        match partition.read(Offset(batches[number].0), fixture.end, bytes_max) {
            Ok(slice) => {
                let end = batches.partition_point(|(base, _)| *base < slice.next_offset.0);
                let expected: Vec<u8> = batches[number..end].iter().flat_map(|(_, batch)| batch.to_vec()).collect();
                assert!(end > number, "an empty success at batch {number}");
                assert!(slice.bytes == expected, "wrong bytes from batch {number}, {end}");
                number = end;
            }
            Err(ReadError::File(FileError::Damaged { path, .. })) => {
                assert_eq!(path, segment_path(batches[number / 40 * 40].0, "log"));
                refused.push(number);
                number += 1;
            }
            Err(error) => panic!("batch {number}: {error}"),
        }
    }
    refused
}

/// Damage to a batch's records, and to the part of its header that says where it stands.
fn check_flips(in_records: bool, stored_index: bool) {
    let (fixture, batches) = filled();
    if stored_index {
        fixture.directory.shelf().tidy_indexes().unwrap();
    }
    let mut random = SplitMix::new(u64::from(in_records) * 2 + u64::from(stored_index));
    let (end, log, disk) = (fixture.end, fixture.log, fixture.disk);
    for _ in 0..150 {
        let fixture = Fixture::on(disk.kill_image(), end, log);
        let number = random.below(batches.len() as u64) as usize;
        let (from, to) = if in_records { (HEADER_LEN, batches[number].1.len()) } else { (0, HEADER_LEN) };
        let byte = from + random.below((to - from) as u64) as usize;
        flip(&fixture, &batches, number, byte, random.below(8));
        let bytes_max = [1, 1_000, 1 << 20][random.below(3) as usize];
        let refused = unreadable(&fixture, &batches, bytes_max);
        assert!(refused.contains(&number), "batch {number} was served with byte {byte} flipped");
        if in_records {
            assert_eq!(refused, [number], "byte {byte}");
        } else {
            assert!(refused.iter().all(|other| other / 40 == number / 40), "batch {number}, byte {byte}: {refused:?}");
        }
    }
}

#[test]
fn a_flipped_bit_in_a_record_is_an_error_for_reads_of_its_batch_and_no_others() {
    check_flips(true, true);
    check_flips(true, false);
}

#[test]
fn a_flipped_bit_in_a_batchs_header_is_an_error_and_never_another_batch() {
    check_flips(false, true);
    check_flips(false, false);
}

#[test]
fn what_was_verified_is_not_read_again_and_what_this_process_wrote_is_not_verified() {
    let (fixture, batches) = filled();
    let read = |fixture: &Fixture, number: usize| {
        fixture.partition().read(Offset(batches[number].0), fixture.end, 1 << 20).map(|slice| slice.bytes.len())
    };
    assert!(waiting::without(|| read(&fixture, 7).unwrap()).is_some());
    let fixture = fixture.reopened();
    // The folder, the index and the batches are all still to be read.
    assert!(waiting::without(|| read(&fixture, 7).is_err()).is_none());
    read(&fixture, 7).unwrap();
    assert!(waiting::without(|| read(&fixture, 7).unwrap()).is_some());
    assert!(waiting::without(|| read(&fixture, 9).unwrap()).is_some());
    // Of another segment.
    assert!(waiting::without(|| read(&fixture, 45).is_err()).is_none());
}

#[test]
fn an_index_made_from_a_damaged_batch_is_not_stored() {
    let (fixture, batches) = filled();
    let fixture = fixture.reopened();
    flip(&fixture, &batches, 50, 100, 3);
    assert_eq!(unreadable(&fixture, &batches, 1 << 20), [50]);
    fixture.directory.shelf().tidy_indexes().unwrap();
    assert!(!fixture.disk.exists(&segment_path(batches[40].0, "index")).unwrap());
    assert!(fixture.disk.exists(&segment_path(batches[80].0, "index")).unwrap());
}

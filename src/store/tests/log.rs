//! Reading a log: by offset, by time, over segments, after restarts, with damaged and missing indexes.

use super::*;
use crate::disk::{Disk, OpenMode};
use crate::model::{FeedOffset, HistoryStart, PartitionStart, TrimmedLog};
use crate::store::{FileError, ReadError};

/// Batches of 1 to 4 records in segments of 40 batches; returns the batches by base offset.
pub(super) fn filled() -> (Fixture, Vec<(i64, Bytes)>) {
    let mut fixture = Fixture::new();
    let mut batches = Vec::new();
    for number in 0..200_i64 {
        let base = fixture.end.0;
        let timestamps: Vec<i64> = (0..=number % 4).map(|index| 1000 + (base + index) * 10).collect();
        batches.push((base, fixture.append(&timestamps, number > 0 && number % 40 == 0)));
    }
    (fixture, batches)
}

/// Every read, from every offset, of several sizes, gives what was appended.
fn check_reads(fixture: &Fixture, batches: &[(i64, Bytes)]) {
    let partition = fixture.partition();
    for from in 0..fixture.end.0 {
        for bytes_max in [1, 500, 5_000, 1 << 20] {
            let slice = partition.read(Offset(from), fixture.end, bytes_max).unwrap();
            let first = batches.partition_point(|(base, _)| *base <= from) - 1;
            assert_eq!(slice.base_offset.0, batches[first].0);
            assert!(slice.bytes.len() <= bytes_max || slice.bytes.len() == batches[first].1.len());
            let num = batches.iter().take_while(|(base, _)| *base < slice.next_offset.0).count();
            let expected: Vec<u8> = batches[first..num].iter().flat_map(|(_, batch)| batch.to_vec()).collect();
            assert_eq!(slice.bytes, expected);
            // The next batch would not have fitted, or lies in the next segment.
            if let Some((_, next)) = batches.get(num).filter(|_| num % 40 != 0) {
                assert!(slice.bytes.len() + next.len() > bytes_max, "{from} {bytes_max}");
            }
        }
    }
    assert!(partition.read(fixture.end, fixture.end, 100).unwrap().bytes.is_empty());
}

#[test]
fn reads_are_whole_batches_from_the_one_that_holds_the_offset() {
    let (fixture, batches) = filled();
    check_reads(&fixture, &batches);
}

#[test]
fn a_read_never_passes_its_end() {
    let (fixture, batches) = filled();
    let partition = fixture.partition();
    for end in (1..batches.len()).map(|index| batches[index].0) {
        let mut from = Offset(0);
        while from < Offset(end) {
            let slice = partition.read(from, Offset(end), 3_000).unwrap();
            assert!(slice.next_offset <= Offset(end) && slice.next_offset > from);
            from = slice.next_offset;
        }
        assert_eq!(from, Offset(end));
    }
}

#[test]
fn a_restart_reads_the_same_with_or_without_indexes() {
    let (fixture, batches) = filled();
    let fixture = fixture.reopened();
    check_reads(&fixture, &batches);
    fixture.directory.feed(FEED).unwrap();
    let fixture = fixture.reopened();
    check_reads(&fixture, &batches);
}

#[test]
fn stored_indexes_serve_after_a_restart_and_damaged_ones_are_rebuilt() {
    let (fixture, batches) = filled();
    check_reads(&fixture, &batches);
    fixture.directory.shelf().tidy_indexes().unwrap();
    let index = segment_path(batches[40].0, "index");
    assert!(fixture.disk.exists(&index).unwrap());
    let fixture = fixture.reopened();
    check_reads(&fixture, &batches);
    let fixture = fixture.reopened();
    let file = fixture.disk.open(&index, OpenMode::Write).unwrap();
    file.write_all_at(&[0xff], 60).unwrap();
    check_reads(&fixture, &batches);
}

#[test]
fn a_closed_folder_is_let_go_of_with_what_was_written_and_read() {
    let (fixture, batches) = filled();
    check_reads(&fixture, &batches);
    let shelf = Arc::downgrade(fixture.directory.shelf());
    drop(fixture);
    assert_eq!(shelf.strong_count(), 0, "its disk and its open files stay for the life of the process");
}

#[test]
fn an_empty_index_as_kafka_dump_log_leaves_one_is_rebuilt() {
    let (fixture, batches) = filled();
    let fixture = fixture.reopened();
    fixture.disk.open(&segment_path(batches[40].0, "index"), OpenMode::Create).unwrap();
    check_reads(&fixture, &batches);
}

#[test]
fn the_bytes_of_a_log_are_those_of_all_its_segments() {
    let (fixture, batches) = filled();
    let bytes: usize = batches.iter().map(|(_, batch)| batch.len()).sum();
    assert_eq!(fixture.partition().log_bytes().unwrap(), bytes as u64);
    assert_eq!(fixture.reopened().partition().log_bytes().unwrap(), bytes as u64);
    assert_eq!(Fixture::new().partition().log_bytes().unwrap(), 0);
}

#[test]
fn what_lies_past_the_known_end_is_cut_and_later_segments_removed() {
    let (mut fixture, batches) = filled();
    let (end, log) = (fixture.end, fixture.log);
    let size = log.position;
    fixture.append(&[9; 7], false);
    fixture.append(&[9; 7], true);
    let later = segment_path(fixture.log.segment.0, "log");
    let fixture = Fixture::on(fixture.disk.kill_image(), end, log);
    check_reads(&fixture, &batches);
    assert!(!fixture.disk.exists(&later).unwrap());
    let active = fixture.disk.open(&segment_path(log.segment.0, "log"), OpenMode::Read).unwrap();
    assert_eq!(active.size().unwrap(), size);
}

#[test]
fn a_file_that_lost_bytes_is_an_error_that_names_it() {
    let (fixture, _) = filled();
    let path = segment_path(fixture.log.segment.0, "log");
    let fixture = fixture.reopened();
    fixture.disk.open(&path, OpenMode::Write).unwrap().set_size(fixture.log.position - 1).unwrap();
    let error = fixture.partition().read(Offset(0), fixture.end, 100).unwrap_err();
    assert!(matches!(&error, ReadError::File(FileError::Short { path: found, .. }) if *found == path), "{error}");
}

#[test]
fn times_are_found_record_by_record() {
    let (fixture, _) = filled();
    let partition = fixture.partition();
    for offset in 0..fixture.end.0 {
        for (time, expected) in [(1000 + offset * 10, offset), (1000 + offset * 10 - 3, offset)] {
            let found = partition.find_time(Timestamp(time), Offset(0), fixture.end, 1 << 20).unwrap().unwrap();
            assert_eq!((found.offset.0, found.timestamp.0), (expected, 1000 + expected * 10));
        }
    }
    let last = Timestamp(1000 + (fixture.end.0 - 1) * 10);
    assert_eq!(partition.find_time(Timestamp(last.0 + 1), Offset(0), fixture.end, 1 << 20).unwrap(), None);
    assert_eq!(partition.max_timestamp(Offset(0), fixture.end).unwrap(), Some(last));
}

#[test]
fn few_files_stay_open_and_slices_outlive_them() {
    let (fixture, batches) = filled();
    let first = fixture.partition().read(Offset(0), fixture.end, 1 << 20).unwrap();
    check_reads(&fixture, &batches);
    assert!(fixture.directory.shelf().handles.num_open() <= 4);
    assert_eq!(first.bytes[..batches[0].1.len()], batches[0].1);
}

#[test]
fn an_index_stored_before_bytes_were_taken_back_is_not_believed() {
    let mut fixture = Fixture::new();
    let mut batches = Vec::new();
    let mut point = (fixture.end, fixture.log);
    for number in 0..60 {
        let base = fixture.end.0;
        let batch = fixture.append(&[1000 + base * 10], false);
        if number < 30 {
            batches.push((base, batch));
            point = (fixture.end, fixture.log);
        }
    }
    fixture.directory.shelf().tidy_indexes().unwrap();
    assert!(fixture.disk.exists(&segment_path(0, "index")).unwrap());
    // A crash took the second half back, and other batches follow.
    let mut fixture = Fixture::on(fixture.disk.kill_image(), point.0, point.1);
    for _ in 0..30 {
        let base = fixture.end.0;
        let timestamps: Vec<i64> = (0..3).map(|index| 1000 + (base + index) * 10).collect();
        batches.push((base, fixture.append(&timestamps, false)));
    }
    let fixture = fixture.reopened();
    check_reads(&fixture, &batches);
}

#[test]
fn a_trim_takes_records_from_readers_only_when_their_files_go() {
    let trims = [(90, false), (200, true)];
    for ((first_kept, emptied), opened) in trims.into_iter().flat_map(|trim| [(trim, true), (trim, false)]) {
        let (fixture, batches) = filled();
        let fixture = fixture.reopened();
        let partition = fixture.partition();
        if opened {
            check_reads(&fixture, &batches);
        }
        let start = batches.get(first_kept).map_or(fixture.end, |(base, _)| Offset(*base));
        let start_there = PartitionStart { partition: PartitionId(0), log: start, feed: FeedOffset(0), run: 0 };
        let log = TrimmedLog { start: start_there, emptied };
        let trimmed = TailWrite::Trimmed { feed: FEED, start: HistoryStart::default(), partitions: vec![log] };
        fixture.directory.write(Lsn(2), &[trimmed]).unwrap();
        check_reads(&fixture, &batches);
        assert!(fixture.directory.has_doomed());
        fixture.directory.remove_doomed(Lsn(2));
        assert!(!fixture.directory.has_doomed());
        let first_there = if emptied { start } else { Offset(batches[80].0) };
        assert!(matches!(
            partition.read(Offset(0), fixture.end, 100),
            Err(ReadError::BelowStart { start: told, .. }) if told == first_there
        ));
    }
}

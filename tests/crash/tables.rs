//! Tables of the history that are lost or damaged are made anew; damage to what they rest on is refused by name, and for what
//! it touches alone.

use std::path::{Path, PathBuf};

use streamstack::disk::{CrashPolicy, Disk, FaultyDisk, OpenMode};
use streamstack::model::{PartitionId, StreamId};
use streamstack::store::{Durability, Opened};

use crate::files_of;
use crate::history::{Point, go_on, open, run_to_rest};

const ROW_BYTES: usize = 32;

/// A history at rest, and where it ends. With deletions the first pieces of its files are gone.
fn rested(seed: u64, num_groups: usize, deletes: bool) -> (FaultyDisk, Point) {
    let disk = FaultyDisk::new();
    let end = run_to_rest(&disk, seed, num_groups, deletes);
    (disk, end)
}

/// Files of feeds whose names begin with one of these.
fn files(disk: &FaultyDisk, names: &[&str]) -> Vec<PathBuf> {
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        names.iter().any(|wanted| name.starts_with(wanted))
    };
    files_of(disk, Path::new("/data/feeds")).into_iter().filter(is_wanted).collect()
}

fn tables(disk: &FaultyDisk) -> Vec<PathBuf> {
    files(disk, &["commits.index", "streams.index", "feed.runs", "aborted.index"])
}

fn read(disk: &FaultyDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

fn write(disk: &FaultyDisk, path: &Path, at: usize, bytes: &[u8]) {
    disk.open(path, OpenMode::Write).unwrap().write_all_at(bytes, at as u64).unwrap();
}

/// Opens an image, and finds in it all that was there.
fn check_whole(disk: &FaultyDisk, end: &Point, told: &str) -> Opened {
    let opened = open(disk, Durability::Fsync).unwrap_or_else(|error| panic!("{told}: {error}"));
    assert!(opened.state == end.state && opened.lsn == end.lsn, "{told}");
    end.contents.check(&opened.store, &opened.state);
    opened
}

/// Loses, cuts or damages a file.
type Harm = fn(&FaultyDisk, &Path);

const HARMS: [(&str, Harm); 4] = [
    ("lost", |disk, path| disk.remove_file(path).unwrap()),
    ("short", |disk, path| {
        let file = disk.open(path, OpenMode::Write).unwrap();
        file.set_size(file.size().unwrap() / 2).unwrap();
    }),
    ("empty", |disk, path| disk.open(path, OpenMode::Write).unwrap().set_size(0).unwrap()),
    ("zeros", |disk, path| write(disk, path, 0, &vec![0; read(disk, path).len()])),
];

#[test]
fn a_table_that_is_lost_short_or_damaged_is_made_anew() {
    for (seed, deletes) in [(700, false), (701, true), (702, true)] {
        let (disk, end) = rested(seed, 150, deletes);
        let tables = tables(&disk);
        assert!(tables.len() >= 10, "{tables:?}");
        for (harm, work) in HARMS {
            for path in &tables {
                let image = disk.kill_image();
                work(&image, path);
                drop(check_whole(&image, &end, &format!("seed {seed}, {} {harm}", path.display())));
            }
            let image = disk.kill_image();
            tables.iter().for_each(|path| work(&image, path));
            drop(check_whole(&image, &end, &format!("seed {seed}, all {harm}")));
            // Made anew once and for all.
            drop(check_whole(
                &image.crash_image(CrashPolicy::DropAll),
                &end,
                &format!("seed {seed}, all {harm}, again"),
            ));
        }
    }
}

#[test]
fn every_flipped_byte_of_a_table_is_read_as_it_was_written() {
    let (disk, end) = rested(710, 24, false);
    let mut num_flipped = 0;
    for path in tables(&disk) {
        for (at, byte) in read(&disk, &path).iter().enumerate() {
            let image = disk.kill_image();
            write(&image, &path, at, &[byte ^ 1 << (at % 8)]);
            drop(check_whole(&image, &end, &format!("{} at {at}", path.display())));
            num_flipped += 1;
        }
    }
    assert!(num_flipped > 600, "{num_flipped}");
}

#[test]
fn every_flipped_byte_of_a_history_log_is_refused_for_its_record_alone() {
    let (disk, end) = rested(711, 16, false);
    let (mut num_flipped, mut num_refused) = (0, 0);
    for path in files(&disk, &["commits.log", "streams.log"]) {
        for (at, byte) in read(&disk, &path).iter().enumerate() {
            let image = disk.kill_image();
            write(&image, &path, at, &[byte ^ 1 << (at % 8)]);
            let opened = open(&image, Durability::Fsync).unwrap();
            let refused = end.contents.check_or_refused(&opened.store, &plain(&path));
            assert!(refused <= 1, "{} at {at}: {refused} records refused", path.display());
            num_flipped += 1;
            num_refused += refused;
        }
    }
    assert!(num_flipped > 2_000 && num_refused == num_flipped, "{num_refused} of {num_flipped} were refused");
}

/// The name of the whole, with which those of all its pieces begin: a record may reach from one into the next.
fn plain(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap().to_str().unwrap();
    path.with_file_name(name.split_once(".log").unwrap().0).with_extension("log")
}

#[test]
fn a_feed_whose_tables_are_lost_goes_on_and_comes_back() {
    for (seed, deletes) in [(720, false), (721, true), (722, true)] {
        for (harm, work) in HARMS {
            let told = format!("seed {seed}, all {harm}");
            let (disk, end) = rested(seed, 80, deletes);
            let image = disk.kill_image();
            tables(&image).iter().for_each(|path| work(&image, path));
            // Written to before anything is read.
            let opened = open(&image, Durability::Fsync).unwrap();
            let end = go_on(opened, end.contents, seed, 40);
            drop(check_whole(&image.kill_image(), &end, &told));
            drop(check_whole(&image.crash_image(CrashPolicy::DropAll), &end, &told));
        }
    }
}

#[test]
fn a_crash_while_tables_are_made_anew_changes_nothing() {
    let (disk, end) = rested(730, 60, true);
    let mut num_crashes = 0;
    for (harm, work) in HARMS {
        let harmed = disk.kill_image();
        tables(&harmed).iter().for_each(|path| work(&harmed, path));
        let undisturbed = harmed.kill_image();
        drop(check_whole(&undisturbed, &end, harm));
        for number in harmed.num_ops() + 1..=undisturbed.num_ops() {
            let image = harmed.kill_image();
            image.crash_at(number);
            if let Ok(opened) = open(&image, Durability::Fsync) {
                touch(&opened);
            }
            let told = format!("all {harm}, crash at operation {number}");
            for policy in [CrashPolicy::DropAll, CrashPolicy::KeepAll, CrashPolicy::Seeded(number)] {
                drop(check_whole(&image.crash_image(policy), &end, &told));
                num_crashes += 1;
            }
        }
    }
    assert!(num_crashes > 300, "{num_crashes}");
}

/// Has all tables read, on a disk that dies under it.
fn touch(opened: &Opened) {
    for feed in opened.state.feeds() {
        let files = opened.store.feed(feed.id()).unwrap();
        let (start, commits) = (feed.history(), feed.next_commit());
        let _ = files.commits().of_stream(StreamId(-1), start.manifest, commits);
        let _ = files.streams().read(start.event, feed.stream_events().next, 1 << 20);
        for (index, partition) in feed.partitions().iter().enumerate() {
            let runs = files.partition(PartitionId(index as u32)).unwrap();
            let _ = runs.runs().rows(partition.first_run(), partition.num_runs());
            let _ = runs.aborted().within(partition.log_start(), partition.log_end());
        }
    }
}

#[test]
fn tables_of_the_first_format_are_made_anew_and_older_programs_refuse_the_folder_then() {
    for deletes in [false, true] {
        let (disk, end) = rested(740, 100, deletes);
        for path in tables(&disk) {
            let rows = read(&disk, &path);
            let older: Vec<u8> = rows.chunks(ROW_BYTES).flat_map(|row| first_format(&path, row)).collect();
            write(&disk, &path, 0, &older);
        }
        let meta = Path::new("/data/meta.properties");
        let text = String::from_utf8(read(&disk, meta)).unwrap();
        write(&disk, meta, 0, text.replace("format=2", "format=1").as_bytes());
        let image = disk.kill_image();
        drop(check_whole(&image, &end, "the first format"));
        assert!(String::from_utf8(read(&image, meta)).unwrap().contains("format=2"));
        // And written to before it is read.
        let opened = open(&disk, Durability::Fsync).unwrap();
        let end = go_on(opened, end.contents, 741, 30);
        drop(check_whole(&disk.kill_image(), &end, "the first format, gone on with"));
    }
}

/// A row as it was in the first format: four numbers of eight bytes.
fn first_format(path: &Path, row: &[u8]) -> Vec<u8> {
    let widths = match path.file_name().unwrap().to_str().unwrap() {
        name if name.starts_with("commits") => [6, 6, 7, 8],
        name if name.starts_with("streams") => [6, 7, 0, 0],
        _ => [6, 7, 7, 7],
    };
    let mut at = 1;
    let numbers = widths.map(|width| {
        let mut number = [0; 8];
        number[8 - width..].copy_from_slice(&row[at..at + width]);
        at += width;
        number
    });
    numbers.concat()
}

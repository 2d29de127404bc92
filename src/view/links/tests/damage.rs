//! Bytes that are not what was written: never a wrong link, and an index that is made anew.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::history::{History, Shape};
use super::*;
use crate::disk::{OpenMode, SplitMix};
use crate::model::CommitNumber;

/// An index that is stored, with files of every kind.
fn stored() -> Fixture {
    let mut random = SplitMix::new(77);
    let mut history = History::new(2);
    (0..24).for_each(|_| history.commit(&mut random, Shape { keys: 90, values: 4, records_max: 60 }));
    let fixture = Fixture::new(history, "key+value", SMALL, 1 << 10);
    fixture.catch_up().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    fixture
}

fn paths(disk: &FaultyDisk) -> Vec<PathBuf> {
    disk.list(FOLDER.as_ref()).unwrap().iter().map(|name| Path::new(FOLDER).join(name)).collect()
}

/// Goes on with what is stored on `disk` as a broker would, until all is indexed and right.
fn use_stored(stored: &Fixture, disk: FaultyDisk, more: &History) {
    let Fixture { identity, options, .. } = stored;
    let mut fixture = Fixture::open(disk, more.clone(), identity.clone(), *options, 1 << 10).unwrap();
    let mut num_lost = 0;
    loop {
        let outcome = fixture.catch_up().and_then(|()| Ok(fixture.check()?));
        match outcome {
            Ok(()) => break,
            // A reader found it: whoever builds is told.
            Err(LinksError::File(error)) if error.is_loss() => continue,
            Err(LinksError::Lost(_)) => {
                num_lost += 1;
                assert!(num_lost < 2, "what was made anew is lost again");
                fixture.reopen().unwrap();
                assert_eq!(fixture.links.indexed(), CommitNumber(0));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(fixture.links.indexed().0, fixture.history.num_commits());
}

fn more(stored: &Fixture) -> History {
    let mut history = stored.history.clone();
    let mut random = SplitMix::new(78);
    (0..3).for_each(|_| history.commit(&mut random, Shape { keys: 90, values: 4, records_max: 60 }));
    history
}

#[test]
fn a_flipped_byte_anywhere_is_noticed_or_does_not_matter() {
    let stored = stored();
    let more = more(&stored);
    let kinds =
        |suffix: &str| paths(&stored.disk).iter().filter(|path| path.to_string_lossy().ends_with(suffix)).count();
    assert!(kinds(".rows") > 2 && kinds(".run") > 2 && kinds(".checkpoint") == 1, "{:?}", paths(&stored.disk));
    let mut random = SplitMix::new(1);
    for path in paths(&stored.disk) {
        let size = stored.disk.open(&path, OpenMode::Read).unwrap().size().unwrap();
        for _ in 0..12 {
            let disk = stored.disk.kill_image();
            let file = disk.open(&path, OpenMode::Write).unwrap();
            let (at, mut byte) = (random.below(size), [0]);
            file.read_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ (1 << random.below(8))], at).unwrap();
            use_stored(&stored, disk, &more);
        }
    }
}

#[test]
fn a_file_that_is_missing_or_too_short_makes_it_anew() {
    let stored = stored();
    let more = more(&stored);
    for path in paths(&stored.disk) {
        let disk = stored.disk.kill_image();
        disk.remove_file(&path).unwrap();
        use_stored(&stored, disk, &more);
        let disk = stored.disk.kill_image();
        let file = disk.open(&path, OpenMode::Write).unwrap();
        file.set_size(file.size().unwrap() - 1).unwrap();
        use_stored(&stored, disk, &more);
    }
}

#[test]
fn a_row_that_a_reader_finds_damaged_is_an_error_and_the_others_are_read() {
    let stored = stored();
    let path = paths(&stored.disk).into_iter().find(|path| path.to_string_lossy().contains("l-0.")).unwrap();
    let file = stored.disk.open(&path, OpenMode::Write).unwrap();
    file.write_all_at(&[0xff], 4096 + 100).unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let tell = told.clone();
    stored.links.on_damage(move || {
        tell.fetch_add(1, Ordering::Relaxed);
    });
    let read = |from, end| stored.links.read(PartitionId(0), FeedOffset(from), FeedOffset(end));
    assert_eq!(read(0, 255).unwrap().len(), 255);
    let error = read(0, 256).unwrap_err();
    assert!(error.to_string().contains("is damaged at byte 4096"), "{error}");
    read(0, 256).unwrap_err();
    assert_eq!(told.load(Ordering::Relaxed), 1, "whoever builds is told once");
    let lost = stored.links.advance_over(&stored.history, 1).unwrap_err();
    assert!(matches!(lost, LinksError::Lost(_)), "{lost}");
    assert!(!stored.disk.exists(&Path::new(FOLDER).join(super::super::checkpoint::NAME)).unwrap());
}

#[test]
fn files_of_others_in_the_folder_are_let_be() {
    let stored = stored();
    let path = Path::new(FOLDER).join("notes.txt");
    stored.disk.open(&path, OpenMode::Create).unwrap();
    stored.disk.open(&Path::new(FOLDER).join("l-9.00000000000000000000.rows"), OpenMode::Create).unwrap();
    use_stored(&stored, stored.disk.clone(), &stored.history);
    assert!(stored.disk.exists(&path).unwrap());
    assert!(!paths(&stored.disk).iter().any(|path| path.to_string_lossy().contains("l-9.")));
}

#[test]
fn a_deleted_feed_is_told_as_that() {
    let mut stored = stored();
    stored.disk.remove_dir_all("/data/feeds/1".as_ref()).unwrap();
    stored.history.is_gone = true;
    assert!(matches!(stored.links.advance_over(&stored.history, 1).unwrap_err(), LinksError::Gone));
    assert!(matches!(stored.links.checkpoint_over(&stored.history).unwrap_err(), LinksError::Gone));
    assert!(matches!(stored.reopen().unwrap_err(), LinksError::Gone));
    assert!(!stored.disk.exists("/data/feeds/1".as_ref()).unwrap(), "nothing of it is made again");
}

//! Opening data folders: new ones, foreign ones, ones in use, with files missing or damaged, with many feeds.

use super::*;
use crate::disk::{Disk, OpenMode, SplitMix};
use crate::model::{Entry, Lsn, State};
use crate::store::inspect::{Kind, Selection, inspect};
use crate::store::{Opened, Store, StoreError, StoreOptions};

fn options() -> StoreOptions {
    StoreOptions { journal_file_bytes: 8_192, journal_salt: Some(1), ..StoreOptions::default() }
}

fn open(disk: &FaultyDisk) -> Result<Opened, StoreError> {
    Store::open(Arc::new(disk.clone()), PathBuf::from("/data"), options())
}

/// What a start says that refuses.
fn refusal(disk: &FaultyDisk) -> String {
    open(disk).err().unwrap().to_string()
}

fn write(disk: &FaultyDisk, path: &str, content: &[u8], at: u64) {
    disk.open(Path::new(path), OpenMode::Create).unwrap().write_all_at(content, at).unwrap();
}

/// Decides, applies and writes one group.
fn group(opened: &mut Opened, decide: impl Fn(&State) -> Vec<Entry>) {
    let entries = decide(&opened.state);
    let mut writes = Vec::new();
    entries.iter().for_each(|entry| opened.state.apply(entry, &mut writes));
    opened.store.write_group(opened.lsn, &entries, &writes).unwrap();
    opened.lsn = opened.lsn.plus(entries.len() as u64);
}

fn create(opened: &mut Opened, name: &str) {
    let id = uuid::Uuid::from_u128(opened.lsn.0.into());
    group(opened, |state| state.decide_create(name, id, 1, BTreeMap::new(), Timestamp(5)).unwrap().entries);
}

fn checkpoint(opened: &Opened) {
    opened.store.checkpoint(&opened.state.encode(), opened.lsn).unwrap();
}

/// A folder with two manifests and a feed, closed.
fn used() -> FaultyDisk {
    let disk = FaultyDisk::new();
    let mut opened = open(&disk).unwrap();
    create(&mut opened, "one");
    checkpoint(&opened);
    create(&mut opened, "two");
    checkpoint(&opened);
    create(&mut opened, "three");
    opened.store.mark_idle().unwrap();
    drop(opened);
    disk.kill_image()
}

#[test]
fn a_new_folder_keeps_its_cluster_id() {
    let disk = FaultyDisk::new();
    let id = open(&disk).unwrap().store.meta().cluster_id.clone();
    assert_eq!(id.len(), 22);
    assert_eq!(open(&disk).unwrap().store.meta().cluster_id, id);
}

#[test]
fn a_second_process_is_refused() {
    let disk = FaultyDisk::new();
    let _first = open(&disk).unwrap();
    assert_eq!(refusal(&disk), "/data: another process uses this data folder: stop it first, or name another folder");
}

#[test]
fn folders_of_others_and_of_newer_versions_are_refused() {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    write(&disk, "/data/holiday.jpg", b"x", 0);
    assert!(refusal(&disk).contains("holiday.jpg"));

    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    write(&disk, "/data/meta.properties", b"version=1\ncluster.id=abc\nnode.id=1\n", 0);
    assert!(refusal(&disk).contains("another program"));
    write(&disk, "/data/meta.properties", b"streamstack.format=9\ncluster.id=abc\nnode.id=1\n", 0);
    assert!(refusal(&disk).contains("use a newer streamstack"));

    let disk = used();
    let options = StoreOptions { node_id: 2, ..options() };
    let error = Store::open(Arc::new(disk), PathBuf::from("/data"), options).err().unwrap();
    assert!(error.to_string().contains("node.id 1, the configuration says 2"), "{error}");
}

#[test]
fn an_emptied_folder_is_refused_not_started_anew() {
    let remedies = [("/data/journal", "the journal is missing"), ("/data/manifest", "the manifest is missing")];
    for (folder, remedy) in remedies.into_iter().chain([("/data/feeds", "the folder of feeds is missing")]) {
        let disk = used();
        disk.remove_dir_all(Path::new(folder)).unwrap();
        assert!(refusal(&disk).contains(remedy), "{}", refusal(&disk));
    }
    let disk = used();
    disk.remove_file(Path::new("/data/meta.properties")).unwrap();
    assert!(refusal(&disk).contains("no meta.properties"));
    let disk = used();
    disk.remove_dir_all(Path::new("/data/feeds/1")).unwrap();
    assert!(refusal(&disk).contains("/data/feeds/1: the folder of a feed is missing"), "{}", refusal(&disk));
}

#[test]
fn a_folder_that_cannot_be_placed_is_not_deleted() {
    let disk = used();
    disk.create_dir_all(Path::new("/data/feeds/77/0")).unwrap();
    assert!(refusal(&disk).contains("/data/feeds/77 belongs to no feed"));
    assert!(disk.exists(Path::new("/data/feeds/77/0")).unwrap());
}

#[test]
fn a_half_removed_feed_is_removed_at_the_next_start() {
    let disk = used();
    let mut opened = open(&disk).unwrap();
    group(&mut opened, |state| state.decide_delete(FeedId(0), Timestamp(9)).unwrap().entries);
    checkpoint(&opened);
    drop(opened);
    disk.create_dir_all(Path::new("/data/feeds/0/0")).unwrap();
    let opened = open(&disk).unwrap();
    assert_eq!(opened.report.num_leftovers, 1);
    assert!(!disk.exists(Path::new("/data/feeds/0")).unwrap());
}

#[test]
fn a_damaged_manifest_gives_way_to_the_one_before() {
    let disk = used();
    let whole = open(&disk.kill_image()).unwrap();
    write(&disk, "/data/manifest/00000000000000000002", &[0xff], 40);
    let opened = open(&disk).unwrap();
    assert_eq!(opened.state, whole.state);
    assert_eq!(opened.report.manifest, Lsn(1));
    assert!(opened.report.damaged_manifest.unwrap().contains("00000000000000000002"));
    assert!(disk.exists(Path::new("/data/manifest/00000000000000000002.damaged")).unwrap());
}

#[test]
fn without_a_usable_manifest_the_start_is_refused() {
    let disk = used();
    for lsn in [1, 2] {
        write(&disk, &format!("/data/manifest/{lsn:020}"), &[0xff], 40);
    }
    let refusal = refusal(&disk);
    assert!(refusal.contains("00000000000000000002") && refusal.contains("backup"), "{refusal}");
}

#[test]
fn a_failed_sync_stops_the_store() {
    let disk = FaultyDisk::new();
    let mut opened = open(&disk).unwrap();
    create(&mut opened, "one");
    disk.fail(crate::disk::Failure { op: crate::disk::Op::Sync, nth: 1, errno: 5, for_ever: false });
    let entries = opened.state.decide_open_producer().entries;
    opened.store.write_group(opened.lsn, &entries, &[]).unwrap_err();
    let error = opened.store.write_group(opened.lsn, &entries, &[]).unwrap_err();
    assert!(matches!(error, StoreError::Poisoned { .. }), "{error}");
    assert!(matches!(opened.store.checkpoint(&opened.state.encode(), Lsn(1)), Err(StoreError::Poisoned { .. })));
}

#[test]
fn idle_feeds_are_not_touched_by_a_start() {
    let disk = FaultyDisk::new();
    let mut opened = open(&disk).unwrap();
    group(&mut opened, |state| {
        let mut entries = Vec::new();
        let mut state = state.clone();
        for number in 0..2_000 {
            let id = uuid::Uuid::from_u128(number);
            let created = state.decide_create(&format!("feed{number}"), id, 3, BTreeMap::new(), Timestamp(5)).unwrap();
            created.entries.iter().for_each(|entry| state.apply(entry, &mut Vec::new()));
            entries.extend(created.entries);
        }
        entries
    });
    checkpoint(&opened);
    drop(opened);
    let before = disk.num_ops();
    let opened = open(&disk).unwrap();
    assert!(disk.num_ops() - before < 50);
    assert_eq!(opened.store.num_open_files(), 0);
    assert_eq!(opened.state.feeds().len(), 2_000);
}

#[test]
fn inspect_finds_nothing_in_a_whole_folder_and_names_what_is_damaged() {
    let disk = used();
    let damaged = |disk: &FaultyDisk| {
        let mut found = Vec::new();
        let mut kinds = Vec::new();
        let disk: Arc<dyn Disk> = Arc::new(disk.kill_image());
        let selection = Selection { frames: true, entries: true, batches: true, ..Selection::default() };
        inspect(&disk, Path::new("/data"), &selection, &mut |item| {
            kinds.push(item.kind);
            found.extend(item.damage.map(|_| item.file));
        })
        .unwrap();
        (found, kinds)
    };
    let (found, kinds) = damaged(&disk);
    assert_eq!(found, Vec::<PathBuf>::new());
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Entry).count(), 3);
    // Any byte of a manifest.
    let mut random = SplitMix::new(3);
    for _ in 0..20 {
        let disk = disk.kill_image();
        let path = Path::new("/data/manifest/00000000000000000001");
        let file = disk.open(path, OpenMode::Write).unwrap();
        let at = random.below(file.size().unwrap());
        let mut byte = [0];
        file.read_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        assert_eq!(damaged(&disk).0, [path]);
    }
}

//! The files of a data folder: journal, manifest, segments, indexes, runs, histories. A start gives the same records, or
//! fewer from the end of the journal, or says what is wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use streamstack::batch::{self, BatchBuilder, Limits, NewRecord};
use streamstack::broker::{Broker, BrokerError, CreateFeed};
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{Disk, FaultyDisk, ManualClock, OpenMode, SplitMix};
use streamstack::model::{Append, PartitionId, Seal, SealReason};
use streamstack::store::inspect::{Selection, inspect};
use streamstack::view::{Budget, Isolation, View};
use tokio::runtime::Runtime;

use super::fuzz;
use super::mutate::mutate;

const NUM_RECORDS: i64 = 60;
const NOW: i64 = 1_767_225_600_000;

fn open(disk: &FaultyDisk) -> Result<Arc<Broker>, BrokerError> {
    let overrides = ["log.dirs=/data", "streamstack.journal.file.bytes=1048576", "log.segment.bytes=1048576"];
    let overrides = overrides.map(str::to_owned).to_vec();
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    Broker::open(Arc::new(disk.clone()), Arc::new(ManualClock::new(NOW)), config)
}

/// A feed with a checkpoint in its middle and commits, killed.
async fn used_folder() -> FaultyDisk {
    let disk = FaultyDisk::new();
    let mut broker = open(&disk).unwrap();
    let wanted = CreateFeed { name: "orders".into(), partitions: 1, overrides: BTreeMap::new() };
    broker.durable(broker.create_feed(wanted, false).durable_at).await.unwrap();
    for number in 0..NUM_RECORDS {
        let feed = broker.catalog().by_name("orders").unwrap();
        let value = number.to_string();
        let record = NewRecord { timestamp: NOW, value: Some(value.as_bytes()), ..NewRecord::default() };
        let batch = batch::check_produced(BatchBuilder::new(0).record(record).build(), &limits()).unwrap();
        let (settings, now) = (&feed.config().model, broker.now());
        let appended =
            broker.append(Append { feed: feed.id, partition: PartitionId(0), batch, settings, transaction: None, now });
        broker.durable(appended.durable_at).await.unwrap();
        if number % 10 == 9 {
            let (wishes, reason) = (vec![Default::default()], SealReason::Control);
            let seal = Seal { feed: feed.id, wishes, producer: None, reason, producer_expiration_ms: 1 << 40, now };
            broker.durable(broker.seal(seal).durable_at).await.unwrap();
        }
        if number == NUM_RECORDS / 2 {
            broker.shut_down().await.unwrap();
            drop(broker);
            broker = open(&disk).unwrap();
        }
    }
    let image = disk.kill_image();
    broker.shut_down().await.unwrap();
    image
}

fn limits() -> Limits {
    Limits::of_size(1 << 20)
}

fn files(disk: &FaultyDisk, folder: &Path) -> Vec<PathBuf> {
    let Ok(names) = disk.list(folder) else { return vec![folder.to_owned()] };
    names.iter().flat_map(|name| files(disk, &folder.join(name))).collect()
}

fn read(disk: &FaultyDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// Changes the used part of one file.
fn damage(disk: &FaultyDisk, path: &Path, random: &mut SplitMix) {
    let bytes = read(disk, path);
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut changed = bytes[..used].to_vec();
    mutate(&mut changed, random);
    let keeps_size = random.chance(3, 4);
    let file = disk.open(path, OpenMode::Write).unwrap();
    if keeps_size {
        changed.resize(bytes.len(), 0);
    }
    file.set_size(changed.len() as u64).unwrap();
    file.write_all_at(&changed, 0).unwrap();
}

/// What a start makes of a damaged folder: records that were there, in their places, or a refusal.
fn check(runtime: &Runtime, disk: &FaultyDisk) {
    let Ok(broker) = open(disk) else { return };
    if let Some(feed) = broker.catalog().by_name("orders") {
        let (view, id) = (View::plain(feed), PartitionId(0));
        let bounds = view.bounds(id, Isolation::ReadUncommitted);
        for offset in bounds.map_or(0..0, |bounds| bounds.start..bounds.end) {
            assert!(offset < NUM_RECORDS, "a record at {offset} of {NUM_RECORDS}");
            let budget = Budget { max_bytes: 1 << 20, at_least_one: true };
            if view.read(id, offset, budget, Isolation::ReadUncommitted).is_err() {
                break;
            }
        }
    }
    // A stop may fail over what is damaged; it may not panic.
    let _ = runtime.block_on(broker.shut_down());
}

fn fuzz_files(target: &str, is_wanted: impl Fn(&str) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let sound = runtime.block_on(used_folder());
    let paths: Vec<PathBuf> =
        files(&sound, Path::new("/data")).into_iter().filter(|path| is_wanted(path.to_str().unwrap())).collect();
    assert!(!paths.is_empty(), "no file for {target}");
    fuzz(target, |random| {
        let disk = sound.kill_image();
        damage(&disk, &paths[random.below(paths.len() as u64) as usize], random);
        let shared: Arc<dyn Disk> = Arc::new(disk.kill_image());
        // Inspecting what is damaged is what it is for.
        let _ = inspect(&shared, Path::new("/data"), &Selection::default(), &mut |_| {});
        check(&runtime, &disk);
    });
}

#[test]
fn mutated_journals_start_or_are_refused() {
    fuzz_files("journal", |path| path.contains("/journal/"));
}

#[test]
fn mutated_segments_and_tables_are_read_or_refused() {
    fuzz_files("segments", |path| path.contains("/feeds/"));
}

#[test]
fn mutated_manifests_and_properties_of_a_folder_start_or_are_refused() {
    fuzz_files("manifests", |path| path.contains("/manifest/") || path.ends_with("meta.properties"));
}

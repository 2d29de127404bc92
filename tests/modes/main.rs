//! Views in every mode against the model of them, over seeded histories: what is fetched from any position in portions of any
//! size, of bounded names and of those that follow, with deletions between reads, and over restarts.

mod followers;
mod index;
mod links;
mod model;
mod reading;
mod sparse;
mod teller;
mod told;
mod wire;

use std::sync::Arc;

use index::Index;
use streamstack::broker::Broker;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{FaultyDisk, ManualClock};
use streamstack::view::Selections;
use teller::{START_MS, Teller};
use told::Told;

const HISTORIES: u64 = if cfg!(debug_assertions) { 150 } else { 20_000 };
/// They share a broker, which takes longer to start than one of them takes.
const HISTORIES_A_BROKER: u64 = 50;
/// With the broker's own index, and restarts.
const RESTARTED: u64 = if cfg!(debug_assertions) { 20 } else { 100 };

fn open(disk: &FaultyDisk, clock: &Arc<ManualClock>) -> Arc<Broker> {
    // The disk is memory: files are as small as they may be.
    let overrides = [
        "log.dirs=/data",
        "streamstack.seal.ms=100000000",
        "log.segment.bytes=1048576",
        "streamstack.journal.file.bytes=1048576",
        "streamstack.durability=os",
    ];
    let overrides = overrides.map(str::to_owned).to_vec();
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    Broker::open(Arc::new(disk.clone()), clock.clone(), config).unwrap()
}

/// `MODES_SEED` is the first seed and `MODES_HISTORIES` says how many there are, to look for more or for one again.
fn seeds(histories: u64) -> std::ops::Range<u64> {
    let number = |name, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let first = number("MODES_SEED", 0);
    first..first + number("MODES_HISTORIES", histories)
}

#[tokio::test]
async fn every_mode_shows_what_the_model_says_over_random_histories() {
    let clock = Arc::new(ManualClock::new(START_MS));
    let mut broker = open(&FaultyDisk::new(), &clock);
    for seed in seeds(HISTORIES) {
        println!("seed {seed}");
        if seed % HISTORIES_A_BROKER == 0 {
            broker.shut_down().await.unwrap();
            broker = open(&FaultyDisk::new(), &clock);
        }
        let mut teller = Teller::start(broker.clone(), clock.clone(), seed).await;
        // Some have room for few selections.
        let selections = Selections::within(if teller.random.chance(1, 3) { 2_000 } else { 1 << 20 }, clock.clone());
        let index = Index::naive(teller.model.num_partitions, selections);
        let num_steps = 10 + teller.random.below(30);
        let mut told = Told::new(teller, index);
        told.go_on(num_steps).await;
        told.finish().await;
    }
    broker.shut_down().await.unwrap();
}

#[tokio::test]
async fn the_index_of_a_broker_shows_the_same_over_restarts() {
    let clock = Arc::new(ManualClock::new(START_MS));
    for seed in seeds(RESTARTED) {
        println!("seed {seed}");
        let mut disk = FaultyDisk::new();
        let broker = open(&disk, &clock);
        let mut told = Told::new(Teller::start(broker, clock.clone(), seed).await, Index::Kept);
        for _ in 0..4 {
            let num_steps = told.teller.random.below(15);
            told.go_on(num_steps).await;
            told.teller.broker.relieved().await.unwrap();
            // In the one case the process ends at once, and the system keeps what was written.
            let is_killed = told.teller.random.chance(1, 2);
            let image = disk.kill_image();
            told.teller.broker.shut_down().await.unwrap();
            disk = if is_killed { image } else { disk.kill_image() };
            told.teller.go_on_with(open(&disk, &clock));
        }
        told.finish().await;
        told.teller.broker.shut_down().await.unwrap();
    }
}

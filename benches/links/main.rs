//! `cargo bench --bench links`: how fast the index of a feed is built, what it takes of memory and disk, how fast its links
//! are read, and how long it takes to open it. `-- 10000000` measures histories of that many records only; `-- 10000000
//! 100000` with that many keys only.
//!
//! A history of records of 100 B (a key of 14 B and a value) is written through a broker on the disk of the target folder, in
//! commits of 100,000 records, and then indexed by one thread with the default budget: records a second of the clock, and of the
//! thread's own time on a processor, which does not count waiting for syncs or for other programs. Memory is what the process has of its own
//! (RssAnon) beyond what it had before: the segments' pages in the page cache are not counted.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a measurement outside the library")]

mod history;

use std::path::Path;
use std::time::Instant;

use streamstack::broker::FeedHandle;
use streamstack::config::Identity;
use streamstack::model::{FeedOffset, PartitionId};
use streamstack::view::link::Links;
use streamstack::view::links::{FeedLinks, Memory};

use history::{History, Shape};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RECORDS: [u64; 3] = [100_000, 1_000_000, 10_000_000];
const KEYS: [u64; 3] = [100, 100_000, 10_000_000];
/// Of a hundred records, those whose key and value occurred before, where keys come again.
const REPEATED: [u64; 2] = [0, 90];

const MEMORY_BYTES: usize = 256 << 20;
/// Records between two looks at the memory.
const STEP: usize = 1 << 18;
const PORTION: i64 = 1 << 16;

fn main() {
    let wanted: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    println!("| records | keys | repeated | records/s | records/s of CPU | memory | disk | opened in | rows read/s |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for records in RECORDS.into_iter().filter(|records| wanted.first().is_none_or(|wanted| wanted == records)) {
        for keys in KEYS.into_iter().filter(|keys| wanted.get(1).is_none_or(|wanted| wanted == keys)) {
            for repeated in REPEATED {
                measure(Shape { records, keys, repeated });
            }
        }
    }
}

fn measure(shape: Shape) {
    let history = History::write(shape);
    let feed = history.feed();
    let folder = FeedLinks::folder(&*feed);
    std::fs::create_dir_all(&folder).unwrap();
    let memory_before = anonymous_bytes();
    let memory = Memory::new(MEMORY_BYTES);
    let links = FeedLinks::open(&*feed, Identity::KeyAndValue, memory.clone()).unwrap();
    let mut memory_most = 0;
    let (begun, worked_before) = (Instant::now(), worked_seconds());
    while !links.advance(&*feed, STEP).unwrap().caught_up {
        memory_most = memory_most.max(anonymous_bytes().saturating_sub(memory_before));
    }
    links.checkpoint(&*feed).unwrap();
    let (built, worked) = (begun.elapsed(), worked_seconds() - worked_before);
    drop(links);
    let begun = Instant::now();
    let links = FeedLinks::open(&*feed, Identity::KeyAndValue, memory).unwrap();
    let opened = begun.elapsed();
    let read = read(&feed, &links);
    println!(
        "| {} | {} | {} % | {:.0} | {:.0} | {} MiB | {} MiB | {} ms | {:.0} |",
        shape.records,
        shape.keys,
        shape.repeated,
        shape.records as f64 / built.as_secs_f64(),
        shape.records as f64 / worked,
        memory_most >> 20,
        bytes_in(&folder) >> 20,
        opened.as_millis(),
        read,
    );
}

/// Links of the whole history, in portions, twice: the first time finds the files closed.
fn read(feed: &FeedHandle, links: &FeedLinks) -> f64 {
    let mut num_rows = 0;
    let mut begun = Instant::now();
    for round in 0..2 {
        if round == 1 {
            (num_rows, begun) = (0, Instant::now());
        }
        for partition in (0..feed.partitions()).map(PartitionId) {
            let end = links.end(partition).0;
            for from in (0..end).step_by(PORTION as usize) {
                let end = end.min(from + PORTION);
                num_rows += links.read(partition, FeedOffset(from), FeedOffset(end)).unwrap().len();
            }
        }
    }
    num_rows as f64 / begun.elapsed().as_secs_f64()
}

/// What this thread had of a processor.
fn worked_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn anonymous_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}

fn bytes_in(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

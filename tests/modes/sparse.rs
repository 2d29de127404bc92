//! Views of which little is left of much, and of many partitions: what one read of them looks at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use streamstack::disk::{Disk, FaultyDisk, ManualClock, OpenMode};
use streamstack::model::{PartitionId, Timestamp};
use streamstack::view::{Budget, Isolation, Selections};

use crate::index::Index;
use crate::model::Record;
use crate::reading::fetch;
use crate::teller::{START_MS, Teller};

const BATCHES: usize = 60;
const ALL: Budget = Budget { max_bytes: 8 << 20, at_least_one: true };

/// Batches of half a MiB, of which a few bytes are shown.
async fn sparse_history(disk: &FaultyDisk) -> (Teller, Index) {
    let clock = Arc::new(ManualClock::new(START_MS));
    let broker = crate::open(disk, &clock);
    let selections = Selections::within(1 << 20, clock.clone());
    let mut teller = Teller::start(broker, clock, 0).await;
    let num_partitions = teller.model.num_partitions;
    for number in 0..BATCHES {
        let record = |key: String, value: String| Record { key: Some(key), value: Some(value), timestamp: 1_000_000 };
        let large = record("same".to_owned(), format!("{number}").repeat((512 << 10) / number.to_string().len()));
        teller.append_these(0, vec![large, record(format!("own {number}"), "v".to_owned())]);
    }
    teller.seal().await;
    let mut index = Index::naive(num_partitions, selections);
    index.go_on_to_the_end(&teller).await;
    (teller, index)
}

#[tokio::test]
async fn a_read_ends_when_it_has_looked_at_much() {
    let (teller, index) = sparse_history(&FaultyDisk::new()).await;
    let view = index.view(&teller, &format!("{}..latest", teller.feed.name)).unwrap();
    let (mut position, mut shown, mut num_reads) = (0, Vec::new(), 0);
    while position < 2 * BATCHES as i64 {
        let answer = fetch(&view, 0, position, ALL).unwrap();
        assert!((1..=34).contains(&answer.records.len()), "{} of half a MiB each", answer.records.len());
        shown.extend(answer.records.into_iter().map(|(offset, _)| offset));
        position = answer.next;
        num_reads += 1;
    }
    assert_eq!(num_reads, 2);
    let last_of_each = (0..BATCHES as i64).map(|number| 2 * number + 1);
    assert_eq!(
        shown,
        last_of_each
            .clone()
            .take(BATCHES - 1)
            .chain([2 * BATCHES as i64 - 2, 2 * BATCHES as i64 - 1])
            .collect::<Vec<_>>()
    );
    teller.broker.shut_down().await.unwrap();
}

#[tokio::test]
async fn what_comes_before_a_damaged_batch_is_given() {
    let disk = FaultyDisk::new();
    let (teller, index) = sparse_history(&disk).await;
    teller.broker.relieved().await.unwrap();
    let log = logs_below(&disk, Path::new("/data")).into_iter().nth(2).expect("the segments hold 1 MiB each");
    let file = disk.open(&log, OpenMode::Write).unwrap();
    file.write_all_at(b"damage", 300_000).unwrap();
    let view = index.view(&teller, &format!("{}..latest", teller.feed.name)).unwrap();
    let answer = fetch(&view, 0, 0, ALL).unwrap();
    assert!(!answer.records.is_empty());
    assert!(answer.next < 2 * BATCHES as i64 / 2, "{}", answer.next);
    let refused = fetch(&view, 0, answer.next, ALL).map(|answer| answer.records.len());
    assert!(refused.is_err(), "{refused:?}");
    teller.broker.shut_down().await.unwrap();
}

fn logs_below(disk: &FaultyDisk, folder: &Path) -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for name in disk.list(folder).unwrap_or_default() {
        let path = folder.join(&name);
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        // Of the partitions only.
        if is_log && name.len() == "00000000000000000000.log".len() {
            logs.push(path);
        } else {
            logs.extend(logs_below(disk, &path));
        }
    }
    logs.sort();
    logs
}

#[tokio::test]
async fn a_reader_of_many_partitions_looks_them_up_once() {
    let (teller, index) = sparse_history(&FaultyDisk::new()).await;
    let Index::Naive { links, .. } = &index else { unreachable!("it is made so") };
    let num_partitions = teller.model.num_partitions;
    let view = index.view(&teller, &format!("{}..latest", teller.feed.name)).unwrap();
    let before = links.ends_asked();
    let mut reader = view.reader();
    for _ in 0..10 {
        for partition in 0..num_partitions as u32 {
            let id = PartitionId(partition);
            reader.read(id, 0, ALL, Isolation::ReadCommitted).unwrap();
            assert!(reader.bounds(id, Isolation::ReadCommitted).is_ok());
            assert!(reader.find_time(id, Timestamp(0), Isolation::ReadCommitted).is_ok());
            assert!(reader.newest(id, Isolation::ReadCommitted).is_ok());
        }
    }
    assert_eq!(links.ends_asked() - before, num_partitions, "whatever is asked of them");
    teller.broker.shut_down().await.unwrap();
}

//! A disk that fails under a running broker: nothing more is acknowledged, everybody is told, and what was acknowledged
//! before is there at the next start.

use std::collections::BTreeMap;
use std::sync::Arc;

use streamstack::batch::{self, BatchBuilder, Limits, NewRecord};
use streamstack::broker::{Broker, BrokerError, CreateFeed};
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{Failure, FaultyDisk, ManualClock, Op};
use streamstack::model::{Append, Offset, PartitionId};

const START_MS: i64 = 1_767_225_600_000;

fn open(disk: &FaultyDisk, durability: &str) -> Arc<Broker> {
    let overrides = vec!["log.dirs=/data".to_owned(), format!("streamstack.durability={durability}")];
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    Broker::open(Arc::new(disk.clone()), Arc::new(ManualClock::new(START_MS)), config).unwrap()
}

async fn append(broker: &Broker) -> Result<Offset, BrokerError> {
    let record = NewRecord { timestamp: START_MS, value: Some(b"v"), ..NewRecord::default() };
    let limits = Limits::of_size(1 << 20);
    let batch = batch::check_produced(BatchBuilder::new(0).record(record).build(), &limits).unwrap();
    let feed = broker.catalog().by_name("orders").unwrap();
    let (partition, settings, now) = (PartitionId(0), &feed.config().model, broker.now());
    let appended = broker.append(Append { feed: feed.id, partition, batch, settings, transaction: None, now });
    broker.durable(appended.durable_at).await?;
    Ok(appended.value.unwrap().base_offset)
}

/// Several appends after the failure too: each must end, whoever holds the flush token.
async fn check(durability: &str, op: Op) {
    let disk = FaultyDisk::new();
    let broker = open(&disk, durability);
    let wanted = CreateFeed { name: "orders".into(), partitions: 1, overrides: BTreeMap::new() };
    let created = broker.create_feed(wanted, false);
    broker.durable(created.durable_at).await.unwrap();
    for offset in 0..3 {
        assert_eq!(append(&broker).await.unwrap(), Offset(offset));
    }
    disk.fail(Failure { op, nth: 1, errno: libc::EIO, for_ever: true });
    for _ in 0..4 {
        append(&broker).await.unwrap_err();
    }
    assert!(broker.failure().is_some());
    broker.shut_down().await.unwrap_err();
    drop(broker);

    let image = disk.kill_image();
    let broker = open(&image, durability);
    let end = broker.catalog().by_name("orders").unwrap().partition(PartitionId(0)).unwrap().published();
    assert!(end.high_watermark >= Offset(3), "{end:?}");
    assert_eq!(append(&broker).await.unwrap(), end.high_watermark);
    broker.shut_down().await.unwrap();
}

#[tokio::test]
async fn after_a_failed_write_nothing_is_acknowledged_and_everybody_is_told() {
    check("os", Op::Write).await;
    check("fsync", Op::Write).await;
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_acknowledged_and_everybody_is_told() {
    check("fsync", Op::Sync).await;
}

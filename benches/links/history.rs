//! A history written through a broker.

use std::collections::BTreeMap;
use std::sync::Arc;

use streamstack::batch::{BatchBuilder, Limits, NewRecord, check_produced};
use streamstack::broker::{Broker, CreateFeed, FeedHandle};
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{OsClock, OsDisk, SplitMix};
use streamstack::model::{Append, PartitionId, Seal, SealReason, SealWish};
use tokio::runtime::Runtime;

const BATCH_RECORDS: u64 = 1_000;
const COMMIT_RECORDS: u64 = 100_000;
const VALUE_BYTES: usize = 86;

/// What a history holds.
#[derive(Clone, Copy)]
pub struct Shape {
    pub records: u64,
    pub keys: u64,
    /// Of a hundred records, those with the one value of their key that always comes again.
    pub repeated: u64,
}

/// A broker that holds it, and the folder that goes with it.
pub struct History {
    broker: Arc<Broker>,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

impl History {
    pub fn write(shape: Shape) -> History {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let _within = runtime.enter();
        let data = format!("log.dirs={}", folder.path().join("data").display());
        let settings =
            ["streamstack.durability=os", "streamstack.seal.ms=1000000000", "streamstack.seal.records=1000000000"];
        let overrides = settings.iter().map(|text| (*text).to_owned()).chain([data]).collect();
        let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
        let broker = Broker::open(Arc::new(OsDisk), Arc::new(OsClock::new()), config).unwrap();
        let wanted = CreateFeed { name: "bench".into(), partitions: 1, overrides: BTreeMap::new() };
        let created = broker.create_feed(wanted, false);
        created.value.unwrap();
        runtime.block_on(broker.durable(created.durable_at)).unwrap();
        let history = History { broker, _folder: folder, runtime };
        history.fill(shape);
        history
    }

    pub fn feed(&self) -> Arc<FeedHandle> {
        self.broker.catalog().by_name("bench").unwrap()
    }

    fn fill(&self, shape: Shape) {
        let mut random = SplitMix::new(shape.records ^ shape.keys);
        for first in (0..shape.records).step_by(BATCH_RECORDS as usize) {
            self.append(shape, first, &mut random);
            if (first + BATCH_RECORDS).is_multiple_of(COMMIT_RECORDS) {
                self.seal();
            }
        }
    }

    fn append(&self, shape: Shape, first: u64, random: &mut SplitMix) {
        let mut builder = BatchBuilder::new(0);
        for number in first..first + BATCH_RECORDS {
            let key = format!("key-{:010}", random.below(shape.keys));
            let version = if random.chance(shape.repeated, 100) { 0 } else { number + 1 };
            let mut value = format!("{key} {version:020} ").into_bytes();
            value.resize(VALUE_BYTES, b'.');
            builder.push(NewRecord { timestamp: 1, key: Some(key.as_bytes()), value: Some(&value), headers: &[] });
        }
        let batch = check_produced(builder.build(), &Limits::of_size(16 << 20)).unwrap();
        let feed = self.feed();
        let (settings, now) = (&feed.config().model, self.broker.now());
        let append = Append { feed: feed.id, partition: PartitionId(0), batch, settings, transaction: None, now };
        let appended = self.broker.append(append);
        appended.value.unwrap();
        self.runtime.block_on(self.broker.durable(appended.durable_at)).unwrap();
    }

    fn seal(&self) {
        let sealed = self.broker.seal(Seal {
            feed: self.feed().id,
            wishes: vec![SealWish { label: None, metadata: None }],
            producer: None,
            reason: SealReason::Operator,
            producer_expiration_ms: 1,
            now: self.broker.now(),
        });
        sealed.value.unwrap();
        self.runtime.block_on(self.broker.durable(sealed.durable_at)).unwrap();
    }
}

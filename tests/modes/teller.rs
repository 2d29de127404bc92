//! Tells a random history to a broker: streams of several producers at a time, of which some are aborted, on a feed of some
//! partitions, with tombstones, records without a key, and deletions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use streamstack::batch::{self, BatchBuilder, Compression, Limits, NewRecord, Producer};
use streamstack::broker::{Broker, CreateFeed, FeedHandle};
use streamstack::disk::{ManualClock, SplitMix};
use streamstack::model::{
    Append, Bind, CommitNumber, EndTransaction, Identity, InTransaction, Offset, PartitionId, Seal, SealReason,
    SealWish,
};
use streamstack::view::Published;

use crate::model::{Model, Record};

/// Producers of transactions.
const NUM_PRODUCERS: usize = 3;
const NEVER_MS: i32 = 100_000_000;

/// When a history begins.
pub const START_MS: i64 = 1_767_225_600_000;

pub struct Teller {
    pub broker: Arc<Broker>,
    pub clock: Arc<ManualClock>,
    pub feed: Arc<FeedHandle>,
    pub model: Model,
    pub random: SplitMix,
    num_keys: u64,
    num_values: u64,
    implicit: Vec<Vec<Record>>,
    transactions: Vec<Option<Open>>,
}

/// What a producer has written since it began.
struct Open {
    identity: Identity,
    sequences: HashMap<usize, i32>,
    records: Vec<Vec<Record>>,
}

impl Teller {
    /// About a feed of its own.
    pub async fn start(broker: Arc<Broker>, clock: Arc<ManualClock>, seed: u64) -> Teller {
        let mut random = SplitMix::new(seed);
        let num_partitions = 1 + random.below(3) as usize;
        let wanted =
            CreateFeed { name: format!("f{seed}"), partitions: num_partitions as u32, overrides: BTreeMap::new() };
        let created = broker.create_feed(wanted, false);
        created.value.unwrap();
        broker.durable(created.durable_at).await.unwrap();
        let feed = broker.catalog().by_name(&format!("f{seed}")).unwrap();
        Teller {
            model: Model::new(num_partitions),
            num_keys: 1 + random.below(8),
            num_values: 1 + random.below(3),
            implicit: vec![Vec::new(); num_partitions],
            transactions: (0..NUM_PRODUCERS).map(|_| None).collect(),
            broker,
            clock,
            feed,
            random,
        }
    }

    /// The same feed, on a broker that was started anew.
    pub fn go_on_with(&mut self, broker: Arc<Broker>) {
        self.feed = broker.catalog().by_name(&self.feed.name).unwrap();
        self.broker = broker;
    }

    pub async fn step(&mut self) {
        self.clock.advance_ms(self.random.below(3_000) as u32);
        let producer = self.random.below(NUM_PRODUCERS as u64) as usize;
        match self.random.below(100) {
            0..35 => self.append(None).await,
            35..70 => self.append(Some(producer)).await,
            70..80 => self.seal().await,
            80..93 => self.end(producer, true).await,
            _ => self.end(producer, false).await,
        }
    }

    /// Whatever is open is aborted or sealed.
    pub async fn finish(&mut self) {
        for producer in 0..NUM_PRODUCERS {
            self.end(producer, false).await;
        }
    }

    async fn append(&mut self, producer: Option<usize>) {
        let partition = self.random.below(self.model.num_partitions as u64) as usize;
        let records: Vec<Record> = (0..=self.random.below(6)).map(|_| self.record()).collect();
        let codec = match self.random.below(10) {
            0 => Compression::ALL[self.random.below(5) as usize],
            _ => Compression::None,
        };
        let mut builder = BatchBuilder::new(0).compression(codec);
        if let Some(producer) = producer {
            self.begin(producer).await;
            let open = self.transactions[producer].as_mut().unwrap();
            let sequence = open.sequences.entry(partition).or_default();
            let (id, epoch) = (open.identity.producer.0, open.identity.epoch);
            builder = builder.transactional().producer(Producer { id, epoch, base_sequence: *sequence });
            *sequence += records.len() as i32;
        }
        let id = producer.map(|producer| format!("loader-{producer}"));
        self.write(partition, builder, &records, id.as_deref());
        let open = match producer {
            None => &mut self.implicit,
            Some(producer) => &mut self.transactions[producer].as_mut().unwrap().records,
        };
        open[partition].extend(records);
    }

    /// One batch of these records, without a transaction.
    pub fn append_these(&mut self, partition: usize, records: Vec<Record>) {
        self.write(partition, BatchBuilder::new(0), &records, None);
        self.implicit[partition].extend(records);
    }

    fn write(&self, partition: usize, mut builder: BatchBuilder, records: &[Record], transaction: Option<&str>) {
        for record in records {
            let (key, value) = (record.key.as_deref(), record.value.as_deref());
            let (key, value) = (key.map(str::as_bytes), value.map(str::as_bytes));
            builder.push(NewRecord { timestamp: record.timestamp, key, value, headers: &[] });
        }
        let config = self.feed.config();
        let appended = self.broker.append(Append {
            feed: self.feed.id,
            partition: PartitionId(partition as u32),
            batch: batch::check_produced(builder.build(), &Limits::of_size(1 << 20)).unwrap(),
            settings: &config.model,
            transaction: transaction.map(|id| InTransaction { id, enlists: true }),
            now: self.broker.now(),
        });
        appended.value.unwrap();
    }

    fn record(&mut self) -> Record {
        let key = (!self.random.chance(1, 10)).then(|| format!("k{}", self.random.below(self.num_keys)));
        let value = match self.random.below(10) {
            0 => None,
            1 => Some(String::new()),
            2 => Some(format!("{:050}", self.random.below(self.num_values))),
            // So long that its batch is not copied when a part of it is shown.
            3 => Some(format!("{:02500}", self.random.below(self.num_values))),
            _ => Some(format!("v{}", self.random.below(self.num_values))),
        };
        Record { key, value, timestamp: 1_000_000 + self.random.below(1_000) as i64 }
    }

    async fn begin(&mut self, producer: usize) {
        if self.transactions[producer].is_some() {
            return;
        }
        let bound = self.broker.bind_producer(Bind {
            id: format!("loader-{producer}"),
            timeout_ms: NEVER_MS,
            timeout_max_ms: NEVER_MS,
            current: None,
            now: self.broker.now(),
        });
        let records = vec![Vec::new(); self.model.num_partitions];
        self.transactions[producer] = Some(Open { identity: bound.value.unwrap(), sequences: HashMap::new(), records });
    }

    /// A commit of what was written without a transaction, if only of nothing.
    pub async fn seal(&mut self) {
        let sealed = self.broker.seal(Seal {
            feed: self.feed.id,
            wishes: vec![SealWish { label: None, metadata: None }],
            producer: None,
            reason: SealReason::Operator,
            producer_expiration_ms: 1,
            now: self.broker.now(),
        });
        assert_eq!(sealed.value.unwrap().first.0, self.model.commits.len() as i64);
        self.broker.durable(sealed.durable_at).await.unwrap();
        self.seal_implicit();
    }

    fn seal_implicit(&mut self) {
        let none = vec![Vec::new(); self.model.num_partitions];
        self.model.seal(std::mem::replace(&mut self.implicit, none), self.broker.now().0);
    }

    async fn end(&mut self, producer: usize, commit: bool) {
        let Some(open) = self.transactions[producer].take() else { return };
        let ended = self.broker.end_transaction(EndTransaction {
            id: format!("loader-{producer}"),
            identity: open.identity,
            commit,
            bumps: true,
            now: self.broker.now(),
        });
        ended.value.unwrap();
        self.broker.durable(ended.durable_at).await.unwrap();
        if commit {
            // What was written without a transaction is older.
            if self.implicit.iter().any(|records| !records.is_empty()) {
                self.seal_implicit();
            }
            self.model.seal(open.records, self.broker.now().0);
        }
        assert_eq!(Published::commits(&*self.feed).0, self.model.commits.len() as i64);
    }

    /// The first offset of a partition's feed space that is still there.
    pub fn kept_from(&self, partition: usize) -> i64 {
        Published::partition(&*self.feed, PartitionId(partition as u32)).unwrap().feed_start.0
    }

    /// Drops the oldest commits, or records of one partition.
    pub async fn delete(&mut self) {
        let (oldest, commits) = (self.feed.history().commit.0, self.model.commits.len() as i64);
        if self.random.chance(2, 3) {
            let below = CommitNumber(oldest + self.random.below((commits - oldest + 1) as u64) as i64);
            self.broker.delete_commits(&self.feed, Some(below)).await.unwrap();
            return;
        }
        let partition = PartitionId(self.random.below(self.model.num_partitions as u64) as u32);
        let ends = Published::partition(&*self.feed, partition).unwrap();
        let span = ends.last_stable.0 - ends.log_start.0;
        let below = Offset(ends.log_start.0 + self.random.below(span as u64 / 3 + 1) as i64);
        self.broker.delete_records(&self.feed, partition, Some(below)).await.unwrap();
    }
}

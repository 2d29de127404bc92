//! Every raw view of a feed against a model, over seeded histories with restarts in between.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use streamstack::batch::{self, BatchBuilder, Limits, NewRecord};
use streamstack::broker::{Broker, CreateFeed};
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{FaultyDisk, ManualClock, SplitMix};
use streamstack::model::{Append, PartitionId, Seal, SealReason, SealWish};
use streamstack::view::name::{self, TopicName};
use streamstack::view::{Budget, Isolation, View, ViewReadError};

const PARTITIONS: u32 = 3;
const START_MS: i64 = 1_767_225_600_000;

/// What the feed should hold.
#[derive(Default)]
struct Model {
    logs: [Vec<String>; PARTITIONS as usize],
    open: [Vec<String>; PARTITIONS as usize],
    commits: Vec<Commit>,
}

struct Commit {
    base: [i64; PARTITIONS as usize],
    records: [Vec<String>; PARTITIONS as usize],
    label: Option<String>,
    sealed: i64,
}

impl Model {
    /// The feed space of commits `[first, end)` in a partition.
    fn space(&self, partition: usize, first: usize, end: usize) -> Vec<(i64, String)> {
        let of = |commit: &Commit| {
            let base = commit.base[partition];
            commit.records[partition].clone().into_iter().zip(base..).map(|(value, at)| (at, value)).collect::<Vec<_>>()
        };
        self.commits[first..end].iter().flat_map(of).collect()
    }

    fn feed_end(&self, partition: usize) -> i64 {
        self.commits.iter().map(|commit| commit.records[partition].len() as i64).sum()
    }
}

struct Walk {
    disk: FaultyDisk,
    clock: Arc<ManualClock>,
    broker: Option<Arc<Broker>>,
    model: Model,
    random: SplitMix,
    num_records: u64,
}

fn config() -> ServerConfig {
    let overrides = ["log.dirs=/data", "streamstack.seal.ms=100000000", "log.segment.bytes=1048576"];
    let overrides = overrides.map(str::to_owned).to_vec();
    ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap()
}

fn open(disk: &FaultyDisk, clock: &Arc<ManualClock>) -> Arc<Broker> {
    Broker::open(Arc::new(disk.clone()), clock.clone(), config()).unwrap()
}

impl Walk {
    async fn start(seed: u64) -> Walk {
        let disk = FaultyDisk::new();
        let clock = Arc::new(ManualClock::new(START_MS));
        let broker = open(&disk, &clock);
        let wanted = CreateFeed { name: "orders".into(), partitions: PARTITIONS, overrides: BTreeMap::new() };
        let created = broker.create_feed(wanted, false);
        created.value.unwrap();
        broker.durable(created.durable_at).await.unwrap();
        let random = SplitMix::new(seed);
        Walk { disk, clock, broker: Some(broker), model: Model::default(), random, num_records: 0 }
    }

    async fn step(&mut self) {
        self.clock.advance_ms(self.random.below(90_000) as u32);
        match self.random.below(100) {
            0..70 => self.append().await,
            70..94 => self.seal().await,
            94..97 => self.restart().await,
            _ => self.kill().await,
        }
    }

    async fn append(&mut self) {
        let partition = self.random.below(u64::from(PARTITIONS)) as usize;
        let values: Vec<String> = (0..=self.random.below(6)).map(|i| format!("{}-{i}", self.num_records)).collect();
        self.num_records += 1;
        let mut builder = BatchBuilder::new(0);
        for value in &values {
            builder.push(NewRecord { value: Some(value.as_bytes()), timestamp: START_MS, ..NewRecord::default() });
        }
        let batch = batch::check_produced(builder.build(), &limits()).unwrap();
        let feed = self.broker().catalog().by_name("orders").unwrap();
        let config = feed.config();
        let appended = self.broker().append(Append {
            feed: feed.id,
            partition: PartitionId(partition as u32),
            batch,
            settings: &config.model,
            transaction: None,
            now: self.broker().now(),
        });
        let base = appended.value.unwrap().base_offset.0;
        assert_eq!(base, self.model.logs[partition].len() as i64);
        self.broker().durable(appended.durable_at).await.unwrap();
        self.model.logs[partition].extend(values.clone());
        self.model.open[partition].extend(values);
    }

    async fn seal(&mut self) {
        let label = match self.random.below(3) {
            0 => None,
            n => Some(format!("label{n}")),
        };
        let feed = self.broker().catalog().by_name("orders").unwrap();
        let sealed = self.broker().seal(Seal {
            feed: feed.id,
            wishes: vec![SealWish { label: label.clone(), metadata: None }],
            producer: None,
            reason: SealReason::Operator,
            producer_expiration_ms: 1,
            now: self.broker().now(),
        });
        assert_eq!(sealed.value.unwrap().first.0, self.model.commits.len() as i64);
        self.broker().durable(sealed.durable_at).await.unwrap();
        let base = std::array::from_fn(|partition| self.model.feed_end(partition));
        let records = std::mem::take(&mut self.model.open);
        self.model.commits.push(Commit { base, records, label, sealed: self.broker().now().0 });
    }

    async fn restart(&mut self) {
        self.stop().await;
        self.broker = Some(open(&self.disk, &self.clock));
    }

    fn broker(&self) -> &Arc<Broker> {
        self.broker.as_ref().expect("a broker but while it restarts")
    }

    /// Gives the data folder back.
    async fn stop(&mut self) {
        self.broker.take().expect("a running broker").shut_down().await.unwrap();
    }

    /// The process ends at once; the system keeps what was written.
    async fn kill(&mut self) {
        let disk = self.disk.kill_image();
        self.stop().await;
        self.disk = disk;
        self.broker = Some(open(&self.disk, &self.clock));
    }

    fn view(&self, topic: &str) -> View {
        match name::parse_topic(topic).unwrap() {
            TopicName::Plain(plain) => View::plain(self.broker().catalog().by_name(plain).unwrap()),
            TopicName::View(view) => self.broker().resolve_view(&view).unwrap_or_else(|e| panic!("{topic}: {e}")).view,
        }
    }

    /// Reads a whole partition in portions of any size.
    fn read(&mut self, topic: &str, partition: usize) -> Vec<(i64, String)> {
        let view = self.view(topic);
        let id = PartitionId(partition as u32);
        let bounds = view.bounds(id, Isolation::ReadUncommitted).unwrap();
        let mut records = Vec::new();
        let mut at = bounds.start;
        while at < bounds.end {
            let budget = Budget { max_bytes: self.random.below(700) as usize, at_least_one: true };
            let (_, reading) = view.read(id, at, budget, Isolation::ReadUncommitted).unwrap();
            let got = decode(&reading.parts);
            assert!(!got.is_empty(), "{topic} gives nothing at {at} of {bounds:?}");
            records.extend(got.into_iter().filter(|(offset, _)| *offset >= at));
            at = records.last().unwrap().0 + 1;
        }
        assert_eq!(at, bounds.end, "{topic}");
        records
    }

    fn check(&mut self) {
        let num_commits = self.model.commits.len();
        for partition in 0..PARTITIONS as usize {
            let log: Vec<_> = (0..).zip(self.model.logs[partition].clone()).collect();
            assert_eq!(self.read("orders", partition), log);
            assert_eq!(self.read("orders..feed", partition), self.model.space(partition, 0, num_commits));
            if num_commits > 0 {
                self.check_ranges(partition, num_commits);
            }
            let open: Vec<_> = (0..).zip(self.model.open[partition].clone()).collect();
            if self.model.open.iter().any(|records| !records.is_empty()) {
                assert_eq!(self.read(&format!("orders..stream-{num_commits}"), partition), open);
            }
        }
        self.check_what_is_not_there(num_commits);
    }

    fn check_ranges(&mut self, partition: usize, num_commits: usize) {
        let a = self.random.below(num_commits as u64) as usize;
        let b = a + self.random.below((num_commits - a) as u64) as usize;
        let expected = self.model.space(partition, a, b + 1);
        assert_eq!(self.read(&format!("orders..commits-{a}-{b}"), partition), expected);
        assert_eq!(self.read(&format!("orders..commit-{a}"), partition), self.model.space(partition, a, a + 1));
        let since = self.model.space(partition, a, num_commits);
        assert_eq!(self.read(&format!("orders..since-{a}"), partition), since);
        let upto = self.model.space(partition, 0, b + 1);
        assert_eq!(self.read(&format!("orders..upto-{b}"), partition), upto);
        let stream: Vec<_> = (0..).zip(self.model.commits[a].records[partition].clone()).collect();
        assert_eq!(self.read(&format!("orders..stream-{a}"), partition), stream);
        if let Some(label) = self.model.commits[a].label.clone() {
            let has_label = |commit: &&Commit| commit.label.as_deref() == Some(&label);
            let newest = self.model.commits.iter().rev().find(has_label).unwrap();
            let named: Vec<_> = (0..).zip(newest.records[partition].clone()).collect();
            assert_eq!(self.read(&format!("orders..named-{label}"), partition), named);
        }
    }

    fn check_what_is_not_there(&self, num_commits: usize) {
        for topic in [format!("orders..commit-{num_commits}"), format!("orders..upto-{num_commits}")] {
            let Ok(TopicName::View(view)) = name::parse_topic(&topic) else { panic!("{topic} is a view") };
            assert!(self.broker().resolve_view(&view).is_err(), "{topic} is there before it is sealed");
        }
        let feed = self.view("orders..feed");
        let far = feed.read(PartitionId(0), i64::MAX, ANY, Isolation::ReadCommitted);
        assert!(matches!(far, Err(ViewReadError::OutOfRange { .. })));
    }

    /// Commits by their seal time, hour by hour.
    async fn check_hours(&mut self) {
        let Some(first) = self.model.commits.first().map(|commit| commit.sealed) else { return };
        self.clock.advance_ms(3_600_000);
        let hour_start = first - first % 3_600_000;
        let hour = jiff::Timestamp::from_millisecond(hour_start).unwrap().strftime("%Y%m%d%H").to_string();
        let topic = format!("orders..hour-{hour}");
        let Ok(TopicName::View(view)) = name::parse_topic(&topic) else { panic!("{topic} is a view") };
        // The first to ask closes the hour; it is answered once that is durable.
        while self.broker().resolve_view(&view).is_err() {
            self.broker().relieved().await.unwrap();
        }
        let end = self.model.commits.iter().position(|c| c.sealed >= hour_start + 3_600_000);
        let end = end.unwrap_or(self.model.commits.len());
        for partition in 0..PARTITIONS as usize {
            assert_eq!(self.read(&topic, partition), self.model.space(partition, 0, end));
        }
    }
}

const ANY: Budget = Budget { max_bytes: 1 << 20, at_least_one: true };

fn limits() -> Limits {
    Limits::of_size(1 << 20)
}

fn decode(parts: &[Bytes]) -> Vec<(i64, String)> {
    let mut all = BytesMut::new();
    parts.iter().for_each(|part| all.extend_from_slice(part));
    let mut rest = all.freeze();
    let lengths: Vec<usize> = batch::batch_lengths(&rest).collect();
    let mut records = Vec::new();
    for length in lengths {
        let one = batch::records(&rest.split_to(length), 1 << 20).unwrap();
        for record in one.iter().map(Result::unwrap) {
            records.push((record.offset, String::from_utf8(record.value.unwrap().to_vec()).unwrap()));
        }
    }
    assert!(rest.is_empty(), "a part of a batch came along");
    records
}

#[tokio::test]
async fn every_view_of_random_histories_equals_the_model_across_restarts() {
    for seed in 0..12 {
        println!("seed {seed}");
        let mut walk = Walk::start(seed).await;
        for step in 0..120 {
            walk.step().await;
            if step % 8 == 0 {
                walk.check();
            }
        }
        walk.check();
        walk.check_hours().await;
        walk.stop().await;
    }
}

#[test]
fn the_data_folder_is_the_one_of_the_config() {
    assert_eq!(config().settings.data_dir, PathBuf::from("/data"));
}

//! Retention and DeleteRecords of a served broker, over the wire: what goes, what stays, and what clients are told. The disk
//! is memory and the clock is set by hand, so that a week passes at once.

use std::path::Path;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::{DeleteRecordsRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::broker::Broker;
use streamstack::cli::client::{Client, Connection, GroupPosition};
use streamstack::cli::runtime;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{Disk, FaultyDisk, ManualClock};
use streamstack::model::{CommitState, Manifest};
use streamstack::server::Server;

#[path = "common/transactional.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod transactional;
#[path = "retention/uncommitted.rs"]
mod uncommitted;

const START_MS: i64 = 1_767_225_600_000;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// A broker that nobody but the test makes look at retention.
struct Served {
    runtime: tokio::runtime::Runtime,
    server: Server,
    disk: FaultyDisk,
    clock: Arc<ManualClock>,
    client: Client,
}

impl Served {
    fn start(overrides: &[&str]) -> Served {
        Served::on(FaultyDisk::new(), START_MS, overrides)
    }

    fn on(disk: FaultyDisk, now: i64, overrides: &[&str]) -> Served {
        let ours = ["log.dirs=/data", "listeners=PLAINTEXT://127.0.0.1:0", "log.retention.check.interval.ms=86400000"];
        let overrides = ours.iter().chain(overrides).map(|text| (*text).to_owned()).collect();
        let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
        let listeners = config.settings.listeners.clone();
        let clock = Arc::new(ManualClock::new(now));
        let runtime = runtime().unwrap();
        let server = runtime.block_on(async {
            let broker = Broker::open(Arc::new(disk.clone()), clock.clone(), config).unwrap();
            Server::start(broker, &listeners).await.unwrap()
        });
        let client = Client::connect(&server.addresses()[0].to_string()).unwrap();
        Served { runtime, server, disk, clock, client }
    }

    /// Stops and starts again, later.
    fn restarted(self, overrides: &[&str]) -> Served {
        self.runtime.block_on(self.server.shut_down()).unwrap();
        Served::on(self.disk.kill_image(), START_MS + 1_000_000_000, overrides)
    }

    fn create(&mut self, topic: &str, configs: &[(&str, &str)]) {
        let never = [("streamstack.seal.ms", "9000000000000")];
        let configs: Vec<_> = never.iter().chain(configs).copied().collect();
        self.client.create_topic(topic, 1, &configs).unwrap();
    }

    /// Seals a commit of one record.
    fn commit(&mut self, topic: &str, value_bytes: usize, metadata_bytes: usize) {
        let value = vec![b'v'; value_bytes];
        self.produce(topic, &value);
        let metadata = format!("\"{}\"", "m".repeat(metadata_bytes));
        self.produce(&format!("{topic}..seal"), metadata.as_bytes());
    }

    fn produce(&mut self, topic: &str, value: &[u8]) {
        let record = NewRecord { timestamp: START_MS, key: None, value: Some(value), headers: &[] };
        self.client.produce(topic, 0, BatchBuilder::new(0).record(record)).unwrap();
    }

    fn enforce(&self) {
        self.server.broker().enforce_retention().unwrap();
    }

    /// The low watermark, or the error.
    fn delete(&self, topic: &str, offset: i64) -> Result<i64, ResponseError> {
        let address = self.server.addresses()[0].to_string();
        let mut connection = Connection::open(&address, PATIENCE, PATIENCE).unwrap();
        let partition = DeleteRecordsPartition::default().with_partition_index(0).with_offset(offset);
        let name = TopicName(StrBytes::from_string(topic.to_owned()));
        let topic = DeleteRecordsTopic::default().with_name(name).with_partitions(vec![partition]);
        let response = connection.ask(2, &DeleteRecordsRequest::default().with_topics(vec![topic])).unwrap();
        let result = response.topics[0].partitions[0].clone();
        ResponseError::try_from_code(result.error_code).map_or(Ok(result.low_watermark), Err)
    }

    fn bounds(&mut self, topic: &str) -> (i64, i64) {
        let bounds = self.client.bounds(topic).unwrap()[0];
        (bounds.start, bounds.end)
    }

    fn num_records(&mut self, topic: &str) -> usize {
        self.client.read_to_end(topic).unwrap().len()
    }

    /// Why the name cannot be read.
    fn refusal(&mut self, topic: &str) -> String {
        self.client.read_to_end(topic).unwrap_err().to_string()
    }

    fn states(&mut self, topic: &str) -> Vec<(i64, CommitState)> {
        let records = self.client.read_to_end(&format!("{topic}..commits")).unwrap();
        let state = |value: &[u8]| Manifest::parse(value).unwrap().state;
        records.iter().map(|record| (record.offset, state(record.value.as_ref().unwrap()))).collect()
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let mut names = self.disk.list(&Path::new("/data/feeds/0").join(folder)).unwrap();
        names.retain(|name| name.contains('.'));
        names
    }
}

/// Six to a segment of the smallest size.
const LARGE: usize = 160_000;
const SMALL_SEGMENTS: (&str, &str) = ("segment.bytes", "1048576");

#[test]
fn old_commits_go_with_their_records_and_their_files() {
    let mut served = Served::start(&[]);
    served.create("orders", &[SMALL_SEGMENTS, ("retention.ms", "10000")]);
    for _ in 0..14 {
        served.commit("orders", LARGE, 0);
        served.clock.advance_ms(1_000);
    }
    served.enforce();
    assert_eq!(served.bounds("orders"), (4, 14), "those sealed more than 10 s ago");
    assert_eq!((served.bounds("orders..feed"), served.num_records("orders..feed")), ((4, 14), 10));
    assert_eq!(served.files("0").iter().filter(|name| name.ends_with(".log")).count(), 3);
    served.clock.advance_ms(3_000);
    served.enforce();
    assert_eq!(served.bounds("orders"), (7, 14));
    let logs: Vec<String> = served.files("0").into_iter().filter(|name| name.ends_with(".log")).collect();
    assert_eq!(logs, ["00000000000000000006.log", "00000000000000000012.log"], "the rest is gone from the disk");
    assert_eq!((served.num_records("orders"), served.num_records("orders..commit-7")), (7, 1));
    for name in ["orders..commit-6", "orders..upto-9", "orders..commits-6-8"] {
        let refusal = served.refusal(name);
        assert!(refusal.contains("was deleted") && refusal.contains("commit 7"), "{name}: {refusal}");
    }
    let states = served.states("orders");
    let deleted = states.iter().filter(|(_, state)| *state == CommitState::Deleted).count();
    assert_eq!((states.len(), deleted), (14, 7), "manifests outlive the records");
    let mut served = served.restarted(&[]);
    assert_eq!((served.bounds("orders"), served.bounds("orders..feed")), ((7, 14), (7, 14)));
    served.enforce();
    assert_eq!(served.bounds("orders"), (14, 14));
    assert_eq!(served.files("0"), ["feed.runs"], "a quiet feed gives its last segment back too");
    served.commit("orders", 10, 0);
    assert_eq!((served.bounds("orders"), served.num_records("orders..commit-14")), ((14, 15), 1));
}

#[test]
fn a_partition_is_not_kept_larger_than_asked_and_no_smaller() {
    let mut served = Served::start(&[]);
    served.create("orders", &[SMALL_SEGMENTS, ("retention.bytes", "500000"), ("retention.ms", "-1")]);
    for _ in 0..10 {
        served.commit("orders", LARGE, 0);
    }
    served.enforce();
    assert_eq!(served.bounds("orders"), (6, 10), "four are needed for 500,000 bytes");
    served.enforce();
    assert_eq!(served.bounds("orders"), (6, 10));
}

#[test]
fn a_number_of_commits_is_kept_and_the_setting_works_at_once() {
    let mut served = Served::start(&["streamstack.retention.manifests.bytes=0"]);
    served.create("orders", &[]);
    for _ in 0..6 {
        served.commit("orders", 10, 400_000);
        served.clock.advance_ms(1);
    }
    served.enforce();
    assert_eq!(served.bounds("orders..commits"), (0, 6));
    let keep = |served: &mut Served, commits: &str| {
        let change = ("streamstack.retention.commits".to_owned(), Some(commits.to_owned()));
        served.client.alter_topic("orders", &[change]).unwrap();
        served.enforce();
    };
    keep(&mut served, "2");
    assert_eq!((served.bounds("orders"), served.bounds("orders..commits")), ((4, 6), (4, 6)));
    assert_eq!(served.states("orders"), [(4, CommitState::Live), (5, CommitState::Live)]);
    assert_eq!(served.bounds("orders..streams").1, 12);
    assert_eq!(served.bounds("orders..streams").0, 6, "events before the last seal of what was dropped go along");
    let files = served.files("");
    assert!(!files.contains(&"commits.log".to_owned()), "the first piece is gone: {files:?}");
    assert!(files.iter().any(|name| name.starts_with("commits.log.")), "{files:?}");
    keep(&mut served, "0");
    assert_eq!((served.bounds("orders..commits"), served.num_records("orders..commits")), ((6, 6), 0));
    let mut served = served.restarted(&[]);
    served.commit("orders", 10, 10);
    assert_eq!((served.bounds("orders..commits"), served.states("orders").len()), ((6, 7), 1));
    assert_eq!(served.num_records("orders..streams"), 14 - served.bounds("orders..streams").0 as usize);
}

#[test]
fn records_deleted_from_commits_take_whole_commits() {
    let mut served = Served::start(&[]);
    served.create("orders", &[]);
    for _ in 0..5 {
        served.commit("orders", 10, 0);
    }
    assert_eq!(served.delete("orders..commits", 2), Ok(2));
    assert_eq!((served.bounds("orders"), served.bounds("orders..feed")), ((2, 5), (2, 5)));
    assert_eq!(served.bounds("orders..commits"), (2, 5));
    assert_eq!(served.delete("orders..commits", 1), Ok(2));
    assert_eq!(served.delete("orders..commits", 6), Err(ResponseError::OffsetOutOfRange));
    assert!(served.refusal("orders..commit-1").contains("was deleted"));
    for name in ["orders..feed", "orders..streams", "orders..seal", "orders..commit-3"] {
        assert_eq!(served.delete(name, 0), Err(ResponseError::InvalidTopicException), "{name}");
    }
    assert_eq!(served.delete("orders..commits", -1), Ok(5));
    assert_eq!((served.bounds("orders"), served.bounds("orders..commits")), ((5, 5), (5, 5)));
    served.commit("orders", 10, 0);
    assert_eq!((served.num_records("orders..commit-5"), served.states("orders").len()), (1, 1));
}

#[test]
fn deleted_records_are_told_in_the_manifests_and_what_is_left_of_nothing_is_dropped() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("retention.ms", "-1")]);
    for _ in 0..3 {
        served.produce("orders", b"a");
        served.commit("orders", 1, 0);
    }
    assert_eq!(served.delete("orders", 3), Ok(3));
    let (deleted, partial, live) = (CommitState::Deleted, CommitState::Partial, CommitState::Live);
    assert_eq!(served.states("orders"), [(0, deleted), (1, partial), (2, live)]);
    assert!(served.refusal("orders..commit-1").contains("not whole"));
    assert_eq!(served.num_records("orders..commit-2"), 2);
    served.enforce();
    assert!(served.refusal("orders..commit-0").contains("oldest that is kept is commit 1"));
    assert_eq!(served.bounds("orders..feed"), (3, 6));
}

#[test]
fn a_compacted_feed_keeps_everything() {
    let mut served = Served::start(&["log.cleanup.policy=compact", "log.retention.ms=1"]);
    served.create("orders", &[("streamstack.retention.commits", "1")]);
    let keyed = NewRecord { timestamp: START_MS, key: Some(b"k"), value: Some(b"v"), headers: &[] };
    for _ in 0..3 {
        served.client.produce("orders", 0, BatchBuilder::new(0).record(keyed)).unwrap();
        served.produce("orders..seal", b"1");
    }
    served.clock.advance_ms(5_000);
    served.enforce();
    assert_eq!(served.bounds("orders"), (0, 3));
    assert_eq!(served.delete("orders", 1), Err(ResponseError::PolicyViolation));
    assert_eq!(served.delete("orders..commits", 1), Err(ResponseError::PolicyViolation));
}

#[test]
fn a_clock_that_is_set_forward_deletes_nothing() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("retention.ms", "10000")]);
    served.commit("orders", 10, 0);
    served.clock.set_wall_ms(START_MS + 86_400_000);
    served.enforce();
    assert_eq!(served.bounds("orders"), (0, 1), "ages are told by the steady clock");
}

fn position(topic: &str, offset: i64) -> GroupPosition {
    GroupPosition { topic: topic.to_owned(), partition: 0, offset, metadata: String::new() }
}

/// The group has this position and no other.
fn move_to(served: &mut Served, topic: &str, offset: i64) {
    let before = served.client.group_positions("warehouse").unwrap();
    served.client.move_group("warehouse", &[position(topic, offset)]).unwrap();
    let others: Vec<_> = before.into_iter().filter(|position| position.topic != topic).collect();
    if !others.is_empty() {
        served.client.forget_positions("warehouse", &others).unwrap();
    }
}

#[test]
fn commits_are_held_for_a_group_that_has_yet_to_read_them_in_whichever_space_it_reads() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("streamstack.retention.commits", "1"), ("streamstack.retain", "other, warehouse")]);
    for _ in 0..6 {
        served.commit("orders", 10, 0);
    }
    move_to(&mut served, "orders..commits", 1);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (1, 6), "commit 1 is the first that it has to read");
    move_to(&mut served, "orders", 2);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (2, 6));
    move_to(&mut served, "orders..feed", 3);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (3, 6));
    served.client.move_group("warehouse", &[position("orders..commits", 5)]).unwrap();
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (3, 6), "of two positions the one that is behind holds");
    move_to(&mut served, "orders", 6);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (5, 6), "all is read, and retention takes what it would have taken");
}

#[test]
fn commits_are_held_for_a_group_that_reads_by_a_plain_name_of_a_view() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("streamstack.retention.commits", "1"), ("streamstack.retain", "warehouse")]);
    served.create("orders-all", &[("streamstack.view", "orders..feed")]);
    for _ in 0..6 {
        served.commit("orders", 10, 0);
    }
    move_to(&mut served, "orders-all", 2);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (2, 6));
}

#[test]
fn commits_are_held_for_a_group_that_reads_from_a_commit_on() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("streamstack.retention.commits", "1"), ("streamstack.retain", "warehouse")]);
    for _ in 0..6 {
        served.commit("orders", 10, 0);
    }
    served.create("orders-late", &[("streamstack.view", "orders..since-4")]);
    move_to(&mut served, "orders..since-1..dedup", 0);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (1, 6), "commit 0 is none of those that it reads");
    move_to(&mut served, "orders..since-1", 3);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (3, 6));
    move_to(&mut served, "orders-late", 0);
    served.enforce();
    assert_eq!(served.bounds("orders..feed"), (4, 6), "a plain name holds no more than the view that it names");
}

#[test]
fn nothing_is_held_for_a_group_without_a_position_nor_against_the_operator() {
    let mut served = Served::start(&[]);
    served.create("orders", &[("streamstack.retention.commits", "2"), ("streamstack.retain", "warehouse")]);
    for _ in 0..5 {
        served.commit("orders", 10, 0);
    }
    served.enforce();
    assert_eq!(served.bounds("orders"), (3, 5), "the group has never committed a position");
    move_to(&mut served, "orders..commits", 3);
    served.commit("orders", 10, 0);
    served.enforce();
    assert_eq!(served.bounds("orders"), (3, 6));
    assert_eq!(served.delete("orders..commits", 5), Ok(5));
    assert_eq!(served.bounds("orders"), (5, 6), "an operator deletes what a group holds");
}

#[test]
fn commits_are_held_up_to_an_age() {
    let mut served = Served::start(&[]);
    let configs =
        [("retention.ms", "1000"), ("streamstack.retain", "warehouse"), ("streamstack.retain.max.ms", "10000")];
    served.create("orders", &configs);
    for _ in 0..3 {
        served.commit("orders", 10, 0);
        served.clock.advance_ms(4_000);
    }
    move_to(&mut served, "orders", 0);
    served.enforce();
    assert_eq!(served.bounds("orders"), (1, 3), "the first is 12 s old");
    served.clock.advance_ms(20_000);
    served.enforce();
    assert_eq!(served.bounds("orders"), (3, 3));
}

#[test]
fn positions_that_nobody_uses_are_forgotten_and_so_are_those_on_names_whose_commits_are_gone() {
    let mut served = Served::start(&["offsets.retention.minutes=1"]);
    served.create("orders", &[]);
    for _ in 0..3 {
        served.commit("orders", 10, 0);
    }
    let names =
        ["orders", "orders..commit-0", "orders..commit-1", "orders..commits-0-1", "orders..upto-2", "orders..since-0"];
    let positions: Vec<_> = names.iter().map(|name| position(name, 1)).collect();
    served.client.move_group("warehouse", &positions).unwrap();
    assert_eq!(served.delete("orders..commits", 1), Ok(1));
    served.server.broker().forget_old_positions();
    let names = |served: &mut Served| {
        let positions = served.client.group_positions("warehouse").unwrap().into_iter();
        positions.map(|position| position.topic).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut served), ["orders", "orders..commit-1", "orders..since-0"]);
    served.clock.advance_ms(59_999);
    served.client.move_group("warehouse", &[position("orders..since-0", 2)]).unwrap();
    served.clock.advance_ms(1);
    served.server.broker().forget_old_positions();
    assert_eq!(names(&mut served), ["orders..since-0"], "the others were committed a minute ago");
    let mut served = served.restarted(&["offsets.retention.minutes=1"]);
    served.server.broker().forget_old_positions();
    assert_eq!(names(&mut served), Vec::<String>::new());
}

//! Views in every mode over the wire: Metadata, ListOffsets and Fetch of a served broker. Its disk is memory, its clock is set
//! by hand.

use std::sync::Arc;
use std::time::Duration;

use kafka_protocol::ResponseError;
use streamstack::batch::{BatchBuilder, Compression, NewRecord};
use streamstack::broker::Broker;
use streamstack::cli::client::{Client, ClientError, Isolation, OffsetOf, Position, Record};
use streamstack::cli::runtime;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{FaultyDisk, ManualClock};
use streamstack::server::Server;

const START_MS: i64 = 1_767_225_600_000;
/// A key and a value; none: a tombstone.
type Put<'a> = (&'a str, Option<&'a str>);

struct Served {
    runtime: tokio::runtime::Runtime,
    server: Server,
    disk: FaultyDisk,
    clock: Arc<ManualClock>,
    client: Client,
}

impl Served {
    fn start() -> Served {
        let mut served = Served::on(FaultyDisk::new());
        served.client.create_topic("orders", 1, &[("streamstack.seal.ms", "9000000000000")]).unwrap();
        served
    }

    fn on(disk: FaultyDisk) -> Served {
        let overrides = ["log.dirs=/data", "listeners=PLAINTEXT://127.0.0.1:0"].map(str::to_owned).to_vec();
        let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
        let listeners = config.settings.listeners.clone();
        let clock = Arc::new(ManualClock::new(START_MS));
        let runtime = runtime().unwrap();
        let server = runtime.block_on(async {
            let broker = Broker::open(Arc::new(disk.clone()), clock.clone(), config).unwrap();
            Server::start(broker, &listeners).await.unwrap()
        });
        let client = Client::connect(&server.addresses()[0].to_string()).unwrap();
        Served { runtime, server, disk, clock, client }
    }

    fn stop(self) -> FaultyDisk {
        self.runtime.block_on(self.server.shut_down()).unwrap();
        self.disk
    }

    /// One batch.
    fn put(&mut self, records: &[Put<'_>]) {
        self.put_as(Compression::None, records);
    }

    fn put_as(&mut self, codec: Compression, records: &[Put<'_>]) {
        let mut builder = BatchBuilder::new(0).compression(codec);
        for (key, value) in records {
            let (key, value) = (Some(key.as_bytes()), value.map(str::as_bytes));
            builder.push(NewRecord { timestamp: START_MS, key, value, headers: &[] });
        }
        self.client.produce("orders", 0, builder).unwrap();
    }

    fn seal(&mut self) {
        let nothing = NewRecord { timestamp: START_MS, ..NewRecord::default() };
        self.client.produce("orders..seal", 0, BatchBuilder::new(0).record(nothing)).unwrap();
    }

    fn commit(&mut self, records: &[Put<'_>]) {
        self.put(records);
        self.seal();
    }

    /// Offsets with key and value.
    fn read(&mut self, view: &str) -> Vec<String> {
        self.client.read_to_end(view).unwrap().iter().map(told).collect()
    }

    fn bounds(&mut self, view: &str) -> (i64, i64) {
        let bounds = self.client.bounds(view).unwrap()[0];
        (bounds.start, bounds.end)
    }

    /// What an impatient client is told of a name.
    fn refusal(&mut self, view: &str) -> ResponseError {
        let mut client = Client::connect(self.client.address()).unwrap().patience(Duration::ZERO);
        match client.bounds(view) {
            Err(ClientError::Refused { code, .. }) => code,
            other => panic!("{view}: {other:?}"),
        }
    }

    /// Until the commits up to this one are indexed: their bounded name is answered then.
    fn index(&mut self, last: i64) {
        self.client.bounds(&format!("orders..upto-{last}..latest")).unwrap();
    }
}

fn told(record: &Record) -> String {
    let text = |bytes: Option<&[u8]>| bytes.map_or("-".to_owned(), |bytes| String::from_utf8(bytes.to_vec()).unwrap());
    format!("{}:{}={}", record.offset, text(record.key.as_deref()), text(record.value.as_deref()))
}

const A1: Put<'_> = ("a", Some("1"));
const A2: Put<'_> = ("a", Some("2"));
const B1: Put<'_> = ("b", Some("1"));
const NO_A: Put<'_> = ("a", None);
const NO_B: Put<'_> = ("b", None);

#[test]
fn each_mode_shows_what_it_promises_of_any_range() {
    for codec in Compression::ALL {
        let mut served = Served::start();
        for records in [&[A1, B1][..], &[A1, A2, B1], &[A1, NO_B]] {
            served.put_as(codec, records);
            served.seal();
        }
        for (view, expected) in [
            ("orders..upto-2..dedup", "0:a=1 1:b=1 3:a=2 6:b=-"),
            ("orders..dedup", "0:a=1 1:b=1 3:a=2 6:b=-"),
            ("orders..latest", "5:a=1 6:b=-"),
            ("orders..changed", "0:a=1 1:b=1 3:a=2 5:a=1 6:b=-"),
            ("orders..upto-2..live", "5:a=1"),
            ("orders..commits-0-1..latest", "3:a=2 4:b=1"),
            ("orders..commits-1-2..dedup", "2:a=1 3:a=2 4:b=1 6:b=-"),
            ("orders..commit-1..dedup", "2:a=1 3:a=2 4:b=1"),
            ("orders..since-1..dedup", "2:a=1 3:a=2 4:b=1 6:b=-"),
            ("orders..since-2..changed", "5:a=1 6:b=-"),
        ] {
            assert_eq!(served.read(view).join(" "), expected, "{view} of {} batches", codec.name());
        }
        served.stop();
    }
}

#[test]
fn ends_are_tight_where_the_tail_is_not_emitted() {
    let mut served = Served::start();
    served.commit(&[A1, B1]);
    served.commit(&[A1, B1, A1]);
    served.commit(&[NO_A, NO_B]);
    assert_eq!(served.bounds("orders..commits-0-1..dedup"), (0, 2), "all of the tail is there before");
    assert_eq!(served.bounds("orders..commit-2..live"), (5, 5), "nothing but tombstones");
    assert!(served.read("orders..upto-2..live").is_empty());
    assert_eq!(served.bounds("orders..latest"), (5, 7), "what was first is superseded");
    for position in [0, 3, 5, 7] {
        let at = [Position { partition: 0, offset: position }];
        served.client.fetch("orders..latest", &at, Isolation::ReadCommitted, Duration::ZERO).unwrap();
    }
    served.commit(&[A1]);
    served.commit(&[A1]);
    served.index(4);
    assert_eq!((served.bounds("orders..changed"), served.bounds("orders..feed")), ((0, 8), (0, 9)));
    let past_the_end = [Position { partition: 0, offset: 9 }];
    let read = served.client.fetch("orders..changed", &past_the_end, Isolation::ReadCommitted, Duration::ZERO).unwrap();
    assert_eq!((read[0].records.len(), read[0].next), (0, 9), "a position of ..feed is one of ..changed");
    let too_far = [Position { partition: 0, offset: 10 }];
    served.client.fetch("orders..changed", &too_far, Isolation::ReadCommitted, Duration::ZERO).unwrap_err();
    served.stop();
}

#[test]
fn a_feed_without_commits_has_empty_views() {
    let mut served = Served::start();
    served.put(&[A1]);
    for view in ["orders..dedup", "orders..latest", "orders..changed", "orders..since-0..dedup"] {
        assert_eq!(served.bounds(view), (0, 0), "{view}");
        assert!(served.read(view).is_empty());
    }
    served.seal();
    served.seal();
    assert_eq!(served.bounds("orders..commit-1..latest"), (1, 1), "an empty commit");
    served.stop();
}

#[test]
fn a_bounded_name_waits_for_its_last_commit_and_is_refused_when_its_first_is_gone() {
    let mut served = Served::start();
    served.commit(&[A1, A1]);
    assert_eq!(served.refusal("orders..commits-0-1..dedup"), ResponseError::LeaderNotAvailable);
    served.commit(&[A1, B1]);
    assert_eq!(served.read("orders..commits-0-1..dedup"), ["0:a=1", "3:b=1"]);
    served.commit(&[A1]);
    assert_eq!(served.read("orders..commits-0-1..dedup"), ["0:a=1", "3:b=1"], "whatever comes after");
    let broker = served.server.broker().clone();
    let feed = broker.catalog().by_name("orders").unwrap();
    served.runtime.block_on(broker.delete_commits(&feed, Some(streamstack::model::CommitNumber(1)))).unwrap();
    assert_eq!(served.refusal("orders..commits-0-1..dedup"), ResponseError::InvalidTopicException);
    assert_eq!(served.read("orders..dedup"), ["2:a=1", "3:b=1"], "what was first is now another record");
    assert_eq!(served.refusal("orders..live"), ResponseError::InvalidTopicException);
    served.stop();
}

#[test]
fn a_fetch_at_the_end_is_answered_when_the_next_record_is_indexed() {
    for view in ["orders..dedup", "orders..latest", "orders..since-0..changed"] {
        let mut served = Served::start();
        served.commit(&[A1]);
        assert_eq!(served.read(view), ["0:a=1"]);
        let address = served.client.address().to_owned();
        let waiting = std::thread::spawn(move || {
            let at = [Position { partition: 0, offset: 1 }];
            Client::connect(&address).unwrap().fetch(view, &at, Isolation::ReadCommitted, Duration::from_secs(25))
        });
        // Nothing new for dedup and changed, and then something.
        served.commit(&[A1]);
        served.commit(&[A2]);
        let mut shown = waiting.join().unwrap().unwrap();
        let records = shown.remove(0).records;
        assert!(records.iter().any(|record| record.offset >= 1), "{view}: {records:?}");
        served.stop();
    }
}

#[test]
fn times_are_those_of_seals() {
    let mut served = Served::start();
    for records in [&[A1][..], &[A1], &[A2]] {
        served.commit(records);
        served.clock.advance_ms(1_000);
    }
    served.index(2);
    let mut at = |view: &str, after_ms| {
        let time = OffsetOf::Time(START_MS + after_ms);
        served.client.offset(view, 0, time, Isolation::ReadCommitted).unwrap()
    };
    assert_eq!(
        [0, 1, 1_001, 2_000, 2_001].map(|ms| at("orders..dedup", ms)),
        [Some(0), Some(2), Some(2), Some(2), None]
    );
    assert_eq!([0, 2_000].map(|ms| at("orders..latest", ms)), [Some(2), Some(2)]);
    served.stop();
}

#[test]
fn after_a_restart_views_are_the_same_without_being_asked_for_first() {
    let mut served = Served::start();
    served.commit(&[A1, B1]);
    served.commit(&[A1, A2]);
    let views = ["orders..upto-1..dedup", "orders..dedup", "orders..latest", "orders..changed", "orders..upto-1..live"];
    let before = views.map(|view| served.read(view));
    let mut served = Served::on(served.stop());
    served.client.bounds("orders..upto-1..latest").unwrap();
    assert_eq!(views.map(|view| served.read(view)), before);
    served.commit(&[NO_A]);
    assert_eq!(served.read("orders..upto-2..live"), ["1:b=1"]);
    let disk = served.disk.kill_image();
    served.stop();
    let mut served = Served::on(disk);
    assert_eq!(served.read("orders..upto-2..live"), ["1:b=1"]);
    served.stop();
}

#[test]
fn a_deleted_feed_takes_its_index_along() {
    let mut served = Served::start();
    for _ in 0..20 {
        served.commit(&[A1, B1]);
        served.read("orders..dedup");
        served.client.delete_topic("orders").unwrap();
        served.client.create_topic("orders", 1, &[("streamstack.seal.ms", "9000000000000")]).unwrap();
    }
    served.commit(&[B1]);
    served.index(0);
    assert_eq!(served.read("orders..dedup"), ["0:b=1"]);
    let mut served = Served::on(served.stop());
    assert_eq!(served.read("orders..dedup"), ["0:b=1"]);
    served.stop();
}

#[test]
fn manifests_tell_duplicates_and_new_keys_once_the_feed_is_indexed() {
    let mut served = Served::start();
    served.commit(&[A1, B1, A1]);
    served.commit(&[A1, A2, ("c", None)]);
    let counts = |served: &mut Served| -> Vec<[Option<u64>; 2]> {
        let manifests = served.client.read_to_end("orders..commits").unwrap();
        let manifests = manifests.iter().map(|record| {
            let manifest = streamstack::model::Manifest::parse(record.value.as_deref().unwrap()).unwrap();
            [manifest.duplicates, manifest.new_keys]
        });
        manifests.collect()
    };
    assert_eq!(counts(&mut served), [[None; 2]; 2], "nobody has asked for an index");
    served.index(1);
    assert_eq!(counts(&mut served), [[Some(1), Some(2)], [Some(1), Some(1)]]);
    let mut served = Served::on(served.stop());
    served.index(1);
    assert_eq!(counts(&mut served), [[Some(1), Some(2)], [Some(1), Some(1)]], "after a restart");
}

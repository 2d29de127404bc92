//! Names and counts that no honest client sends.

use std::path::{Path, PathBuf};

use kafka_protocol::messages::CreatePartitionsRequest;
use kafka_protocol::messages::MetadataRequest;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use streamstack::disk::Disk;

use super::broker::Served;
use super::requests::*;

const INVALID_TOPIC: i16 = 17;
const INVALID_PARTITIONS: i16 = 37;
const INVALID_REQUEST: i16 = 42;
const POLICY_VIOLATION: i16 = 44;

fn files(disk: &dyn Disk, folder: &Path) -> Vec<PathBuf> {
    let Ok(names) = disk.list(folder) else { return vec![folder.to_owned()] };
    names.iter().flat_map(|name| files(disk, &folder.join(name))).collect()
}

#[test]
fn names_of_clients_never_become_paths() {
    let served = Served::start();
    let mut peer = served.connect();
    let long = "x".repeat(250);
    let names =
        [".", "..", "../../etc/passwd", "a/b", "/", "a\\b", "a\0b", "a\nb", "%2e%2e", "ä", "\u{202e}x", "", &long];
    for name in names {
        let answer = peer.ask(5, &create_topic(name, 1, &[]));
        assert_eq!(answer.topics[0].error_code, INVALID_TOPIC, "{name:?}");
        let asked = kafka_protocol::messages::metadata_request::MetadataRequestTopic::default();
        let asked = asked.with_name(Some(topic_name(name)));
        let request = MetadataRequest::default().with_topics(Some(vec![asked])).with_allow_auto_topic_creation(true);
        assert_eq!(peer.ask(9, &request).topics[0].error_code, INVALID_TOPIC, "{name:?} by Metadata");
    }
    let legal = format!("{}.Z_-9", "y".repeat(200));
    peer.create_topic(&legal, 2, &[]);
    peer.produced(&legal, 1, batch(&["v"]));
    for path in files(&served.disk, Path::new("/")) {
        let text = path.to_str().unwrap();
        let tame = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.');
        let known = [
            "data",
            "feeds",
            "journal",
            "manifest",
            "meta.properties",
            ".lock",
            "log",
            "index",
            "runs",
            "feed",
            "commits",
            "streams",
            "spare",
            "new",
            "tmp",
        ];
        let words = text.split(['/', '.']).filter(|word| !word.is_empty() && !word.chars().all(tame));
        for word in words {
            assert!(known.iter().any(|known| known.split('.').any(|part| part == word)), "{word:?} in {text}");
        }
    }
}

#[test]
fn absurd_numbers_of_partitions_and_repeated_topics_are_refused() {
    let served = Served::start();
    let mut peer = served.connect();
    peer.create_topic("orders", 1, &[]);
    for count in [i32::MAX, 0, -2, i32::MIN, 10_000_000] {
        let code = peer.ask(5, &create_topic("wide", count, &[])).topics[0].error_code;
        assert!(matches!(code, INVALID_PARTITIONS | POLICY_VIOLATION), "{count}: {code}");
        let topic = CreatePartitionsTopic::default().with_name(topic_name("orders")).with_count(count);
        let request = CreatePartitionsRequest::default().with_topics(vec![topic.with_assignments(None)]);
        let code = peer.ask(3, &request).results[0].error_code;
        assert!(matches!(code, INVALID_PARTITIONS | POLICY_VIOLATION), "{count}: {code}");
    }
    // Many topics of many partitions, each within its own limit: in all there is one too.
    let refused = (0..200).map(|n| peer.ask(5, &create_topic(&format!("t{n}"), 10_000, &[])).topics[0].error_code);
    assert!(refused.into_iter().any(|code| code == POLICY_VIOLATION));
    let mut twice = create_topic("twice", 1, &[]);
    twice.topics.extend(create_topic("twice", 1, &[]).topics);
    let codes: Vec<i16> = peer.ask(5, &twice).topics.iter().map(|topic| topic.error_code).collect();
    assert!(codes.iter().all(|code| *code == INVALID_REQUEST), "{codes:?}");
}

#[test]
fn metadata_of_very_many_topics_for_many_clients_at_once_is_answered() {
    let served = Served::start();
    let mut peer = served.connect();
    for lot in 0..10 {
        let mut request = create_topic("none", 1, &[]);
        request.topics = (0..1_000).flat_map(|n| create_topic(&format!("t-{lot}-{n}"), 1, &[]).topics).collect();
        assert!(peer.ask(5, &request).topics.iter().all(|topic| topic.error_code == 0));
    }
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let mut peer = served.connect();
            scope.spawn(move || {
                let answer = peer.ask(12, &MetadataRequest::default().with_topics(None));
                assert_eq!(answer.topics.len(), 10_000);
            });
        }
    });
}

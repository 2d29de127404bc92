//! A transaction of a gigabyte.

use std::time::{Duration, Instant};

use streamstack::cli::client::{Connection, Isolation};
use streamstack::model::Manifest;

use super::broker::{Broker, Start};
use super::transactional::{self as requests, Identity, Protocol};

const NUM_PARTITIONS: i32 = 1_000;
/// Of each partition. A build without optimizations takes its time for each byte.
const NUM_BATCHES: i32 = if cfg!(debug_assertions) { 1 } else { 8 };
const BATCH_RECORDS: usize = 125;
const RECORD_BYTES: usize = 1_000;
/// Far less than the transaction holds.
const MEMORY_MAX_KB: u64 = 200_000;
/// On a busy machine.
const SEAL_MAX: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(60);
const TIMEOUT_MS: i32 = 600_000;

#[test]
fn a_huge_transaction_takes_bounded_memory_and_is_one_commit() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Start::at(folder.path()).with(&["streamstack.durability=os"]).serving();
    let mut client = broker.connect();
    client.create_topic("orders", NUM_PARTITIONS, &[]).unwrap();
    let mut connection = Connection::open(&broker.address, PATIENCE, PATIENCE).unwrap();
    let protocol = Protocol::Second;
    let given = connection.ask(protocol.init(), &requests::init("huge", TIMEOUT_MS, None)).unwrap();
    let who = Identity { id: "huge".into(), producer: given.producer_id.0, epoch: given.producer_epoch };
    let values = vec!["v".repeat(RECORD_BYTES); BATCH_RECORDS];
    let mut memory_kb = 0;
    for number in 0..NUM_BATCHES {
        let batch = requests::batch(&who, number * BATCH_RECORDS as i32, &values);
        for partition in 0..NUM_PARTITIONS {
            let request = requests::produce(Some("huge"), "orders", partition, batch.clone());
            let answer = connection.ask(protocol.produce(), &request).unwrap();
            assert_eq!(answer.responses[0].partition_responses[0].error_code, 0, "{answer:?}");
        }
        memory_kb = memory_kb.max(memory_of(&broker));
    }
    let began = Instant::now();
    let ended = connection.ask(protocol.end(), &requests::end(&who, true)).unwrap();
    let took = began.elapsed();
    memory_kb = memory_kb.max(memory_of(&broker));
    assert_eq!(ended.error_code, 0);
    println!("sealed in {took:?}; {memory_kb} kB of memory");
    assert!(took < SEAL_MAX, "{took:?}");
    assert!(memory_kb < MEMORY_MAX_KB, "{memory_kb} kB");
    let commits = client.read_to_end("orders..commits").unwrap();
    let [commit] = &commits[..] else { panic!("{} commits", commits.len()) };
    let manifest = Manifest::parse(commit.value.as_deref().unwrap()).unwrap();
    let num_records = i64::from(NUM_PARTITIONS * NUM_BATCHES) * BATCH_RECORDS as i64;
    assert_eq!((manifest.records, manifest.partitions.len()), (num_records, NUM_PARTITIONS as usize));
    for partition in [0, NUM_PARTITIONS - 1] {
        let bounds = client.bounds_of("orders..feed", partition, Isolation::ReadCommitted).unwrap();
        assert_eq!(bounds.end, i64::from(NUM_BATCHES) * BATCH_RECORDS as i64);
    }
}

/// What the process holds itself; pages of its files can be taken from it at any time.
fn memory_of(broker: &Broker) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", broker.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).expect("the kernel tells it")
}

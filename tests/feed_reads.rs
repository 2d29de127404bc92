//! Reading many commits in few fetches, over the wire.
#![allow(clippy::disallowed_methods, reason = "the test has a folder of its own")]

use streamstack::batch::{BatchBuilder, NewRecord};
use streamstack::cli::client::Client;
use streamstack::cli::{runtime, start_broker};
use streamstack::config::{ServerConfig, Sources};

const NUM_COMMITS: i64 = 100;
/// The value of each batch of a commit: one fetch holds some dozens of commits, ends within one for want of room for a
/// large batch, and has room for a small one.
const VALUE_BYTES: [usize; 3] = [10, 45_000, 45_000];

#[test]
fn a_fetch_that_ends_within_a_commit_goes_on_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let flags = vec![("--data", "log.dirs", data), ("--listen", "listeners", "PLAINTEXT://127.0.0.1:0".to_owned())];
    let config = ServerConfig::load(&Sources { file: None, env: vec![], overrides: vec![], flags }).unwrap();
    let runtime = runtime().unwrap();
    let server = runtime.block_on(start_broker(config)).unwrap();
    let mut client = Client::connect(&server.addresses()[0].to_string()).unwrap();
    client.create_topic("orders", 1, &[("streamstack.seal.ms", "3600000")]).unwrap();
    for _ in 0..NUM_COMMITS {
        for bytes in VALUE_BYTES {
            client.produce("orders", 0, one_record(bytes)).unwrap();
        }
        client.produce("orders..seal", 0, one_record(0)).unwrap();
    }
    for view in ["orders..feed", "orders..upto-99", "orders..commits-0-99"] {
        let offsets: Vec<i64> = client.read_to_end(view).unwrap().iter().map(|record| record.offset).collect();
        assert_eq!(offsets, (0..NUM_COMMITS * VALUE_BYTES.len() as i64).collect::<Vec<i64>>(), "{view}");
    }
    runtime.block_on(server.shut_down()).unwrap();
}

fn one_record(bytes: usize) -> BatchBuilder {
    let value = vec![b'x'; bytes];
    BatchBuilder::new(0).record(NewRecord { timestamp: 1, key: None, value: Some(&value), headers: &[] })
}

//! Whole partitions as a reader of either isolation level is shown them.

use std::time::Duration;

use streamstack::cli::client::{Client, Isolation, Position, Record};

/// All records of a partition of a topic or view up to its end as of now.
pub fn partition(client: &mut Client, topic: &str, partition: i32, isolation: Isolation) -> Vec<Record> {
    let bounds = client.bounds_of(topic, partition, isolation).unwrap();
    let (mut next, mut records) = (bounds.start, Vec::new());
    while next < bounds.end {
        let from = [Position { partition, offset: next }];
        let fetched = client.patiently(|client| client.fetch(topic, &from, isolation, Duration::ZERO)).unwrap();
        let before = next;
        for part in fetched {
            next = part.next;
            records.extend(part.records);
        }
        assert!(next > before, "{topic}-{partition} shows nothing at offset {next}, and ends at {}", bounds.end);
    }
    records
}

//! Requests and answers of transactions, in their first protocol.

use super::answer::{i16_at, i64_at};
use super::request::request;
use crate::Fault;

/// A transaction coordinator is asked for, not a group's.
const TRANSACTION: i8 = 1;

const TIMEOUT_MS: i32 = 60_000;

/// Who a producer is.
#[derive(Clone, Copy)]
pub struct Identity {
    pub producer: i64,
    pub epoch: i16,
}

/// FindCoordinator v1.
pub fn find_transaction_coordinator(id: &str) -> Vec<u8> {
    request(10, 1, |b| {
        b.string(id).i8(TRANSACTION);
    })
}

/// FindCoordinator v1: the error code. Before it: correlation and throttle time.
pub fn found_transaction_coordinator(answer: &[u8]) -> Result<i16, Fault> {
    i16_at(answer, 8)
}

/// InitProducerId v1.
pub fn init_producer(id: &str) -> Vec<u8> {
    init_producer_within(id, TIMEOUT_MS)
}

/// The same with a time after which a transaction is aborted.
pub fn init_producer_within(id: &str, timeout_ms: i32) -> Vec<u8> {
    request(22, 1, |b| {
        b.string(id).i32(timeout_ms);
    })
}

/// InitProducerId v1: the code and who it is. Before them: correlation and throttle time.
pub fn given(answer: &[u8]) -> Result<(i16, Identity), Fault> {
    Ok((i16_at(answer, 8)?, Identity { producer: i64_at(answer, 10)?, epoch: i16_at(answer, 18)? }))
}

/// AddPartitionsToTxn v0 of one partition.
pub fn add_partition(id: &str, by: Identity, topic: &str, partition: i32) -> Vec<u8> {
    request(24, 0, |b| {
        b.string(id).i64(by.producer).i16(by.epoch).i32(1).string(topic).i32(1).i32(partition);
    })
}

/// AddPartitionsToTxn v0 of the first partitions of a topic.
pub fn add_partitions(id: &str, by: Identity, topic: &str, num: i32) -> Vec<u8> {
    request(24, 0, |b| {
        b.string(id).i64(by.producer).i16(by.epoch).i32(1).string(topic).i32(num);
        for partition in 0..num {
            b.i32(partition);
        }
    })
}

/// AddPartitionsToTxn v0: the partition's error code. Before it: correlation, throttle time, number of topics, name, number
/// of partitions, partition.
pub fn added(answer: &[u8], topic: &str) -> Result<i16, Fault> {
    i16_at(answer, 4 + 4 + 4 + 2 + topic.len() + 4 + 4)
}

/// Produce v7 inside a transaction.
pub fn produce_in(id: &str, topic: &str, partition: i32, batch: &[u8]) -> Vec<u8> {
    request(0, 7, |b| {
        b.string(id).i16(-1).i32(30_000).i32(1).string(topic).i32(1).i32(partition).bytes(batch);
    })
}

/// The same of one batch for each of the first partitions.
pub fn produce_wide(id: &str, topic: &str, num: i32, batch: &[u8]) -> Vec<u8> {
    request(0, 7, |b| {
        b.string(id).i16(-1).i32(30_000).i32(1).string(topic).i32(num);
        for partition in 0..num {
            b.i32(partition).bytes(batch);
        }
    })
}

/// EndTxn v0: a commit.
pub fn end(id: &str, by: Identity) -> Vec<u8> {
    request(26, 0, |b| {
        b.string(id).i64(by.producer).i16(by.epoch).i8(1);
    })
}

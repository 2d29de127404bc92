//! Requests, whole with their length and header.

use super::buffer::Buffer;

/// Metadata v1 about no topic: who is there.
pub fn metadata() -> Vec<u8> {
    request(3, 1, |b| {
        b.i32(0);
    })
}

/// CreateTopics v4: topics with so many partitions each, and these configs.
pub fn create_topics(topics: &[String], partitions: i32, configs: &[(&str, &str)]) -> Vec<u8> {
    request(19, 4, |b| {
        b.i32(topics.len() as i32);
        for topic in topics {
            b.string(topic).i32(partitions).i16(1).i32(0).i32(configs.len() as i32);
            for (name, value) in configs {
                b.string(name).string(value);
            }
        }
        b.i32(120_000).i8(0);
    })
}

/// Produce v7, acks=all, to one partition.
pub fn produce(topic: &str, partition: i32, batch: &[u8]) -> Vec<u8> {
    request(0, 7, |b| {
        b.i16(-1).i16(-1).i32(30_000).i32(1).string(topic).i32(1).i32(partition).bytes(batch);
    })
}

/// Fetch v11 without a session, from partition 0; waits up to `wait_ms` for the first byte.
pub fn fetch(topic: &str, offset: i64, bytes_max: i32, wait_ms: i32) -> Vec<u8> {
    fetch_as(UNCOMMITTED, topic, offset, bytes_max, wait_ms)
}

/// The same of committed records alone.
pub fn fetch_committed(topic: &str, offset: i64, bytes_max: i32, wait_ms: i32) -> Vec<u8> {
    fetch_as(COMMITTED, topic, offset, bytes_max, wait_ms)
}

const UNCOMMITTED: i8 = 0;
const COMMITTED: i8 = 1;

fn fetch_as(isolation: i8, topic: &str, offset: i64, bytes_max: i32, wait_ms: i32) -> Vec<u8> {
    request(1, 11, |b| {
        b.i32(-1).i32(wait_ms).i32(1).i32(bytes_max).i8(isolation).i32(0).i32(-1);
        b.i32(1).string(topic).i32(1).i32(0).i32(-1).i64(offset).i64(-1).i32(bytes_max);
        b.i32(0).string("");
    })
}

/// ListOffsets v1, of partition 0: the end.
pub fn list_end(topic: &str) -> Vec<u8> {
    request(2, 1, |b| {
        b.i32(-1).i32(1).string(topic).i32(1).i32(0).i64(-1);
    })
}

pub(super) fn request(key: i16, version: i16, body: impl FnOnce(&mut Buffer)) -> Vec<u8> {
    let mut buffer = Buffer::default();
    buffer.i32(0).i16(key).i16(version).i32(0).string("compare");
    body(&mut buffer);
    let length = buffer.0.len() as i32 - 4;
    buffer.0[..4].copy_from_slice(&length.to_be_bytes());
    buffer.0
}

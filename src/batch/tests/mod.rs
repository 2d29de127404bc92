//! Tests of whole batches: what comes out of a builder, of Kafka's own writer, and of an attacker.

mod bad;
mod bombs;
mod garbage;
mod golden;
mod keep;
mod round_trip;

use bytes::Bytes;

use super::*;

/// Limits of a topic with Kafka's defaults.
fn limits() -> Limits {
    Limits {
        max_message_bytes: 1_048_588,
        max_decompressed_bytes: 1 << 20,
        compacted: false,
        timestamp_type: TimestampType::Create,
        before_max_ms: i64::MAX,
        after_max_ms: 3_600_000,
        now_ms: NOW,
        zstd_allowed: true,
    }
}

const NOW: i64 = 1_767_225_600_000;

/// Records with key `k<n>` and value `v<n>`.
fn some_records(count: usize) -> BatchBuilder {
    let mut builder = BatchBuilder::new(0);
    for n in 0..count {
        let (key, value) = (format!("k{n}"), format!("v{n}"));
        builder.push(NewRecord {
            timestamp: NOW + n as i64,
            key: Some(key.as_bytes()),
            value: Some(value.as_bytes()),
            headers: &[],
        });
    }
    builder
}

/// The batch with its checksum put right after a change.
fn resealed(mut batch: Vec<u8>) -> Bytes {
    let crc = checksum(&batch);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    Bytes::from(batch)
}

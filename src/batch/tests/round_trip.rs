//! What a builder writes is what a reader reads.

use proptest::prelude::*;

use super::*;
use crate::batch::codec;

type Bytestring = Option<Vec<u8>>;

#[derive(Clone, Debug)]
struct Written {
    /// Offsets left out before this record.
    hole: i32,
    timestamp: i64,
    key: Bytestring,
    value: Bytestring,
    headers: Vec<(Vec<u8>, Bytestring)>,
}

fn bytestring() -> impl Strategy<Value = Bytestring> {
    prop::option::of(prop::collection::vec(any::<u8>(), 0..80))
}

fn written(hole_max: i32) -> impl Strategy<Value = Written> {
    let headers = prop::collection::vec((prop::collection::vec(0..3u8, 0..2), bytestring()), 0..4);
    (0..=hole_max, NOW - 1000..NOW + 1000, bytestring(), bytestring(), headers)
        .prop_map(|(hole, timestamp, key, value, headers)| Written { hole, timestamp, key, value, headers })
}

fn build(base_offset: i64, compression: Compression, all: &[Written], tail_hole: i32) -> Bytes {
    let mut builder = BatchBuilder::new(base_offset).compression(compression);
    let mut next = 0;
    for one in all {
        let headers: Vec<Header<'_>> =
            one.headers.iter().map(|(key, value)| Header { key, value: value.as_deref() }).collect();
        let record = NewRecord {
            timestamp: one.timestamp,
            key: one.key.as_deref(),
            value: one.value.as_deref(),
            headers: &headers,
        };
        builder.push_at(next + one.hole, record);
        next += one.hole + 1;
    }
    builder.last_offset_delta(next - 1 + tail_hole).build()
}

fn codecs() -> impl Strategy<Value = Compression> {
    prop::sample::select(&Compression::ALL[..])
}

proptest! {
    #[test]
    fn records_come_back(
        base_offset in 0..i64::MAX / 2,
        compression in codecs(),
        all in prop::collection::vec(written(3), 1..20),
        tail_hole in 0..5i32,
    ) {
        let batch = build(base_offset, compression, &all, tail_hole);
        prop_assert_eq!(next_batch(&batch), Some(batch.len()));
        let read = records(&batch, 1 << 20).unwrap();
        let mut next = base_offset;
        let mut num_read = 0;
        for (record, one) in read.iter().zip(&all) {
            let record = record.unwrap();
            next += i64::from(one.hole) + 1;
            num_read += 1;
            prop_assert_eq!((record.offset, record.timestamp), (next - 1, one.timestamp));
            prop_assert_eq!((record.key, record.value), (one.key.as_deref(), one.value.as_deref()));
            let headers: Vec<_> = record.headers().map(|h| (h.key.to_vec(), h.value.map(<[u8]>::to_vec))).collect();
            prop_assert_eq!(&headers, &one.headers);
        }
        prop_assert_eq!(num_read, all.len());
        prop_assert_eq!(read.header().next_offset(), next + i64::from(tail_hole));
    }

    #[test]
    fn dense_batches_pass_the_check(compression in codecs(), all in prop::collection::vec(written(0), 1..20)) {
        let bytes = build(0, compression, &all, 0);
        let batch = check_produced(bytes.clone(), &limits()).unwrap();
        prop_assert_eq!(batch.bytes, bytes);
        prop_assert_eq!(batch.facts.max_timestamp, all.iter().map(|r| r.timestamp).max().unwrap());
        prop_assert_eq!(batch.facts.tombstones as usize, all.iter().filter(|r| r.value.is_none()).count());
    }

    #[test]
    fn codecs_round_trip(compression in codecs(), bytes in prop::collection::vec(any::<u8>(), 0..5000), times in 1..40usize) {
        let bytes = bytes.repeat(times);
        let compressed = codec::compress(compression, &bytes);
        prop_assert_eq!(codec::decompress(compression, &compressed, bytes.len()), Ok(bytes));
    }
}

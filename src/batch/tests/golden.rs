//! Batches written by Apache Kafka's own writer (see `tests/golden/batch/Generate.java`): read, and written again.

use super::*;

macro_rules! golden {
    ($name:literal) => {
        unhex(include_str!(concat!("../../../tests/golden/batch/", $name, ".hex")))
    };
}

const FIRST_TIMESTAMP: i64 = NOW;
const BATCH_MAX_TIMESTAMP: i64 = NOW + 500;

fn unhex(text: &str) -> Bytes {
    let digits = text.trim().as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn of_codec(compression: Compression) -> Bytes {
    match compression {
        Compression::None => golden!("none"),
        Compression::Gzip => golden!("gzip"),
        Compression::Snappy => golden!("snappy"),
        Compression::Lz4 => golden!("lz4"),
        Compression::Zstd => golden!("zstd"),
    }
}

/// The records in `Generate.java`.
fn the_same(compression: Compression) -> BatchBuilder {
    let header = |key: &'static str, value: Option<&'static str>| Header {
        key: key.as_bytes(),
        value: value.map(str::as_bytes),
    };
    let headers = [header("a", Some("1")), header("b", None), header("a", Some("2")), header("", Some(""))];
    let long = [b'x'; 300];
    BatchBuilder::new(100)
        .compression(compression)
        .transactional()
        .producer(Producer { id: 7, epoch: 3, base_sequence: 5 })
        .record(NewRecord { timestamp: NOW, key: Some(b"key"), value: Some(b"value"), headers: &headers })
        .record(NewRecord { timestamp: NOW + 500, key: Some(b"key"), value: None, headers: &[] })
        .record(NewRecord { timestamp: NOW - 1000, key: None, value: Some(&long), headers: &[] })
}

#[test]
fn builder_writes_what_kafka_writes() {
    assert_eq!(the_same(Compression::None).build(), golden!("none"));
}

#[test]
fn every_codec_of_kafka_is_read() {
    let expected = the_same(Compression::None).build();
    let expected = records(&expected, 4096).unwrap();
    for compression in Compression::ALL {
        let batch = check_produced(of_codec(compression), &limits()).unwrap();
        assert_eq!(batch.header.attributes.compression(), Ok(compression));
        assert_eq!((batch.facts.max_timestamp, batch.facts.tombstones), (BATCH_MAX_TIMESTAMP, 1));
        assert_eq!(batch.bytes, of_codec(compression), "{compression:?} is stored as it came");
        let read = records(&batch.bytes, 4096).unwrap();
        assert!(read.iter().eq(expected.iter()), "{compression:?}");
    }
}

#[test]
fn header_of_kafka_is_read_field_by_field() {
    let bytes = golden!("none");
    let header = BatchHeader::parse(&bytes).unwrap();
    assert_eq!(header.total_len(), bytes.len());
    assert_eq!((header.base_offset, header.last_offset(), header.next_offset()), (100, 102, 103));
    assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (7, 3, 5));
    assert_eq!((header.base_timestamp, header.max_timestamp), (FIRST_TIMESTAMP, BATCH_MAX_TIMESTAMP));
    assert_eq!((header.record_count, header.crc), (3, checksum(&bytes)));
    assert!(header.attributes.is_transactional() && !header.attributes.is_control());
}

#[test]
fn headers_keep_order_and_duplicates() {
    let bytes = golden!("none");
    let read = records(&bytes, 4096).unwrap();
    let first = read.iter().next().unwrap().unwrap();
    let headers: Vec<(&[u8], Option<&[u8]>)> = first.headers().map(|h| (h.key, h.value)).collect();
    assert_eq!(headers, [(&b"a"[..], Some(&b"1"[..])), (b"b", None), (b"a", Some(b"2")), (b"", Some(b""))]);
}

#[test]
fn log_append_time_gives_every_record_the_batch_time() {
    let kafkas = golden!("log-append-time");
    for record in &records(&kafkas, 4096).unwrap() {
        assert_eq!(record.unwrap().timestamp, NOW + 999);
    }
    let limits = Limits { timestamp_type: TimestampType::LogAppend, now_ms: NOW + 999, ..limits() };
    let ours = check_produced(golden!("none"), &limits).unwrap();
    for record in &records(&ours.bytes, 4096).unwrap() {
        assert_eq!(record.unwrap().timestamp, NOW + 999);
    }
    let header = BatchHeader::parse(&ours.bytes).unwrap();
    assert_eq!(header, ours.header);
    assert_eq!(header.crc, checksum(&ours.bytes));
}

#[test]
fn markers_are_kafkas_to_the_byte() {
    for (marker, golden) in [(Marker::Commit, golden!("commit-marker")), (Marker::Abort, golden!("abort-marker"))] {
        assert_eq!(marker_batch(42, NOW, 7, 3, marker, 11), golden, "{marker:?}");
        assert_eq!(read_marker(&golden).unwrap(), Some(marker));
    }
    assert_eq!(read_marker(&golden!("none")).unwrap(), None);
}

#[test]
fn placed_head_changes_only_what_the_checksum_leaves_out() {
    let bytes = golden!("none");
    let mut placed = bytes.to_vec();
    placed[..PLACED_HEAD_LEN].copy_from_slice(&placed_head(&bytes, 1 << 40));
    let header = BatchHeader::parse(&placed).unwrap();
    assert_eq!((header.base_offset, header.leader_epoch, header.total_len()), (1 << 40, 0, bytes.len()));
    assert_eq!(header.crc, checksum(&placed));
}

#[test]
fn walking_stops_at_a_batch_that_is_not_whole() {
    let (one, two) = (golden!("none"), golden!("commit-marker"));
    let mut log = [&one[..], &two].concat();
    assert_eq!(batch_lengths(&log).collect::<Vec<_>>(), [one.len(), two.len()]);
    log.pop();
    assert_eq!(batch_lengths(&log).collect::<Vec<_>>(), [one.len()]);
    assert_eq!((next_batch(&log[..11]), next_batch(&[0; 100])), (None, None));
    assert_eq!(record_span(&one), 3);
}

//! One bad batch of each kind, and the refusal that it gets.

use super::*;

/// Checks three sound records after `change` was done to their bytes and the checksum was put right.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Result<Batch, BatchError> {
    let mut bytes = some_records(3).build().to_vec();
    change(&mut bytes);
    check_produced(resealed(bytes), &limits())
}

/// Checks a batch of `count` records whose body is `body`.
fn with_body(count: i32, body: &[u8]) -> Result<Batch, BatchError> {
    let mut bytes = some_records(1).build()[..HEADER_LEN].to_vec();
    bytes.extend_from_slice(body);
    let length = bytes.len() as i32 - 12;
    put(&mut bytes, 8, &length.to_be_bytes());
    put(&mut bytes, 23, &(count - 1).to_be_bytes());
    put(&mut bytes, 57, &count.to_be_bytes());
    check_produced(resealed(bytes), &limits())
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn malformed(result: Result<Batch, BatchError>) -> (i32, &'static str) {
    match result {
        Err(BatchError::MalformedRecord { index, reason, .. }) => (index, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sound_batch_is_taken() {
    let batch = changed(|_| ()).unwrap();
    assert_eq!((batch.header.record_count, batch.facts.max_timestamp), (3, NOW + 2));
    assert_eq!((batch.facts.tombstones, batch.facts.label, batch.facts.seal), (0, None, None));
}

#[test]
fn length_and_format() {
    let sound = some_records(3).build();
    let check = |bytes: &[u8]| check_produced(Bytes::copy_from_slice(bytes), &limits()).unwrap_err();
    assert_eq!(check(&[]), BatchError::NoBatch);
    assert_eq!(check(&sound[..60]), BatchError::Short { bytes: 60, needed: HEADER_LEN });
    let len = sound.len();
    assert_eq!(check(&sound[..len - 1]), BatchError::Short { bytes: len - 1, needed: len });
    assert_eq!(check(&[&sound[..], &[0]].concat()), BatchError::Trailing { bytes: 1 });
    assert_eq!(check(&[&sound[..], &sound[..]].concat()), BatchError::Trailing { bytes: len });
    for magic in [0i8, 1, 3, -1] {
        assert_eq!(changed(|b| b[16] = magic as u8), Err(BatchError::Magic { found: magic }));
    }
    for length in [-1, 48, i32::MIN] {
        assert_eq!(changed(|b| put(b, 8, &i32::to_be_bytes(length))), Err(BatchError::Length { length }));
    }
    assert!(matches!(changed(|b| put(b, 8, &i32::MAX.to_be_bytes())), Err(BatchError::Short { .. })));
}

#[test]
fn every_flipped_bit_under_the_checksum_is_seen() {
    let sound = some_records(3).build();
    for bit in 17 * 8..sound.len() * 8 {
        let mut bytes = sound.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(check_produced(Bytes::from(bytes), &limits()), Err(BatchError::Crc { .. })), "bit {bit}");
    }
}

#[test]
fn too_large() {
    let bytes = some_records(3).build();
    let len = bytes.len();
    let at = |max| check_produced(bytes.clone(), &Limits { max_message_bytes: max, ..limits() });
    assert!(at(len).is_ok());
    assert_eq!(at(len - 1), Err(BatchError::TooLarge { bytes: len, max: len - 1 }));
}

#[test]
fn attributes() {
    for id in [5, 6, 7] {
        assert_eq!(changed(|b| b[22] = id), Err(BatchError::UnknownCodec { id }));
    }
    assert_eq!(changed(|b| b[22] = 0x20), Err(BatchError::Control));
    assert_eq!(changed(|b| b[22] = 0x40), Err(BatchError::Attributes { attributes: 0x40 }));
    assert_eq!(changed(|b| b[21] = 0x80), Err(BatchError::Attributes { attributes: i16::MIN }));
    assert_eq!(changed(|b| b[22] = 0x10), Err(BatchError::TransactionalWithoutProducer));
    assert!(matches!(changed(|b| b[22] = 0x08), Err(BatchError::InvalidTimestamps { .. })));
    let zstd = some_records(1).compression(Compression::Zstd).build();
    let too_early = Limits { zstd_allowed: false, ..limits() };
    assert_eq!(check_produced(zstd, &too_early), Err(BatchError::ZstdTooEarly));
}

#[test]
fn codec_that_lies() {
    for codec in Compression::ALL.into_iter().skip(1) {
        let result = changed(|b| b[22] = codec.id());
        assert!(matches!(result, Err(BatchError::Undecodable { codec: c, .. }) if c == codec), "{codec:?}: {result:?}");
    }
}

#[test]
fn counts() {
    for count in [0, -1, i32::MIN] {
        assert_eq!(changed(|b| put(b, 57, &i32::to_be_bytes(count))), Err(BatchError::Count { count }));
    }
    let set = |count: i32| {
        changed(|b| {
            put(b, 57, &count.to_be_bytes());
            put(b, 23, &(count - 1).to_be_bytes());
        })
    };
    assert!(matches!(set(2), Err(BatchError::TrailingRecords { count: 2, .. })));
    assert_eq!(malformed(set(4)), (3, "its length is missing"));
    assert_eq!(malformed(set(i32::MAX)), (3, "its length is missing"));
    for last_offset_delta in [1, 3, -1] {
        assert_eq!(
            changed(|b| put(b, 23, &i32::to_be_bytes(last_offset_delta))),
            Err(BatchError::LastOffsetDelta { last_offset_delta, count: 3 })
        );
    }
}

#[test]
fn producers() {
    let with = |id, epoch, base_sequence| {
        check_produced(some_records(1).producer(Producer { id, epoch, base_sequence }).build(), &limits())
    };
    assert!(with(7, 0, 0).is_ok());
    assert!(with(-1, -1, -1).is_ok());
    for (id, epoch, sequence) in [(7, 0, -1), (7, -1, 0), (-2, 0, 0), (i64::MIN, -1, -1)] {
        assert_eq!(with(id, epoch, sequence), Err(BatchError::Producer { producer_id: id, epoch, sequence }));
    }
}

#[test]
fn records_that_are_not_whole() {
    // length, attributes, timestamp delta, offset delta, key length, value length, number of headers
    let sound = [12, 0, 0, 0, 1, 1, 0];
    assert!(with_body(1, &sound).is_ok());
    let cases: [(&[u8], &str); 13] = [
        (&[1], "its length is negative"),
        (&[14, 0, 0, 0, 1, 1, 0], "it reaches past the end of the batch"),
        (&[0], "its attributes are missing"),
        (&[14, 0, 0, 0, 1, 1, 0, 0], "it is longer than its fields"),
        (&[12, 0, 0, 1, 1, 1, 0], "its offset is not dense"),
        (&[12, 0, 0, 2, 1, 1, 0], "its offset is not dense"),
        (&[12, 0, 0, 0, 3, 1, 0], "its key's length is wrong"),
        (&[12, 0, 0, 0, 100, 1, 0], "its key's length is wrong"),
        (&[12, 0, 0, 0, 1, 3, 0], "its value's length is wrong"),
        (&[12, 0, 0, 0, 1, 1, 1], "its number of headers is negative"),
        (&[12, 0, 0, 0, 1, 1, 2], "a header key's length is wrong"),
        (&[16, 0, 0, 0, 1, 1, 2, 1, 1], "a header key's length is wrong"),
        (&[16, 0, 0, 0, 1, 1, 2, 0, 3], "a header value's length is wrong"),
    ];
    for (body, reason) in cases {
        assert_eq!(malformed(with_body(1, body)), (0, reason), "{body:?}");
    }
    let ten_byte_varint = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(malformed(with_body(1, &ten_byte_varint)), (0, "its length is missing"));
}

#[test]
fn compacted_topic_wants_keys() {
    let keyless = NewRecord { timestamp: NOW, value: Some(b"v"), ..NewRecord::default() };
    let batch = some_records(2).record(keyless).record(keyless).build();
    assert!(check_produced(batch.clone(), &limits()).is_ok());
    let refusal = check_produced(batch, &Limits { compacted: true, ..limits() }).unwrap_err();
    assert!(matches!(refusal, BatchError::InvalidRecords { .. }));
    assert_eq!(refusal.record_errors().iter().map(|e| e.index).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn timestamps_out_of_range() {
    let at = |offsets: &[i64], limits: &Limits| {
        let records = offsets.iter().map(|o| NewRecord { timestamp: NOW + o, ..NewRecord::default() });
        let batch = records.fold(BatchBuilder::new(0), BatchBuilder::record).build();
        check_produced(batch, limits)
    };
    let narrow = Limits { before_max_ms: 10, after_max_ms: 5, ..limits() };
    assert!(at(&[-10, 0, 5], &narrow).is_ok());
    let refusal = at(&[-11, 0, 6], &narrow).unwrap_err();
    assert!(matches!(refusal, BatchError::InvalidTimestamps { .. }));
    assert_eq!(refusal.record_errors().iter().map(|e| e.index).collect::<Vec<_>>(), [0, 2]);
    assert!(at(&[-11, 6], &Limits { timestamp_type: TimestampType::LogAppend, ..narrow }).is_ok());
    assert!(at(&[-1 - NOW], &narrow).is_ok(), "-1 says that there is no timestamp");
    assert_eq!(at(&[6; 1000], &narrow).unwrap_err().record_errors().len(), 100);
}

#[test]
fn untrue_max_timestamp_is_put_right() {
    let batch = changed(|b| put(b, 35, &i64::MAX.to_be_bytes())).unwrap();
    assert_eq!(batch.bytes, some_records(3).build());
    assert_eq!(batch.header, BatchHeader::parse(&batch.bytes).unwrap());
}

fn labelled(first: Option<&[u8]>, last: Option<&[u8]>) -> Result<Batch, BatchError> {
    let stream = [Header { key: b"other", value: None }, Header { key: STREAM_HEADER.as_bytes(), value: first }];
    let seal = [Header { key: SEAL_HEADER.as_bytes(), value: last }];
    let batch = BatchBuilder::new(0)
        .record(NewRecord { timestamp: NOW, headers: &stream, ..NewRecord::default() })
        .record(NewRecord { timestamp: NOW, headers: &seal, ..NewRecord::default() })
        .build();
    check_produced(batch, &limits())
}

#[test]
fn labels_are_found() {
    let facts = labelled(Some("böd".as_bytes()), Some(b"14:00")).unwrap().facts;
    assert_eq!(facts.label.as_deref(), Some("böd"));
    assert_eq!(facts.seal, Some(Seal { label: Some("14:00".to_owned()) }));
    let facts = labelled(None, Some(b"")).unwrap().facts;
    assert_eq!((facts.label, facts.seal), (None, Some(Seal { label: None })));
}

#[test]
fn labels_on_other_records_mean_nothing() {
    let seal = [Header { key: SEAL_HEADER.as_bytes(), value: None }];
    let stream = [Header { key: STREAM_HEADER.as_bytes(), value: Some(b"x") }];
    let batch = BatchBuilder::new(0)
        .record(NewRecord { timestamp: NOW, headers: &seal, ..NewRecord::default() })
        .record(NewRecord { timestamp: NOW, headers: &stream, ..NewRecord::default() })
        .build();
    let facts = check_produced(batch, &limits()).unwrap().facts;
    assert_eq!((facts.label, facts.seal), (None, None));
}

#[test]
fn broken_labels_are_refused() {
    let refusal = |index, header, reason| Err(BatchError::Label { index, header, reason });
    assert_eq!(labelled(Some(&[0xff]), None), refusal(0, STREAM_HEADER, "is not UTF-8"));
    assert_eq!(labelled(None, Some(&[0xc3])), refusal(1, SEAL_HEADER, "is not UTF-8"));
    assert_eq!(labelled(Some(&[b'x'; 1025]), None), refusal(0, STREAM_HEADER, "is longer than 1024 bytes"));
}

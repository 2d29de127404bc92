//! Leaving records out of a batch: what stays is as it was.

use proptest::prelude::*;

use super::*;

fn kept(stored: &Bytes, base_offset: i64, end: i64, keeps: impl FnMut(i32) -> bool) -> Bytes {
    let mut out = b"before".to_vec();
    let kept = keep_records(stored, 1 << 20, keeps, &mut out).unwrap();
    kept.finish(&mut out[6..], base_offset, end);
    Bytes::from([&out[6..], &kept.apart().concat()].concat())
}

/// So large are records that are not copied.
const LARGE: usize = 2_000;

#[test]
fn large_records_are_not_copied() {
    let stored = a_batch(20, LARGE, Compression::None).build();
    let mut out = Vec::new();
    let kept = keep_records(&stored, 1 << 20, |delta| delta != 7, &mut out).unwrap();
    let within = |part: &Bytes| stored.as_ptr_range().contains(&part.as_ptr());
    assert_eq!((out.len(), kept.apart().len()), (HEADER_LEN, 2));
    assert!(kept.apart().iter().all(within));
}

#[derive(Debug, PartialEq)]
struct Told {
    offset: i64,
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

fn told(batch: &Bytes) -> Vec<Told> {
    let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    let records = records(batch, 1 << 20).unwrap();
    let told = records.iter().map(Result::unwrap).map(|record| Told {
        offset: record.offset,
        timestamp: record.timestamp,
        key: owned(record.key),
        value: owned(record.value),
        headers: record.headers().map(|header| (header.key.to_vec(), owned(header.value))).collect(),
    });
    told.collect()
}

/// Records with values of up to 40 bytes more than `size`.
fn a_batch(count: usize, size: usize, compression: Compression) -> BatchBuilder {
    let mut builder = BatchBuilder::new(500).compression(compression);
    for n in 0..count {
        let key = format!("k{n}");
        let headers = [Header { key: b"h", value: None }, Header { key: b"n", value: Some(key.as_bytes()) }];
        let value = (n % 3 > 0).then(|| vec![n as u8; size + n % 40]);
        // Times that go up and down: the greatest one need not be the last one's.
        let timestamp = NOW + (n as i64 * 7919) % 100;
        let key = (n % 4 > 0).then_some(key.as_bytes());
        builder.push(NewRecord { timestamp, key, value: value.as_deref(), headers: &headers });
    }
    builder
}

proptest! {
    #[test]
    fn what_stays_is_as_it_was(
        keeps in prop::collection::vec(any::<bool>(), 1..60),
        codec in prop::sample::select(&Compression::ALL[..]),
        size in prop::sample::select(&[0, LARGE][..]),
        hole in 0..1000i32,
    ) {
        let Some(last) = keeps.iter().rposition(|keep| *keep) else { return Ok(()) };
        let producer = Producer { id: 9, epoch: 3, base_sequence: 77 };
        let stored = a_batch(keeps.len(), size, codec).producer(producer).transactional().build();
        let last_offset_delta = last as i32 + hole;
        let batch = kept(&stored, 700, 701 + i64::from(last_offset_delta), |delta| keeps[delta as usize]);

        let mut expected = told(&stored);
        expected.iter_mut().for_each(|record| record.offset += 200);
        expected.retain(|record| keeps[(record.offset - 700) as usize]);
        prop_assert_eq!(told(&batch), expected);
        let (before, after) = (BatchHeader::parse(&stored).unwrap(), BatchHeader::parse(&batch).unwrap());
        prop_assert_eq!(after.total_len(), batch.len());
        prop_assert_eq!(after.crc, checksum(&batch));
        prop_assert_eq!(after.max_timestamp, told(&batch).iter().map(|record| record.timestamp).max().unwrap());
        let same = BatchHeader {
            base_offset: 700,
            length: after.length,
            crc: after.crc,
            last_offset_delta,
            max_timestamp: after.max_timestamp,
            record_count: keeps.iter().filter(|keep| **keep).count() as i32,
            ..before
        };
        prop_assert_eq!(after, same);
    }
}

#[test]
fn a_batch_of_which_all_stays_keeps_its_records_to_the_byte() {
    for size in [0, LARGE] {
        let stored = a_batch(20, size, Compression::None).build();
        let batch = kept(&stored, 500, 520, |_| true);
        assert_eq!(batch, stored);
    }
}

#[test]
fn the_time_of_the_broker_stays_on_what_is_kept() {
    let limits = Limits { timestamp_type: TimestampType::LogAppend, ..limits() };
    let stored = check_produced(some_records(5).build(), &limits).unwrap().bytes;
    let batch = kept(&stored, 700, 740, |delta| delta == 1);
    assert_eq!(told(&batch).iter().map(|record| record.timestamp).collect::<Vec<_>>(), [NOW]);
}

#[test]
fn damage_is_not_given_a_checksum_that_holds() {
    for at in [21, 40, 61, 75] {
        let mut stored = some_records(5).build().to_vec();
        stored[at] ^= 4;
        let damaged = keep_records(&Bytes::from(stored), 1 << 20, |_| true, &mut Vec::new());
        assert!(matches!(damaged, Err(BatchError::Crc { .. })), "byte {at}: {damaged:?}");
    }
}

#[test]
fn what_a_batch_decompresses_to_is_bounded() {
    let value = vec![0; 1 << 20];
    let bomb = BatchBuilder::new(0).compression(Compression::Zstd);
    let bomb = bomb.record(NewRecord { value: Some(&value), ..NewRecord::default() }).build();
    let refused = keep_records(&bomb, 1000, |_| true, &mut Vec::new());
    assert!(matches!(refused, Err(BatchError::DecompressedTooLarge { max: 1000 })), "{refused:?}");
}

#[test]
fn records_that_are_not_there_are_told() {
    let mut stored = some_records(5).build().to_vec();
    stored[60] = 6;
    let refused = keep_records(&resealed(stored), 1 << 20, |_| true, &mut Vec::new());
    assert!(matches!(refused, Err(BatchError::MalformedRecord { index: 5, count: 6, .. })), "{refused:?}");
}

#[test]
fn a_batch_reaches_no_further_than_its_field_can_say() {
    let stored = some_records(5).build();
    let header = |end| BatchHeader::parse(&kept(&stored, 700, end, |delta| delta == 1)).unwrap();
    assert_eq!(header(900).next_offset(), 900);
    assert_eq!(header(1 << 40).next_offset(), 700 + (1 << 31));
}

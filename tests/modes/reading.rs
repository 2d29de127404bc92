//! Reads a view as clients do, and holds what comes against the model.

use bytes::{Bytes, BytesMut};
use streamstack::batch::{self, BatchHeader};
use streamstack::disk::SplitMix;
use streamstack::model::PartitionId;
use streamstack::view::{Bounds, Budget, Isolation, View, ViewReadError};

use crate::model::{Record, Sealed};

/// Records of a partition, with their offsets.
pub type Shown = Vec<(i64, Record)>;

/// One answer of a fetch.
pub struct Answer {
    pub bounds: Bounds,
    pub records: Shown,
    /// Where a client goes on.
    pub next: i64,
}

pub fn fetch(view: &View, partition: usize, from: i64, budget: Budget) -> Result<Answer, ViewReadError> {
    let id = PartitionId(partition as u32);
    let (bounds, reading) = view.read(id, from, budget, Isolation::ReadCommitted)?;
    let num_bytes = reading.len();
    let (mut records, headers) = decode(&reading.parts);
    let mut next = from;
    for header in &headers {
        // The first one may begin before what was asked for.
        assert!(header.base_offset >= next || next == from, "batches overlap: {headers:?}");
        assert!(header.next_offset() > next, "a batch brings no reader further than {next}: {header:?}");
        next = header.next_offset();
    }
    let is_one = headers.len() == 1 && budget.at_least_one;
    assert!(num_bytes <= budget.max_bytes || is_one, "{num_bytes} bytes for {budget:?}");
    records.retain(|(offset, _)| *offset >= from);
    assert_eq!(records.is_empty(), headers.is_empty(), "batches of which the reader has no use");
    Ok(Answer { bounds, records, next })
}

fn decode(parts: &[Bytes]) -> (Shown, Vec<BatchHeader>) {
    let mut all = BytesMut::new();
    parts.iter().for_each(|part| all.extend_from_slice(part));
    let mut rest = all.freeze();
    let (mut shown, mut headers) = (Shown::new(), Vec::new());
    while let Some(length) = batch::next_batch(&rest) {
        let stored = rest.split_to(length);
        let records = batch::records(&stored, 1 << 20).unwrap();
        let header = *records.header();
        assert_eq!(batch::checksum(&stored), header.crc);
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        let before = shown.len();
        for record in records.iter().map(Result::unwrap) {
            let (key, value) = (text(record.key), text(record.value));
            shown.push((record.offset, Record { key, value, timestamp: record.timestamp }));
        }
        let of_batch = &shown[before..];
        assert_eq!(of_batch.len(), header.record_count as usize);
        assert!(of_batch.iter().all(|(offset, _)| (header.base_offset..header.next_offset()).contains(offset)));
        assert_eq!(of_batch.iter().map(|(_, record)| record.timestamp).max(), Some(header.max_timestamp));
        headers.push(header);
    }
    assert!(rest.is_empty(), "a part of a batch came along");
    (shown, headers)
}

/// Any size from one batch at a time to all at once.
pub fn any_budget(random: &mut SplitMix) -> Budget {
    let max_bytes = {
        let most = [1, 300, 2_000, 1 << 20][random.below(4) as usize];
        random.below(most) as usize
    };
    Budget { max_bytes, at_least_one: true }
}

/// What the model says that a view holds: the records of all partitions, and what of each partition it is about.
pub struct Expected<'a> {
    pub emitted: Vec<&'a Sealed>,
    pub starts: Vec<i64>,
    /// Positions up to here are valid.
    pub valid_ends: Vec<i64>,
}

/// The whole view, from its start and from any other position.
pub fn check_view(name: &str, view: &View, expected: &Expected<'_>, random: &mut SplitMix) {
    assert_eq!(view.partitions() as usize, expected.starts.len());
    for (partition, start) in expected.starts.iter().enumerate() {
        let of_partition = expected.emitted.iter().filter(|sealed| sealed.partition == partition);
        let shown: Shown = of_partition.map(|sealed| (sealed.offset, sealed.record.clone())).collect();
        let end = shown.last().map_or(*start, |(offset, _)| offset + 1);
        let bounds = Bounds { start: shown.first().map_or(end, |(offset, _)| *offset), end };
        let id = PartitionId(partition as u32);
        let context = || format!("{name}, partition {partition}");
        assert_eq!(view.bounds(id, Isolation::ReadUncommitted).unwrap(), bounds, "{}", context());
        check_from(&context(), view, partition, bounds.start, bounds, &shown, random);
        let valid_end = expected.valid_ends[partition];
        let from = start + random.below((valid_end - start + 1) as u64) as i64;
        let rest: Shown = shown.iter().filter(|(offset, _)| *offset >= from).cloned().collect();
        check_from(&context(), view, partition, from, bounds, &rest, random);
        for outside in [start - 1, valid_end + 1] {
            let refused = fetch(view, partition, outside, any_budget(random)).map(|answer| answer.records);
            assert!(
                matches!(refused, Err(ViewReadError::OutOfRange { .. })),
                "{} at {outside}: {refused:?}",
                context()
            );
        }
    }
}

fn check_from(
    context: &str,
    view: &View,
    partition: usize,
    from: i64,
    bounds: Bounds,
    expected: &Shown,
    random: &mut SplitMix,
) {
    let mut position = from;
    let mut shown = Shown::new();
    while position < bounds.end {
        let answer = fetch(view, partition, position, any_budget(random)).unwrap_or_else(|e| panic!("{context}: {e}"));
        assert_eq!(answer.bounds, bounds, "{context}");
        assert!(!answer.records.is_empty(), "{context} gives nothing at {position} of {bounds:?}");
        shown.extend(answer.records);
        // A batch reaches to the next record, so that the gap is crossed with it, but for stored ones.
        position = answer.next;
        assert!(position > shown.last().unwrap().0 && position <= bounds.end, "{context}: on to {position}");
    }
    assert_eq!(&shown, expected, "{context} from {from}");
    let id = PartitionId(partition as u32);
    let extremes = view.extremes(id, bounds, position);
    assert_eq!((extremes.high_watermark, extremes.last_stable), (position.max(bounds.end), position.max(bounds.end)));
    let answer = fetch(view, partition, position, any_budget(random)).unwrap();
    assert!(answer.records.is_empty(), "{context} gives something at {position} of {bounds:?}");
}

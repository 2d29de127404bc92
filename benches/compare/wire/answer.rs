//! What is of interest in the answers. Each starts with the correlation id.

use crate::Fault;

/// One partition of a Fetch answer.
pub struct Fetched<'a> {
    pub code: i16,
    /// Whole batches, the last one perhaps cut.
    pub batches: &'a [u8],
}

impl Fetched<'_> {
    /// Whole batches of data: the producer of each, and the offset after it.
    pub fn batches_of(&self) -> Vec<(i64, i64)> {
        const CONTROL: i16 = 0x20;
        let mut found = Vec::new();
        let mut at = 0;
        while let (Ok(base), Ok(length), Ok(attributes), Ok(last), Ok(producer)) = (
            i64_at(self.batches, at),
            i32_at(self.batches, at + 8),
            i16_at(self.batches, at + 21),
            i32_at(self.batches, at + 23),
            i64_at(self.batches, at + 43),
        ) {
            at += length as usize + 12;
            if at > self.batches.len() {
                break;
            }
            if attributes & CONTROL == 0 {
                found.push((producer, base + i64::from(last) + 1));
            }
        }
        found
    }

    /// The offset after the last whole batch, or `from` when there is none.
    pub fn next_offset(&self, from: i64) -> i64 {
        let (mut at, mut next) = (0, from);
        while let (Ok(base), Ok(length), Ok(last)) =
            (i64_at(self.batches, at), i32_at(self.batches, at + 8), i32_at(self.batches, at + 23))
        {
            at += length as usize + 12;
            if at > self.batches.len() {
                break;
            }
            next = base + i64::from(last) + 1;
        }
        next
    }
}

/// Metadata v1: whether it names a broker.
pub fn names_a_broker(answer: &[u8]) -> bool {
    i32_at(answer, 4).is_ok_and(|brokers| brokers > 0)
}

/// CreateTopics v4: the topics' error codes. Before them: correlation, throttle time, number of topics.
pub fn created(answer: &[u8]) -> Result<Vec<i16>, Fault> {
    let mut at = 12;
    let mut codes = Vec::new();
    for _ in 0..i32_at(answer, 8)? {
        at += 2 + i16_at(answer, at)? as usize;
        codes.push(i16_at(answer, at)?);
        // The code, then a message that may be null.
        at += 4 + i16_at(answer, at + 2)?.max(0) as usize;
    }
    Ok(codes)
}

/// ListOffsets v1: the partition's error code and offset. Before them: correlation, number of topics, name, number of
/// partitions, partition; the timestamp stands between the two.
pub fn listed(answer: &[u8], topic: &str) -> Result<(i16, i64), Fault> {
    let at = 4 + 4 + 2 + topic.len() + 4 + 4;
    Ok((i16_at(answer, at)?, i64_at(answer, at + 2 + 8)?))
}

/// Produce v7: the partition's error code and base offset. Before them: correlation, number of topics, name, number
/// of partitions, partition.
pub fn produced(answer: &[u8], topic: &str) -> Result<(i16, i64), Fault> {
    let at = 4 + 4 + 2 + topic.len() + 4 + 4;
    Ok((i16_at(answer, at)?, i64_at(answer, at + 2)?))
}

/// Fetch v11. Before the topics: correlation, throttle time, code, session.
pub fn fetched<'a>(answer: &'a [u8], topic: &str) -> Result<Fetched<'a>, Fault> {
    let code = i16_at(answer, 8)?;
    if code != 0 || i32_at(answer, 14)? == 0 {
        return Ok(Fetched { code, batches: &[] });
    }
    // Number of topics, name, number of partitions, partition.
    let at = 14 + 4 + 2 + topic.len() + 4 + 4;
    let code = i16_at(answer, at)?;
    // High watermark, last stable offset, log start; then the aborted transactions and the preferred replica.
    let aborted = i32_at(answer, at + 26)?.max(0) as usize;
    let at = at + 26 + 4 + aborted * 16 + 4;
    let length = i32_at(answer, at)?.max(0) as usize;
    let batches = answer.get(at + 4..at + 4 + length).ok_or("a Fetch answer ends too early")?;
    Ok(Fetched { code, batches })
}

pub(super) fn i16_at(bytes: &[u8], at: usize) -> Result<i16, Fault> {
    Ok(i16::from_be_bytes(array_at(bytes, at)?))
}

pub(super) fn i32_at(bytes: &[u8], at: usize) -> Result<i32, Fault> {
    Ok(i32::from_be_bytes(array_at(bytes, at)?))
}

/// The string at `at`, which moves behind it.
pub(super) fn string_at(bytes: &[u8], at: &mut usize) -> Result<String, Fault> {
    let length = i16_at(bytes, *at)?.max(0) as usize;
    let string = bytes.get(*at + 2..*at + 2 + length).ok_or("an answer ends too early")?;
    *at += 2 + length;
    Ok(String::from_utf8(string.to_vec())?)
}

pub(super) fn i64_at(bytes: &[u8], at: usize) -> Result<i64, Fault> {
    Ok(i64::from_be_bytes(array_at(bytes, at)?))
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Fault> {
    let slice = bytes.get(at..at + N).ok_or("an answer ends too early")?;
    Ok(slice.try_into()?)
}

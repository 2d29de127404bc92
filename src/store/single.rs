//! A stored batch of one record, whose offset is the record's number.

use bytes::Bytes;

use crate::batch::{BatchHeader, checksum, records};

/// No manifest or event comes near it.
const DECODED_BYTES_MAX: usize = 256 << 20;

/// Every batch is stored with this one.
const LEADER_EPOCH: i32 = 0;

/// The length of the batch of record `number` at the start of `bytes`, which hold all of it, or what is wrong with it. What
/// its checksum leaves out is looked at too: offset, length and leader epoch.
pub fn check(bytes: &[u8], number: u64) -> Result<usize, String> {
    let header = BatchHeader::parse(bytes).map_err(|error| error.to_string())?;
    let len = header.total_len();
    if header.base_offset as u64 != number || header.last_offset_delta != 0 {
        let (base, end) = (header.base_offset, header.next_offset());
        return Err(format!("a batch of the offsets {base} to {end} stands in its place"));
    }
    if len > bytes.len() {
        return Err(format!("{len} bytes, of which {} are there", bytes.len()));
    }
    if header.leader_epoch != LEADER_EPOCH {
        return Err(format!("leader epoch {} where {LEADER_EPOCH} was written", header.leader_epoch));
    }
    match checksum(&bytes[..len]) == header.crc {
        true => Ok(len),
        false => Err("its checksum does not hold".to_owned()),
    }
}

/// Key and value of the one record of a batch that was checked.
pub fn key_and_value<T>(batch: &Bytes, look: impl FnOnce(&[u8], &[u8]) -> Result<T, String>) -> Result<T, String> {
    let records = records(batch, DECODED_BYTES_MAX).map_err(|error| error.to_string())?;
    let record = records.iter().next().ok_or("an empty batch")?.map_err(|error| error.to_string())?;
    look(record.key.unwrap_or_default(), record.value.unwrap_or_default())
}

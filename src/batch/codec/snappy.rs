//! Snappy as Kafka carries it: the framing of the xerial library, which the Java client writes,
//!
//! ```text
//! 0   magic     0x82 "SNAPPY" 0
//! 8   version   i32, 1
//! 12  readable  i32, 1: least version that can read it
//! 16  blocks    each: length i32, one raw snappy block
//! ```
//!
//! or one raw block without framing, which older clients of other languages send.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use super::{CodecError, broken};

const MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
const FRAMING_LEN: usize = 16;
/// What the Java client puts into one block.
const BLOCK_LEN: usize = 32 * 1024;
/// A copy of 64 bytes takes 3 bytes, so no block can hold more than this for each of its bytes.
const EXPANSION_MAX: usize = 22;

pub(super) fn decompress(input: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    let Some(framed) = input.strip_prefix(&MAGIC) else {
        append_block(&mut out, input, bytes_max)?;
        return Ok(out);
    };
    let Some((_versions, mut blocks)) = framed.split_at_checked(FRAMING_LEN - MAGIC.len()) else {
        return broken("the framing is cut");
    };
    while !blocks.is_empty() {
        let block = take_block(&mut blocks)?;
        append_block(&mut out, block, bytes_max)?;
    }
    Ok(out)
}

fn take_block<'a>(blocks: &mut &'a [u8]) -> Result<&'a [u8], CodecError> {
    let Some((length, rest)) = blocks.split_first_chunk::<4>() else {
        return broken("a block's length is cut");
    };
    let length = u32::from_be_bytes(*length) as usize;
    let Some((block, rest)) = rest.split_at_checked(length) else {
        return broken("a block reaches past the end");
    };
    *blocks = rest;
    Ok(block)
}

fn append_block(out: &mut Vec<u8>, block: &[u8], bytes_max: usize) -> Result<(), CodecError> {
    let length = decompress_len(block).map_err(|error| CodecError::Broken(error.to_string()))?;
    if length > block.len().saturating_mul(EXPANSION_MAX) {
        return broken("a block claims more than it can hold");
    }
    let start = out.len();
    if length > bytes_max.saturating_sub(start) {
        return Err(CodecError::TooLarge { max: bytes_max });
    }
    out.resize(start + length, 0);
    Decoder::new().decompress(block, &mut out[start..]).map_err(|error| CodecError::Broken(error.to_string()))?;
    Ok(())
}

pub(super) fn compress(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(FRAMING_LEN + max_compress_len(input.len()) / 2);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&1i32.to_be_bytes());
    out.extend_from_slice(&1i32.to_be_bytes());
    let mut encoder = Encoder::new();
    for chunk in input.chunks(BLOCK_LEN) {
        let block = encoder.compress_vec(chunk).expect("a block of 32 KiB is within snappy's limit");
        out.extend_from_slice(&(block.len() as u32).to_be_bytes());
        out.extend_from_slice(&block);
    }
    out
}

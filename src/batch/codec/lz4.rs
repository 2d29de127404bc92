//! The LZ4 frame format, with what Kafka's Java client demands of it: one frame, independent blocks.

use std::io::Write;

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::{CodecError, broken, read_capped};

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const END_MARK: [u8; 4] = [0; 4];
const FLAG_INDEPENDENT: u8 = 0x20;
const FLAG_CONTENT_CHECKSUM: u8 = 0x04;

pub(super) fn decompress(input: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    check_frame(input)?;
    let mut rest = input;
    let out = read_capped(FrameDecoder::new(&mut rest), input.len(), bytes_max)?;
    if !rest.is_empty() {
        return broken("bytes follow the frame");
    }
    Ok(out)
}

/// What the decoder is more lenient about than the clients that will read the batch.
fn check_frame(input: &[u8]) -> Result<(), CodecError> {
    let (Some(rest), Some(&flags)) = (input.strip_prefix(&MAGIC), input.get(4)) else {
        return broken("not a frame");
    };
    if flags & FLAG_INDEPENDENT == 0 {
        return broken("blocks that depend on each other are not supported by Kafka");
    }
    // The decoder takes the end of the input for the end of the frame.
    let checksum_len = if flags & FLAG_CONTENT_CHECKSUM != 0 { 4 } else { 0 };
    let body = &rest[..rest.len().saturating_sub(checksum_len)];
    if !body.ends_with(&END_MARK) {
        return broken("the frame has no end");
    }
    Ok(())
}

/// 64 KiB blocks without checksums, as Kafka's own.
pub(super) fn compress(input: &[u8]) -> Vec<u8> {
    let frame = FrameInfo::new().block_mode(BlockMode::Independent).block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(frame, Vec::with_capacity(input.len() / 2));
    encoder.write_all(input).expect("writing to memory does not fail");
    encoder.finish().expect("writing to memory does not fail")
}

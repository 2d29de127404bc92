//! Zstandard. A frame may claim a window of 2 GiB that the reader must hold: claims are bounded as in Kafka's clients.

use super::{CodecError, read_capped};

/// 128 MiB: what zstd itself, and so the Java client, takes without being told otherwise.
const WINDOW_LOG_MAX: u32 = 27;
const LEVEL: i32 = 3;

pub(super) fn decompress(input: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    let broken = |error: std::io::Error| CodecError::Broken(error.to_string());
    let mut decoder = zstd::Decoder::with_buffer(input).map_err(broken)?;
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(broken)?;
    read_capped(decoder, input.len(), bytes_max)
}

pub(super) fn compress(input: &[u8]) -> Vec<u8> {
    zstd::encode_all(input, LEVEL).expect("compressing in memory does not fail")
}

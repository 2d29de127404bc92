//! gzip. Members one after another are read as one, as Java does; anything else after a member is an error.

use std::io::Write;

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{CodecError, read_capped};

pub(super) fn decompress(input: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    read_capped(MultiGzDecoder::new(input), input.len(), bytes_max)
}

pub(super) fn compress(input: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(input.len() / 2), flate2::Compression::default());
    encoder.write_all(input).expect("writing to memory does not fail");
    encoder.finish().expect("writing to memory does not fail")
}

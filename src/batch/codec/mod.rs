//! The codecs of record batches, with a cap on what comes out: a kilobyte that claims to be a gigabyte is refused
//! when the cap is reached, never believed.

mod gzip;
mod lz4;
mod snappy;
mod zstd;

use std::io::Read;

use super::attributes::Compression;

/// Why bytes cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("more than {max} bytes come out")]
    TooLarge { max: usize },
    #[error("{0}")]
    Broken(String),
}

/// Decompresses all of `input` into at most `bytes_max` bytes.
pub fn decompress(codec: Compression, input: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    match codec {
        Compression::None if input.len() > bytes_max => Err(CodecError::TooLarge { max: bytes_max }),
        Compression::None => Ok(input.to_vec()),
        Compression::Gzip => gzip::decompress(input, bytes_max),
        Compression::Snappy => snappy::decompress(input, bytes_max),
        Compression::Lz4 => lz4::decompress(input, bytes_max),
        Compression::Zstd => zstd::decompress(input, bytes_max),
    }
}

/// Compresses `input` so that every client can read it.
pub fn compress(codec: Compression, input: &[u8]) -> Vec<u8> {
    match codec {
        Compression::None => input.to_vec(),
        Compression::Gzip => gzip::compress(input),
        Compression::Snappy => snappy::compress(input),
        Compression::Lz4 => lz4::compress(input),
        Compression::Zstd => zstd::compress(input),
    }
}

/// Reads to the end, or to the cap. The buffer grows with what has come out, not with what the input claims.
fn read_capped(reader: impl Read, input_len: usize, bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(input_len.saturating_mul(2).min(bytes_max));
    let mut reader = reader.take(bytes_max as u64 + 1);
    reader.read_to_end(&mut out).map_err(|error| CodecError::Broken(error.to_string()))?;
    if out.len() > bytes_max {
        return Err(CodecError::TooLarge { max: bytes_max });
    }
    Ok(out)
}

fn broken<T>(reason: &str) -> Result<T, CodecError> {
    Err(CodecError::Broken(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn endless_output_ends_at_the_cap() {
        assert_eq!(read_capped(io::repeat(0), 10, 1000), Err(CodecError::TooLarge { max: 1000 }));
        assert_eq!(read_capped(io::repeat(0).take(1000), 10, 1000).map(|out| out.len()), Ok(1000));
    }
}

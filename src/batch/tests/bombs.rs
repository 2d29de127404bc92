//! A little that claims to be a lot: refused at the cap, with memory that follows the cap and not the claim.

use super::*;
use crate::batch::codec::{self, CodecError};

const CAP: usize = 256 * 1024;

/// A batch whose compressed records are `body`.
fn batch(codec: Compression, body: &[u8]) -> Bytes {
    let mut bytes = some_records(1).build()[..HEADER_LEN].to_vec();
    bytes[22] = codec.id();
    bytes.extend_from_slice(body);
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    resealed(bytes)
}

fn refusal(codec: Compression, body: &[u8]) -> BatchError {
    let limits = Limits { max_decompressed_bytes: CAP, ..limits() };
    check_produced(batch(codec, body), &limits).unwrap_err()
}

#[test]
fn zeros_are_refused_at_the_cap() {
    let zeros = vec![0; 16 << 20];
    for codec in Compression::ALL.into_iter().skip(1) {
        let bomb = codec::compress(codec, &zeros);
        assert_eq!(refusal(codec, &bomb), BatchError::DecompressedTooLarge { max: CAP }, "{codec:?}");
        assert_eq!(codec::decompress(codec, &bomb, zeros.len()).as_ref(), Ok(&zeros), "{codec:?} at the cap itself");
        let one_less = codec::decompress(codec, &bomb, zeros.len() - 1);
        assert_eq!(one_less, Err(CodecError::TooLarge { max: zeros.len() - 1 }), "{codec:?}");
    }
}

#[test]
fn bomb_inside_a_bomb_is_one_bomb() {
    let inner = codec::compress(Compression::Gzip, &vec![0; 16 << 20]);
    let outer = codec::compress(Compression::Gzip, &inner);
    assert!(outer.len() < 1024, "{} bytes", outer.len());
    // The inner one is what the records are, and is no record.
    assert!(matches!(refusal(Compression::Gzip, &outer), BatchError::MalformedRecord { .. }));
}

#[test]
fn snappy_headers_that_lie() {
    // A raw block that claims 4 GiB - 1, and one that claims 1 MiB, in a few bytes.
    for claim in [&[0xff, 0xff, 0xff, 0xff, 0x0f, 0][..], &[0x80, 0x80, 0x40, 0, 0]] {
        assert!(matches!(refusal(Compression::Snappy, claim), BatchError::Undecodable { .. }), "{claim:?}");
    }
    let framing = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
    for blocks in [&[0xff, 0xff, 0xff, 0xff][..], &[0, 0, 0, 9, 1], &[0, 0]] {
        let body = [&framing[..], blocks].concat();
        assert!(matches!(refusal(Compression::Snappy, &body), BatchError::Undecodable { .. }), "{blocks:?}");
    }
    assert!(matches!(refusal(Compression::Snappy, &framing[..10]), BatchError::Undecodable { .. }));
}

#[test]
fn raw_snappy_without_framing_is_read() {
    let body = some_records(1).build().slice(HEADER_LEN..);
    let raw = snap::raw::Encoder::new().compress_vec(&body).unwrap();
    assert!(check_produced(batch(Compression::Snappy, &raw), &limits()).is_ok());
}

#[test]
fn zstd_window_of_two_gibibytes_is_refused() {
    // Magic, frame header without single segment, window descriptor 2^31, then an empty last raw block.
    let claim = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3, 0x01, 0x00, 0x00];
    assert!(matches!(refusal(Compression::Zstd, &claim), BatchError::Undecodable { .. }));
    let modest = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (21 - 10) << 3, 0x01, 0x00, 0x00];
    assert!(matches!(refusal(Compression::Zstd, &modest), BatchError::MalformedRecord { .. }));
}

#[test]
fn lz4_that_java_cannot_read_is_refused() {
    let sound = codec::compress(Compression::Lz4, b"some bytes");
    let linked = {
        let mut bytes = sound.clone();
        bytes[4] &= !0x20;
        bytes
    };
    let cut = sound[..sound.len() - 4].to_vec();
    let longer = [&sound[..], &sound[..]].concat();
    for body in [linked, cut, longer] {
        let result = codec::decompress(Compression::Lz4, &body, CAP);
        assert!(matches!(result, Err(CodecError::Broken(_))), "{body:?}: {result:?}");
    }
}

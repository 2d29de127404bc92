//! Random bytes and randomly damaged batches: refused or taken, never a panic.

use proptest::prelude::*;

use super::*;
use crate::batch::codec;

/// Reads everything that can be read.
fn read(bytes: Bytes) {
    let _ = BatchHeader::parse(&bytes).map(|h| (h.total_len(), h.last_offset(), h.next_offset()));
    let _ = check_produced(bytes.clone(), &limits());
    let _ = batch_lengths(&bytes).count();
    let _ = read_marker(&bytes);
    let Ok(records) = records(&bytes, 1 << 16) else { return };
    for record in records.iter().flatten() {
        let _ = record.headers().count();
    }
}

fn codecs() -> impl Strategy<Value = Compression> {
    prop::sample::select(&Compression::ALL[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(Bytes::from(bytes));
    }

    #[test]
    fn random_records_under_a_sound_header(
        codec in codecs(),
        body in prop::collection::vec(any::<u8>(), 0..100),
        count in prop_oneof![0..10i32, any::<i32>()],
    ) {
        let mut bytes = some_records(1).build()[..HEADER_LEN].to_vec();
        bytes[22] = codec.id();
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        bytes[23..27].copy_from_slice(&count.wrapping_sub(1).to_be_bytes());
        bytes.extend_from_slice(&body);
        let length = bytes.len() as i32 - 12;
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        read(resealed(bytes));
    }

    #[test]
    fn one_byte_changed(codec in codecs(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = some_records(20).compression(codec).build().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        read(resealed(bytes));
    }

    #[test]
    fn damaged_and_cut_input_of_codecs(
        codec in codecs(),
        bytes in prop::collection::vec(0..4u8, 0..2000),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        len in any::<prop::sample::Index>(),
    ) {
        let mut compressed = codec::compress(codec, &bytes);
        for (at, byte) in damage.into_iter().filter(|_| !bytes.is_empty()) {
            let at = at.index(compressed.len());
            compressed[at] = byte;
        }
        let len = len.index(compressed.len() + 1);
        if let Ok(out) = codec::decompress(codec, &compressed[..len], 3000) {
            prop_assert!(out.len() <= 3000);
        }
    }

    #[test]
    fn random_input_of_codecs(codec in codecs(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(out) = codec::decompress(codec, &bytes, 1000) {
            prop_assert!(out.len() <= 1000);
        }
    }
}

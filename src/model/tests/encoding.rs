//! Entries and state as bytes: what goes in comes out, garbage is refused, batches are not copied.

use super::golden::{as_decoded, sample_state_with_transactions, samples};
use super::*;
use crate::disk::SplitMix;

fn group() -> (Vec<Entry>, Bytes) {
    let entries: Vec<Entry> = samples().into_iter().map(|(_, entry)| entry).collect();
    let bytes = codec::encode_group(&entries).concat().into();
    (entries, bytes)
}

#[test]
fn a_group_comes_back_as_it_went() {
    let (entries, bytes) = group();
    assert_eq!(decode(bytes), Ok(entries.iter().map(as_decoded).collect()));
    assert_eq!(codec::encode_group(&[]), Vec::<Bytes>::new());
    assert_eq!(decode(Bytes::new()), Ok(vec![]));
}

#[test]
fn every_cut_is_a_whole_number_of_entries_or_refused() {
    let (entries, bytes) = group();
    for len in 0..bytes.len() {
        if let Ok(read) = decode(bytes.slice(..len)) {
            assert!(read.len() < entries.len());
            assert_eq!(codec::encode_group(&entries[..read.len()]).concat().len(), len);
        }
    }
}

#[test]
fn flipped_bits_and_garbage_never_panic() {
    let (_, bytes) = group();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode(flipped.into());
    }
    let mut random = SplitMix::new(7);
    for _ in 0..20_000 {
        let len = random.below(120) as usize;
        let mut garbage: Vec<u8> = (0..len).map(|_| random.draw() as u8).collect();
        if let [kind, version, a, b, ..] = garbage.as_mut_slice() {
            (*kind, *version, *a, *b) = (random.below(24) as u8, 1, 0, 0);
        }
        let _ = decode(garbage.into());
    }
}

#[test]
fn a_count_that_lies_is_refused_before_room_is_made() {
    let mut bytes = vec![9, 1, 0, 0, 0, 12];
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&[0xff; 4]);
    assert_eq!(decode(bytes.into()), Err(codec::CodecError::Short { at: 18, what: "a feed" }));
}

#[test]
fn what_a_newer_program_wrote_is_refused_by_name() {
    let (_, bytes) = group();
    let refusal = |at: usize, value: u8| {
        let mut newer = bytes.to_vec();
        newer[at] = value;
        decode(newer.into()).unwrap_err()
    };
    assert_eq!(refusal(0, 99), codec::CodecError::Kind { at: 0, kind: 99 });
    assert_eq!(refusal(1, 2), codec::CodecError::Version { at: 0, what: "an entry", version: 2 });
    let mut state = sample_state_with_transactions().encode().to_vec();
    state[0] = 6;
    let refused = State::decode(&state.into()).unwrap_err();
    assert_eq!(refused, codec::CodecError::Version { at: 0, what: "the state", version: 6 });
}

#[test]
fn a_batch_that_is_not_whole_is_refused() {
    let (_, entry) = samples().into_iter().find(|(name, _)| *name == "appended").unwrap();
    let mut bytes = codec::encode_group(&[entry]).concat();
    let len = bytes.len() as u32 - 6 - 1;
    bytes.truncate(bytes.len() - 1);
    bytes[2..6].copy_from_slice(&len.to_be_bytes());
    assert!(matches!(decode(bytes.into()), Err(codec::CodecError::Batch { .. })));
}

#[test]
fn metadata_that_is_not_json_is_refused() {
    let (_, entry) = samples().into_iter().find(|(name, _)| *name == "sealed").unwrap();
    let mut bytes = codec::encode_group(&[entry]).concat();
    let at = bytes.iter().position(|byte| *byte == b'{').unwrap();
    bytes[at] = b'x';
    assert!(matches!(decode(bytes.into()), Err(codec::CodecError::Metadata { .. })));
}

#[test]
fn large_batches_are_not_copied() {
    let large = "x".repeat(5_000);
    let appended = |batch: Batch| {
        let (_, entry) = samples().into_iter().find(|(name, _)| *name == "appended").unwrap();
        let Entry::Appended(appended) = entry else { unreachable!("the sample is one") };
        Entry::Appended(Appended { batch: batch.bytes, ..appended })
    };
    let batch = plain(&[large.as_str()]);
    let entries = [appended(batch.clone()), appended(plain(&["small"])), appended(batch.clone())];
    let parts = codec::encode_group(&entries);
    let by_reference: Vec<bool> = parts.iter().map(|part| part.as_ptr() == batch.bytes[16..].as_ptr()).collect();
    assert_eq!(by_reference, [false, true, false, true]);
    let group = Bytes::from(parts.concat());
    let decoded = decode(group.clone()).unwrap();
    assert_eq!(decoded, entries.iter().map(as_decoded).collect::<Vec<_>>());
    let Entry::Appended(last) = &decoded[2] else { unreachable!("all are appends") };
    assert!(group.as_ptr_range().contains(&last.batch.as_ptr()), "a decoded batch is a slice of the group");
}

#[test]
fn a_damaged_state_is_refused_or_another_state_but_never_a_panic() {
    let bytes = sample_state_with_transactions().encode();
    for len in 0..bytes.len() {
        assert!(State::decode(&bytes.slice(..len)).is_err(), "cut at {len}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = State::decode(&flipped.into());
    }
}

#[test]
fn fifty_thousand_idle_partitions_take_little_room() {
    let mut machine = Machine::new();
    for index in 0..5 {
        machine.create(&format!("big{index}"), 10_000).unwrap();
    }
    let bytes = machine.state.encode();
    assert!(bytes.len() < 50_000 * 80, "{} bytes", bytes.len());
    assert_eq!(State::decode(&bytes), Ok(machine.state));
}

#[test]
fn a_batch_that_stands_apart_comes_back_from_its_place() {
    let batch = plain(&["x".repeat(5_000).as_str()]).bytes;
    let small = plain(&["small"]).bytes;
    let sample = |batch: &Bytes| {
        let (_, entry) = samples().into_iter().find(|(name, _)| *name == "appended").unwrap();
        let Entry::Appended(appended) = entry else { unreachable!("the sample is one") };
        Appended { batch: batch.clone(), ..appended }
    };
    let entries = [Entry::Appended(sample(&small)), Entry::Appended(sample(&batch))];
    let write = |position: u64, batch: &Bytes| TailWrite::Batch {
        feed: FeedId(1),
        partition: PartitionId(0),
        segment: Offset(40),
        position,
        base_offset: Offset(50),
        end_offset: Offset(51),
        max_timestamp: Timestamp(0),
        last_stable: Offset(51),
        batch: batch.clone(),
    };
    let group: Bytes =
        codec::encode_group_apart(&entries, &[write(7, &small), write(300, &batch)], 1000).concat().into();
    assert!(group.len() < 500, "{} bytes", group.len());
    let Entry::Appended(placed) = as_decoded(&entries[1]) else { unreachable!("the sample is one") };
    let mut asked = Vec::new();
    let decoded = codec::decode_group(group.clone(), &mut |apart| {
        asked.push((apart.segment, apart.position, apart.num_bytes()));
        apart.check(&placed.batch).map(|()| placed.batch.clone())
    });
    assert_eq!(decoded, Ok(entries.iter().map(as_decoded).collect()));
    assert_eq!(asked, [(Offset(40), 300, batch.len())]);

    let mut flipped = placed.batch.to_vec();
    flipped[4_000] ^= 1;
    let refused = codec::decode_group(group.clone(), &mut |apart| apart.check(&flipped).map(|()| placed.batch.clone()));
    assert!(matches!(refused, Err(codec::CodecError::Apart { .. })), "{refused:?}");
    let hollow = codec::decode_group(group, &mut |apart| Ok(apart.hollow())).unwrap();
    let Entry::Appended(hollow) = &hollow[1] else { unreachable!("the sample is one") };
    assert_eq!((hollow.batch.len(), &hollow.batch[..61]), (batch.len(), &placed.batch[..61]));
}

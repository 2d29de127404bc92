//! Sequences: what follows, what repeats, what is missing.

use super::super::producers::Room;
use super::*;

const NEVER: Timestamp = Timestamp(i64::MIN);

/// A producer of epoch 3 that appended `counts` records, batch by batch, from sequence `first` on; offsets from 100 on.
fn known(first: i32, counts: &[i64]) -> Producers {
    let mut producers = Producers::default();
    let (mut sequence, mut base) = (first, 100);
    for count in counts {
        producers.append(&batch(3, sequence, *count), Timestamp(5), base, &Room::default());
        sequence = after(sequence, *count);
        base += count;
    }
    producers
}

fn batch(epoch: i16, first: i32, count: i64) -> Sequenced {
    Sequenced { producer: ProducerId(1), epoch, first, count }
}

fn gap(found: i32, expected: i32) -> Result<Sequence, SequenceError> {
    Err(SequenceError::Gap { producer: ProducerId(1), found, expected })
}

fn forgotten(found: i32) -> Result<Sequence, SequenceError> {
    Err(SequenceError::Forgotten { producer: ProducerId(1), found })
}

#[test]
fn an_unknown_producer_may_start_anywhere() {
    assert_eq!(Producers::default().check(&batch(3, 77, 2), NEVER), Ok(Sequence::Next));
}

#[test]
fn the_next_batch_starts_after_the_last_one() {
    let producers = known(0, &[2, 3]);
    assert_eq!(producers.check(&batch(3, 5, 1), NEVER), Ok(Sequence::Next));
    assert_eq!(producers.check(&batch(3, 6, 1), NEVER), gap(6, 5));
}

#[test]
fn the_last_five_batches_are_known_and_no_more() {
    let producers = known(0, &[1, 2, 2, 2, 2, 2]);
    for (sequence, base) in [(1, 101), (3, 103), (5, 105), (7, 107), (9, 109)] {
        assert_eq!(producers.check(&batch(3, sequence, 2), NEVER), Ok(Sequence::Repeated { base }));
    }
    assert_eq!(producers.check(&batch(3, 0, 1), NEVER), forgotten(0));
}

#[test]
fn a_batch_cut_differently_is_forgotten_only_if_all_of_it_was_appended() {
    let producers = known(0, &[4, 4]);
    assert_eq!(producers.check(&batch(3, 2, 4), NEVER), forgotten(2));
    assert_eq!(producers.check(&batch(3, 6, 4), NEVER), gap(6, 8));
}

#[test]
fn what_came_before_the_first_known_batch_was_perhaps_never_appended() {
    let producers = known(50, &[4, 4, 4]);
    assert_eq!(producers.check(&batch(3, 46, 4), NEVER), gap(46, 62));
    assert_eq!(producers.check(&batch(3, 49, 2), NEVER), gap(49, 62));
    assert_eq!(producers.check(&batch(3, 51, 2), NEVER), forgotten(51));
}

#[test]
fn sequences_wrap() {
    let producers = known(i32::MAX - 1, &[2]);
    assert_eq!(producers.check(&batch(3, 0, 1), NEVER), Ok(Sequence::Next));
    assert_eq!(producers.check(&batch(3, 1, 1), NEVER), gap(1, 0));
    // A batch that holds the last sequence and the first.
    let producers = known(i32::MAX - 1, &[4, 1]);
    assert_eq!(producers.check(&batch(3, 3, 1), NEVER), Ok(Sequence::Next));
    assert_eq!(producers.check(&batch(3, i32::MAX - 1, 4), NEVER), Ok(Sequence::Repeated { base: 100 }));
    assert_eq!(producers.check(&batch(3, i32::MAX, 1), NEVER), forgotten(i32::MAX));
}

#[test]
fn a_jump_ahead_is_never_taken_for_the_past() {
    let mut producers = known(0, &[1]);
    let producer = producers.by_id.as_mut().unwrap().get_mut(&ProducerId(1)).unwrap();
    // As after 2^40 records.
    producer.run = 1 << 40;
    assert_eq!(producers.check(&batch(3, 2, 1), NEVER), gap(2, 1));
    assert_eq!(producers.check(&batch(3, 1 << 30, 1), NEVER), gap(1 << 30, 1));
    assert_eq!(producers.check(&batch(3, i32::MAX, 1), NEVER), forgotten(i32::MAX));
}

#[test]
fn epochs_only_rise_and_start_at_zero() {
    let producers = known(0, &[1]);
    let older = SequenceError::OlderEpoch { producer: ProducerId(1), found: 2, current: 3 };
    assert_eq!(producers.check(&batch(2, 1, 1), NEVER), Err(older));
    let not_zero = SequenceError::NewEpoch { producer: ProducerId(1), epoch: 4, found: 1 };
    assert_eq!(producers.check(&batch(4, 1, 1), NEVER), Err(not_zero));
    assert_eq!(producers.check(&batch(4, 0, 1), NEVER), Ok(Sequence::Next));
}

#[test]
fn a_new_epoch_knows_nothing_of_the_old_batches() {
    let mut producers = known(0, &[1, 1]);
    producers.append(&batch(4, 0, 3), Timestamp(6), 200, &Room::default());
    assert_eq!(producers.check(&batch(4, 0, 3), NEVER), Ok(Sequence::Repeated { base: 200 }));
    assert_eq!(producers.check(&batch(4, 0, 1), NEVER), forgotten(0));
    assert_eq!(producers.check(&batch(4, 3, 1), NEVER), Ok(Sequence::Next));
}

#[test]
fn an_expired_producer_counts_as_unknown() {
    let producers = known(0, &[1]);
    assert!(producers.check(&batch(2, 9, 1), Timestamp(5)).is_err());
    assert_eq!(producers.check(&batch(2, 9, 1), Timestamp(6)), Ok(Sequence::Next));
    assert!(producers.has_expired(ProducerId(1), Timestamp(6)));
    assert!(producers.has_expired(ProducerId(2), Timestamp(6)), "room is made for a new one");
    assert!(!producers.has_expired(ProducerId(1), Timestamp(5)));
}

#[test]
fn forgetting_the_last_one_leaves_nothing() {
    let mut producers = known(0, &[1]);
    assert_eq!(producers.forget(Timestamp(5), |_| false), 0);
    assert_eq!(producers.forget(Timestamp(6), |id| id == ProducerId(1)), 0, "it is busy");
    assert_eq!(producers.forget(Timestamp(6), |_| false), 1);
    assert_eq!(producers, Producers::default());
    assert_eq!(size_of::<Producers>(), 8);
}

#[test]
fn a_marker_of_a_higher_epoch_starts_the_sequences_anew() {
    let mut producers = known(0, &[1]);
    producers.end_transaction(ProducerId(1), 3, Timestamp(9));
    assert_eq!(producers.check(&batch(3, 1, 1), NEVER), Ok(Sequence::Next), "the same epoch goes on");
    producers.end_transaction(ProducerId(1), 4, Timestamp(9));
    let older = SequenceError::OlderEpoch { producer: ProducerId(1), found: 3, current: 4 };
    assert_eq!(producers.check(&batch(3, 1, 1), NEVER), Err(older));
    assert_eq!(producers.check(&batch(4, 1, 1), NEVER), gap(1, 0));
    assert_eq!(producers.check(&batch(4, 0, 1), NEVER), Ok(Sequence::Next));
}

//! Every error, as Kafka tells it to clients of all ages; found out by asking one.

use super::*;
use crate::model::group::GroupError;
use crate::model::group::consumer::Fault;
use crate::model::{FeedId, Identity, PartitionId, ProducerId, SealError, SequenceError, SubscriptionError};

const OLD: Identity = Identity { producer: ProducerId(7), epoch: 3 };
const NEW: Identity = Identity { producer: ProducerId(7), epoch: 4 };

fn id() -> String {
    "loader".to_owned()
}

/// The codes in each version from 0 on, as far as they change.
fn codes(key: i16, last: i16, code: impl Fn(ToldTo) -> ResponseError) -> Vec<(i16, ResponseError)> {
    let mut codes: Vec<(i16, ResponseError)> =
        (0..=last).map(|version| (version, code(ToldTo { key, version }))).collect();
    codes.dedup_by_key(|(_, code)| *code);
    codes
}

#[test]
fn a_fenced_producer_is_told_so_in_the_words_of_its_version() {
    let enlist = || EnlistError::Fenced { id: id(), current: NEW, found: OLD };
    let end = EndError::Fenced { id: id(), current: NEW, found: OLD };
    let bind = BindError::Fenced { id: id(), current: NEW };
    let (before, since) = (ResponseError::InvalidProducerEpoch, ResponseError::ProducerFenced);
    assert_eq!(codes(INIT_PRODUCER_ID, 5, |to| to.of_bind(&bind)), [(0, before), (4, since)]);
    for (key, last) in [(ADD_PARTITIONS_TO_TXN, 3), (ADD_OFFSETS_TO_TXN, 4)] {
        assert_eq!(codes(key, last, |to| to.of_enlist(&enlist())), [(0, before), (2, since)], "{key}");
    }
    assert_eq!(codes(END_TXN, 5, |to| to.of_end(&end)), [(0, before), (2, since)]);
    assert_eq!(codes(TXN_OFFSET_COMMIT, 5, |to| to.of_stage(&enlist().into())), [(0, before)]);
    assert_eq!(codes(PRODUCE, 13, |to| to.of_append(&enlist().into())), [(0, before)]);
    assert_eq!(codes(PRODUCE, 13, |to| to.of_name(&enlist().into())), [(0, before)]);
}

#[test]
fn what_is_not_part_of_a_transaction_makes_those_abort_it_that_know_how() {
    let (feed, partition) = (FeedId(1), PartitionId(2));
    let group = EnlistError::NotEnlisted { id: id(), group: "readers".to_owned() };
    let partition = EnlistError::PartitionNotEnlisted { id: id(), feed, partition };
    let seal = EnlistError::SealNotEnlisted { id: id(), feed };
    let (before, since) = (ResponseError::InvalidTxnState, ResponseError::TransactionAbortable);
    assert_eq!(codes(TXN_OFFSET_COMMIT, 5, |to| to.of_stage(&group.clone().into())), [(0, before), (4, since)]);
    assert_eq!(codes(PRODUCE, 13, |to| to.of_append(&partition.clone().into())), [(0, before), (11, since)]);
    assert_eq!(codes(PRODUCE, 13, |to| to.of_name(&seal.clone().into())), [(0, before), (11, since)]);
}

#[test]
fn the_others_are_the_same_in_all_versions() {
    let told = ToldTo { key: END_TXN, version: 5 };
    let max = 86_400_000;
    assert_eq!(told.of_bind(&BindError::Timeout { wanted: 0, max }), ResponseError::InvalidTransactionTimeout);
    assert_eq!(told.of_bind(&BindError::TooMany), ResponseError::PolicyViolation);
    let other = Identity { producer: ProducerId(8), epoch: 0 };
    let (unknown, mapping) = (id(), ResponseError::InvalidProducerIdMapping);
    assert_eq!(told.of_enlist(&EnlistError::UnknownId { id: id() }), mapping);
    assert_eq!(told.of_enlist(&EnlistError::OtherProducer { id: id(), current: NEW, found: other }), mapping);
    assert_eq!(told.of_end(&EndError::UnknownId { id: unknown }), mapping);
    assert_eq!(told.of_end(&EndError::OtherProducer { id: id(), current: NEW, found: other }), mapping);
    for error in [EndError::EndedOtherwise { id: id(), wanted: true }, EndError::NotOpen { id: id() }] {
        assert_eq!(told.of_end(&error), ResponseError::InvalidTxnState, "{error}");
    }
    let (feed, partition) = (FeedId(1), PartitionId(2));
    for error in [EnlistError::UnknownFeed { feed }, EnlistError::UnknownPartition { feed, partition }] {
        assert_eq!(told.of_enlist(&error), ResponseError::UnknownTopicOrPartition, "{error}");
    }
    let positions = EnlistError::Subscription(SubscriptionError::TooManySubscriptions);
    for error in [EnlistError::TooManyPartitions, EnlistError::TooManyGroups, positions] {
        assert_eq!(told.of_enlist(&error), ResponseError::PolicyViolation, "{error}");
    }
}

#[test]
fn a_group_refuses_in_transactions_in_fewer_words() {
    let told = ToldTo { key: TXN_OFFSET_COMMIT, version: 3 };
    let code = |error: GroupError| told.of_stage(&error.into());
    let stale = Fault::StaleEpoch { found: 3, expected: 4 };
    assert_eq!(code(GroupError::unknown_group("readers")), ResponseError::IllegalGeneration);
    assert_eq!(code(GroupError::Consumer(stale)), ResponseError::IllegalGeneration);
    assert_eq!(code(GroupError::unknown_member("m")), ResponseError::UnknownMemberId);
    assert_eq!(code(GroupError::NoName), ResponseError::InvalidGroupId);
}

#[test]
fn a_batch_is_refused_for_what_is_wrong_with_it() {
    let told = ToldTo { key: PRODUCE, version: 12 };
    let producer = ProducerId(7);
    let gap = SequenceError::Gap { producer, found: 3, expected: 2 };
    let out_of_order = ResponseError::OutOfOrderSequenceNumber;
    assert_eq!(told.of_append(&AppendError::Sequence(gap)), out_of_order);
    assert_eq!(told.of_name(&NameError::Sequence(gap)), out_of_order);
    let without_id = ResponseError::TransactionalIdAuthorizationFailed;
    assert_eq!(told.of_append(&AppendError::NoTransactionalId), without_id);
    assert_eq!(told.of_name(&NameError::Several { found: 2 }), ResponseError::InvalidRecord);
    let gone = SealError::UnknownFeed { feed: FeedId(1) };
    assert_eq!(told.of_name(&NameError::Seal(gone)), ResponseError::UnknownTopicOrPartition);
}

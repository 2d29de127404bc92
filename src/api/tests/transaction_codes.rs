//! What a producer is told that is wrong about itself or about its transaction, in every version: as Apache Kafka 4.3 tells it.

use kafka_protocol::ResponseError;
use kafka_protocol::ResponseError::{
    IllegalGeneration, InvalidProducerEpoch, InvalidProducerIdMapping, InvalidRequest, InvalidTransactionTimeout,
    InvalidTxnState, ProducerFenced, TransactionAbortable, UnknownMemberId,
};
use kafka_protocol::messages::{InitProducerIdRequest, ProducerId};

use super::TestBroker;
use super::transactions::{Writer, code, staged, text};

async fn with_orders() -> TestBroker {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    test
}

/// A producer in its second epoch.
async fn writer(test: &TestBroker) -> Writer {
    Writer::open(test, "loader").await;
    Writer::open(test, "loader").await
}

/// Whoever is wrong about itself, and what it is told; `fenced` of an epoch that is not the present one.
fn mistaken(right: &Writer, fenced: ResponseError) -> [(Writer, ResponseError); 5] {
    [
        (Writer { id: "nobody", ..right.clone() }, InvalidProducerIdMapping),
        (Writer { id: "", ..right.clone() }, InvalidRequest),
        (Writer { producer: right.producer + 100, ..right.clone() }, InvalidProducerIdMapping),
        (right.in_epoch(right.epoch - 1), fenced),
        (right.in_epoch(right.epoch + 1), fenced),
    ]
}

/// PRODUCER_FENCED came with a version of each request.
fn fenced(version: i16, since: i16) -> ResponseError {
    if version < since { InvalidProducerEpoch } else { ProducerFenced }
}

#[tokio::test]
async fn who_adds_to_a_transaction_must_be_its_producer() {
    let test = with_orders().await;
    let right = writer(&test).await;
    for version in 0..=3 {
        for (wrong, refused) in mistaken(&right, fenced(version, 2)) {
            assert_eq!(wrong.add(&test, version, &["orders"]).await, [Some(refused)], "v{version} {wrong:?}");
        }
        assert_eq!(right.add(&test, version, &["orders"]).await, [None], "v{version}");
    }
    for version in 0..=4 {
        for (wrong, refused) in mistaken(&right, fenced(version, 2)) {
            assert_eq!(wrong.add_group(&test, version, "readers").await, Some(refused), "v{version} {wrong:?}");
        }
        assert_eq!(right.add_group(&test, version, "readers").await, None, "v{version}");
    }
    assert_eq!(right.add_group(&test, 4, "").await, Some(ResponseError::InvalidGroupId));
}

#[tokio::test]
async fn who_ends_a_transaction_must_be_its_producer() {
    let test = with_orders().await;
    for version in 0..=5 {
        let right = writer(&test).await;
        assert_eq!(right.end(&test, version, true).await, Err(InvalidTxnState), "v{version}: nothing is open");
        right.add(&test, 3, &["orders"]).await;
        for (wrong, refused) in mistaken(&right, fenced(version, 2)) {
            assert_eq!(wrong.end(&test, version, true).await, Err(refused), "v{version} {wrong:?}");
        }
        assert!(right.end(&test, version, true).await.is_ok(), "v{version}");
        assert!(right.end(&test, version, true).await.is_ok(), "v{version}: said again");
        assert_eq!(right.end(&test, version, false).await, Err(InvalidTxnState), "v{version}: the mind is changed");
    }
}

#[tokio::test]
async fn who_sends_positions_must_be_the_producer_and_have_added_the_group() {
    let test = with_orders().await;
    for version in 0..=5 {
        let right = writer(&test).await;
        let not_added = match version {
            0..=3 => Some(InvalidTxnState),
            4 => Some(TransactionAbortable),
            _ => None,
        };
        assert_eq!(right.stage(&test, version, "readers", 1).await, not_added, "v{version}");
        right.add_group(&test, 4, "readers").await;
        for (wrong, refused) in mistaken(&right, InvalidProducerEpoch) {
            assert_eq!(wrong.stage(&test, version, "readers", 1).await, Some(refused), "v{version} {wrong:?}");
        }
        assert_eq!(right.stage(&test, version, "readers", 1).await, None, "v{version}");
        let elsewhere = right.positions("readers", "nothing", 1);
        let unknown = Some(ResponseError::UnknownTopicOrPartition);
        assert_eq!(staged(&test, version, &elsewhere).await, unknown, "v{version}");
    }
}

#[tokio::test]
async fn positions_are_taken_from_members_of_the_present_generation_only() {
    let test = with_orders().await;
    let right = writer(&test).await;
    for version in 3..=5 {
        let by = |group: &str, member: &str, generation| {
            right.positions(group, "orders", 1).with_member_id(text(member)).with_generation_id(generation)
        };
        right.add_group(&test, 4, "readers").await;
        right.add_group(&test, 4, "strangers").await;
        assert_eq!(staged(&test, version, &by("readers", "", -1)).await, None, "v{version}");
        assert_eq!(staged(&test, version, &by("readers", "m", 1)).await, Some(UnknownMemberId), "v{version}");
        assert_eq!(staged(&test, version, &by("readers", "", 1)).await, Some(UnknownMemberId), "v{version}");
        assert_eq!(staged(&test, version, &by("strangers", "m", 1)).await, Some(IllegalGeneration), "v{version}");
        assert!(right.end(&test, 4, true).await.is_ok());
    }
}

#[tokio::test]
async fn who_writes_must_be_the_producer_and_have_added_the_partition() {
    let test = with_orders().await;
    for version in 3..=12 {
        let right = writer(&test).await;
        let not_added = match version {
            3..=10 => Err(InvalidTxnState),
            11 => Err(TransactionAbortable),
            _ => Ok(()),
        };
        assert_eq!(right.send(&test, version, "orders", 0).await.map(drop), not_added, "v{version}");
        right.add(&test, 3, &["orders"]).await;
        assert!(right.send(&test, version, "orders", 0).await.is_ok(), "v{version}");
        let older = right.in_epoch(right.epoch - 1);
        assert_eq!(older.send(&test, version, "orders", 1).await, Err(InvalidProducerEpoch), "v{version}");
        let other = Writer { producer: right.producer + 100, ..right.clone() };
        assert_eq!(other.send(&test, version, "orders", 0).await, Err(InvalidProducerIdMapping), "v{version}");
        assert!(right.end(&test, 4, true).await.is_ok());
    }
}

#[tokio::test]
async fn a_transactional_id_gets_a_producer_in_the_words_of_each_version() {
    let test = with_orders().await;
    let ask = async |version, request: InitProducerIdRequest| {
        let answer = test.call(version, &request).await;
        (code(answer.error_code), answer.producer_epoch)
    };
    for version in 0..=5_i16 {
        let epochs =
            [ask(version, Writer::asks("loader", 60_000)).await, ask(version, Writer::asks("loader", 1)).await];
        assert_eq!(epochs, [(None, 2 * version), (None, 2 * version + 1)], "v{version}");
        assert_eq!(ask(version, Writer::asks("", 60_000)).await, (Some(InvalidRequest), -1), "v{version}");
        for timeout_ms in [0, -1, i32::MAX] {
            let refused = ask(version, Writer::asks("loader", timeout_ms)).await;
            assert_eq!(refused, (Some(InvalidTransactionTimeout), -1), "v{version} {timeout_ms}");
        }
    }
    for version in 3..=5 {
        let right = Writer::open(&test, "loader").await;
        let goes_on = |producer: i64, epoch| {
            Writer::asks("loader", 60_000).with_producer_id(ProducerId(producer)).with_producer_epoch(epoch)
        };
        let fenced = (Some(fenced(version, 4)), -1);
        assert_eq!(ask(version, goes_on(right.producer + 100, right.epoch)).await, fenced, "v{version}");
        assert_eq!(ask(version, goes_on(right.producer, right.epoch + 5)).await, fenced, "v{version}");
        assert_eq!(ask(version, goes_on(right.producer, -1)).await, (Some(InvalidRequest), -1), "v{version}");
        let next = (None, right.epoch + 1);
        assert_eq!(ask(version, goes_on(right.producer, right.epoch)).await, next, "v{version}");
        assert_eq!(ask(version, goes_on(right.producer, right.epoch)).await, next, "v{version}: the answer was lost");
    }
}

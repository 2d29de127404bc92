//! Transactions as operators list, describe and abort them.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use kafka_protocol::messages::{
    DescribeProducersRequest, DescribeTransactionsRequest, ListTransactionsRequest, ProducerId, WriteTxnMarkersRequest,
};

use super::super::metadata::topic_name;
use super::TestBroker;
use super::transactions::{Writer, code, id, text};

/// Names and states.
async fn listed(test: &TestBroker, version: i16, request: ListTransactionsRequest) -> Vec<(String, String)> {
    let answer = test.call(version, &request).await;
    assert_eq!(answer.error_code, 0);
    let row = |one: &kafka_protocol::messages::list_transactions_response::TransactionState| {
        (one.transactional_id.as_str().to_owned(), one.transaction_state.as_str().to_owned())
    };
    answer.transaction_states.iter().map(row).collect()
}

/// One that is open, one of each end, and one that never began.
async fn four(test: &TestBroker) -> [Writer; 4] {
    test.make("orders", 2).await;
    let mut writers = Vec::new();
    for name in ["aborted", "committed", "empty", "open"] {
        let writer = Writer::open(test, name).await;
        if name != "empty" {
            writer.add(test, 3, &["orders"]).await;
            assert!(writer.send(test, 11, "orders", 0).await.is_ok());
        }
        if let "aborted" | "committed" = name {
            assert!(writer.end(test, 4, name == "committed").await.is_ok());
        }
        writers.push(writer);
    }
    writers.try_into().unwrap()
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
}

#[tokio::test]
async fn transactions_are_listed_by_state_producer_age_and_name() {
    let test = TestBroker::start();
    let [aborted, .., open] = four(&test).await;
    let all = ListTransactionsRequest::default();
    let every =
        [("aborted", "CompleteAbort"), ("committed", "CompleteCommit"), ("empty", "Empty"), ("open", "Ongoing")];
    for version in 0..=2 {
        assert_eq!(listed(&test, version, all.clone()).await, rows(&every), "v{version}");
    }
    let of_states = all.clone().with_state_filters(vec![text("Ongoing"), text("Empty"), text("Dying")]);
    assert_eq!(listed(&test, 0, of_states.clone()).await, rows(&every[2..]));
    assert_eq!(test.call(0, &of_states).await.unknown_state_filters, [text("Dying")]);
    let of_producers =
        all.clone().with_producer_id_filters(vec![ProducerId(open.producer), ProducerId(aborted.producer)]);
    assert_eq!(listed(&test, 0, of_producers).await, rows(&[every[0], every[3]]));
    let older = |ms| all.clone().with_duration_filter(ms);
    assert_eq!(listed(&test, 1, older(5_000)).await, []);
    test.clock.advance_ms(5_001);
    assert_eq!(listed(&test, 1, older(5_000)).await, rows(&every[3..]));
    let named = |pattern| all.clone().with_transactional_id_pattern(Some(text(pattern)));
    assert_eq!(listed(&test, 2, named("(open|empty)")).await, rows(&every[2..]));
    assert_eq!(listed(&test, 2, named("pen")).await, [], "a name matches as a whole");
    assert_eq!(listed(&test, 2, named("")).await, rows(&every));
    let invalid = test.call(2, &named("o(")).await.error_code;
    assert_eq!(code(invalid), Some(ResponseError::InvalidRegularExpression));
}

#[tokio::test]
async fn a_transaction_is_described_with_what_it_touches() {
    let test = TestBroker::start();
    let [_, committed, _, open] = four(&test).await;
    test.clock.advance_ms(70);
    let asked = ["open", "committed", "nobody", "", "open"].map(id).to_vec();
    let answer = test.call(0, &DescribeTransactionsRequest::default().with_transactional_ids(asked)).await;
    let [described, ended, unknown, unnamed] = &answer.transaction_states[..] else { panic!("{answer:?}") };
    assert_eq!((described.transaction_state.as_str(), described.transaction_timeout_ms), ("Ongoing", 60_000));
    assert_eq!((described.producer_id.0, described.producer_epoch), (open.producer, open.epoch));
    assert_eq!(test.broker.now().0 - described.transaction_start_time_ms, 70);
    let topics: Vec<_> =
        described.topics.iter().map(|topic| (topic.topic.as_str(), topic.partitions.clone())).collect();
    assert_eq!(topics, [("orders", vec![0])]);
    assert_eq!((ended.transaction_state.as_str(), ended.transaction_start_time_ms), ("CompleteCommit", -1));
    assert_eq!((ended.producer_id.0, ended.topics.len()), (committed.producer, 0));
    assert_eq!(code(unknown.error_code), Some(ResponseError::TransactionalIdNotFound));
    assert_eq!(code(unnamed.error_code), Some(ResponseError::InvalidRequest));
}

/// The code for partition 0 of orders, and for a partition that is not there.
async fn mark(test: &TestBroker, producer: i64, epoch: i16, commit: bool) -> [Option<ResponseError>; 2] {
    let topic = WritableTxnMarkerTopic::default().with_name(topic_name("orders")).with_partition_indexes(vec![0, 7]);
    let marker = WritableTxnMarker::default()
        .with_producer_id(ProducerId(producer))
        .with_producer_epoch(epoch)
        .with_transaction_result(commit)
        .with_topics(vec![topic]);
    let answer = test.call(1, &WriteTxnMarkersRequest::default().with_markers(vec![marker])).await;
    [0, 1].map(|at| code(answer.markers[0].topics[0].partitions[at].error_code))
}

/// Where the open transaction begins that a partition knows of.
async fn begins_at(test: &TestBroker, producer: i64) -> i64 {
    let topic = TopicRequest::default().with_name(topic_name("orders")).with_partition_indexes(vec![0]);
    let answer = test.call(0, &DescribeProducersRequest::default().with_topics(vec![topic])).await;
    let producers = &answer.topics[0].partitions[0].active_producers;
    producers.iter().find(|known| known.producer_id.0 == producer).unwrap().current_txn_start_offset
}

#[tokio::test]
async fn an_operator_aborts_what_a_producer_left_open() {
    let test = TestBroker::start();
    let [_, committed, _, open] = four(&test).await;
    let unknown = Some(ResponseError::UnknownTopicOrPartition);
    assert_eq!(begins_at(&test, open.producer).await, 4, "behind two transactions of a record and a marker");
    let not_theirs = Some(ResponseError::InvalidRequest);
    assert_eq!(mark(&test, open.producer, open.epoch, true).await, [not_theirs, unknown], "only its producer commits");
    let older = Some(ResponseError::InvalidProducerEpoch);
    assert_eq!(mark(&test, open.producer, open.epoch - 1, false).await, [older, unknown]);
    assert_eq!(mark(&test, committed.producer, committed.epoch, false).await, [None, unknown], "nothing is open");
    assert_eq!(mark(&test, open.producer + 100, 0, false).await, [None, unknown], "nobody has anything open");
    assert_eq!(begins_at(&test, open.producer).await, 4);
    assert_eq!(mark(&test, open.producer, open.epoch, false).await, [None, unknown]);
    assert_eq!(begins_at(&test, open.producer).await, -1);
    assert_eq!(open.send(&test, 11, "orders", 1).await, Err(ResponseError::InvalidProducerEpoch), "it is fenced");
}

//! ListOffsets as older clients ask it.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::ListOffsetsRequest;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};

use super::super::metadata::topic_name;
use super::TestBroker;
use super::cluster::make;

async fn code(test: &TestBroker, version: i16, timestamp: i64) -> i16 {
    let partition = ListOffsetsPartition::default().with_timestamp(timestamp).with_current_leader_epoch(-1);
    let topic = ListOffsetsTopic::default().with_name(topic_name("orders")).with_partitions(vec![partition]);
    let request = ListOffsetsRequest::default().with_topics(vec![topic]);
    test.call(version, &request).await.topics[0].partitions[0].error_code
}

// sarama 1.61.1 asks version 6 for the newest record, and Kafka refuses it.
#[tokio::test]
async fn a_special_time_is_refused_in_versions_from_before_it() {
    let test = TestBroker::start();
    make(&test, "orders", 1).await;
    let unsupported = ResponseError::UnsupportedVersion.code();
    for (timestamp, since) in [(-3, 7), (-4, 8), (-5, 9)] {
        assert_eq!(code(&test, since - 1, timestamp).await, unsupported, "{timestamp} in version {}", since - 1);
        assert_eq!(code(&test, since, timestamp).await, 0, "{timestamp} in version {since}");
    }
    assert_eq!(code(&test, 10, -99).await, unsupported, "no version has it");
    assert_eq!((code(&test, 1, -1).await, code(&test, 1, -2).await, code(&test, 1, 5).await), (0, 0, 0));
}

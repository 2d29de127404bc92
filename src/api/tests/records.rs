//! Records deleted from the front of a partition.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{DeleteRecordsRequest, ListOffsetsRequest};

use super::super::metadata::topic_name;
use super::TestBroker;
use crate::batch::{self, BatchBuilder, Limits, NewRecord};
use crate::broker::CreateFeed;
use crate::model::{Append, PartitionId, Seal, SealReason, SealWish};

const LIMITS: Limits = Limits::of_size(1 << 20);

impl TestBroker {
    pub async fn make(&self, name: &str, partitions: u32) {
        let wanted = CreateFeed { name: name.to_owned(), partitions, overrides: Default::default() };
        let created = self.broker.create_feed(wanted, false);
        self.broker.durable(created.durable_at).await.unwrap();
        created.value.unwrap();
    }

    /// Appends a batch of so many records to partition 0.
    async fn append(&self, name: &str, num_records: usize) {
        let mut builder = BatchBuilder::new(0);
        for number in 0..num_records {
            builder.push(NewRecord { timestamp: number as i64, value: Some(b"v"), ..NewRecord::default() });
        }
        let batch = batch::check_produced(builder.build(), &LIMITS).unwrap();
        let feed = self.broker.catalog().by_name(name).unwrap();
        let config = feed.config();
        let (partition, now) = (PartitionId(0), self.broker.now());
        let append = Append { feed: feed.id, partition, batch, settings: &config.model, transaction: None, now };
        let appended = self.broker.append(append);
        appended.value.unwrap();
        self.broker.durable(appended.durable_at).await.unwrap();
    }

    async fn seal(&self, name: &str) {
        let feed = self.broker.catalog().by_name(name).unwrap();
        let sealed = self.broker.seal(Seal {
            feed: feed.id,
            wishes: vec![SealWish::default()],
            producer: None,
            reason: SealReason::Operator,
            producer_expiration_ms: 1_000,
            now: self.broker.now(),
        });
        sealed.value.unwrap();
        self.broker.durable(sealed.durable_at).await.unwrap();
    }

    /// The low watermark and the error of one deletion.
    async fn delete(&self, name: &str, partition: i32, offset: i64) -> (i64, Option<ResponseError>) {
        let wanted = DeleteRecordsPartition::default().with_partition_index(partition).with_offset(offset);
        let topic = DeleteRecordsTopic::default().with_name(topic_name(name)).with_partitions(vec![wanted]);
        let response = self.call(2, &DeleteRecordsRequest::default().with_topics(vec![topic])).await;
        let result = &response.topics[0].partitions[0];
        assert_eq!((response.topics[0].name.as_str(), result.partition_index), (name, partition));
        (result.low_watermark, ResponseError::try_from_code(result.error_code))
    }

    /// The offset found at a time; -1 and -2 stand for the end and the start.
    async fn offset(&self, name: &str, timestamp: i64) -> i64 {
        let wanted = ListOffsetsPartition::default().with_timestamp(timestamp);
        let topic = ListOffsetsTopic::default().with_name(topic_name(name)).with_partitions(vec![wanted]);
        let response = self.call(7, &ListOffsetsRequest::default().with_topics(vec![topic])).await;
        let found = &response.topics[0].partitions[0];
        assert_eq!(found.error_code, 0);
        found.offset
    }
}

const EARLIEST: i64 = -2;

#[tokio::test]
async fn a_partition_begins_where_it_is_told_to() {
    let test = TestBroker::start();
    test.make("orders", 2).await;
    test.append("orders", 10).await;
    assert_eq!(test.delete("orders", 0, 4).await, (4, None));
    assert_eq!(test.offset("orders", EARLIEST).await, 4);
    assert_eq!(test.offset("orders", 2).await, 4, "an earlier record is not found by its time");
    assert_eq!(test.delete("orders", 0, 3).await, (4, None), "the start never goes back");
    assert_eq!(test.delete("orders", 0, -1).await, (10, None), "the high watermark");
    assert_eq!(test.offset("orders", EARLIEST).await, 10);
    assert_eq!(test.offset("orders", -3).await, -1, "no record has a time");
    assert_eq!(test.delete("orders", 1, -1).await, (0, None));
}

#[tokio::test]
async fn what_cannot_be_deleted_is_refused_as_kafka_refuses_it() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    test.append("orders", 3).await;
    let refused = |error| (-1, Some(error));
    assert_eq!(test.delete("orders", 0, 4).await, refused(ResponseError::OffsetOutOfRange));
    assert_eq!(test.delete("orders", 0, -2).await, refused(ResponseError::OffsetOutOfRange));
    assert_eq!(test.delete("orders", 1, 0).await, refused(ResponseError::UnknownTopicOrPartition));
    assert_eq!(test.delete("orders", -1, 0).await, refused(ResponseError::UnknownTopicOrPartition));
    assert_eq!(test.delete("nothing", 0, 0).await, refused(ResponseError::UnknownTopicOrPartition));
    assert_eq!(test.delete("orders..feed", 0, 0).await, refused(ResponseError::InvalidTopicException));
    let compacted = TestBroker::with(&["log.cleanup.policy=compact"]);
    compacted.make("table", 1).await;
    assert_eq!(compacted.delete("table", 0, -1).await, refused(ResponseError::PolicyViolation));
}

#[tokio::test]
async fn names_with_an_end_show_all_their_records_or_say_why_not() {
    let test = TestBroker::start();
    test.make("orders", 1).await;
    for _ in 0..3 {
        test.append("orders", 2).await;
        test.seal("orders").await;
    }
    assert_eq!(test.delete("orders", 0, 3).await, (3, None));
    let refusal = |name: &str| match super::super::topic::by_name(&test.broker, name) {
        Ok(_) => String::new(),
        Err(refusal) => {
            assert_eq!(refusal.error, ResponseError::InvalidTopicException);
            refusal.message
        }
    };
    assert_eq!(refusal("orders..commit-2"), "");
    let lost = "records of theirs in partition 0 were deleted";
    for name in ["orders..commit-1", "orders..upto-2", "orders..commits-0-1", "orders..stream-0"] {
        assert!(refusal(name).contains(lost), "{name}: {}", refusal(name));
    }
    assert_eq!(test.offset("orders..feed", EARLIEST).await, 3);
    assert_eq!(test.offset("orders..since-1", EARLIEST).await, 3);
    assert_eq!(test.offset("orders..commit-2", EARLIEST).await, 4);
}

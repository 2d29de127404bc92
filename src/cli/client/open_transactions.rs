//! Transactions as an operator sees them: what is open, what it holds back, and aborting it.

use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use kafka_protocol::messages::{
    DescribeProducersRequest, DescribeTransactionsRequest, ProducerId, WriteTxnMarkersRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::topics::topic_name;
use super::{Client, ClientError};

const ONGOING: &str = "Ongoing";

/// An open transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTransaction {
    pub id: String,
    pub producer: i64,
    pub epoch: i16,
    /// When it began, in ms since 1970.
    pub begun: i64,
    pub timeout_ms: i32,
    /// The partitions that it touches, by topic.
    pub partitions: Vec<(String, Vec<i32>)>,
}

impl Client {
    /// The open transaction of a transactional id; none when it has none.
    pub fn open_transaction(&mut self, id: &str) -> Result<Option<OpenTransaction>, ClientError> {
        let request = DescribeTransactionsRequest::default()
            .with_transactional_ids(vec![StrBytes::from_string(id.to_owned()).into()]);
        let found = self.ask(&request)?.transaction_states.pop();
        let Some(state) = found.filter(|state| &*state.transaction_state == ONGOING) else { return Ok(None) };
        let topics = state.topics.into_iter().map(|topic| (topic.topic.to_string(), topic.partitions));
        Ok(Some(OpenTransaction {
            id: id.to_owned(),
            producer: state.producer_id.0,
            epoch: state.producer_epoch,
            begun: state.transaction_start_time_ms,
            timeout_ms: state.transaction_timeout_ms,
            partitions: topics.collect(),
        }))
    }

    /// Where the open transaction of a producer begins in the partitions of a topic; those that hold nothing of it are left
    /// out.
    pub fn transaction_starts(
        &mut self,
        topic: &str,
        partitions: &[i32],
        producer: i64,
    ) -> Result<Vec<(i32, i64)>, ClientError> {
        let asked = TopicRequest::default().with_name(topic_name(topic)).with_partition_indexes(partitions.to_vec());
        let response = self.ask(&DescribeProducersRequest::default().with_topics(vec![asked]))?;
        let mut starts = Vec::new();
        for answer in response.topics.into_iter().flat_map(|topic| topic.partitions) {
            if answer.error_code != 0 {
                let what = format!("tell the producers of {topic}-{}", answer.partition_index);
                return Err(self.refused(what, answer.error_code, answer.error_message.as_deref()));
            }
            let mut producers = answer.active_producers.iter();
            let start =
                producers.find(|known| known.producer_id.0 == producer).map(|known| known.current_txn_start_offset);
            starts.extend(start.filter(|start| *start >= 0).map(|start| (answer.partition_index, start)));
        }
        Ok(starts)
    }

    /// Aborts an open transaction; its producer is fenced.
    pub fn abort_transaction(&mut self, open: &OpenTransaction) -> Result<(), ClientError> {
        let topics = open.partitions.iter().map(|(topic, partitions)| {
            WritableTxnMarkerTopic::default().with_name(topic_name(topic)).with_partition_indexes(partitions.clone())
        });
        let marker = WritableTxnMarker::default()
            .with_producer_id(ProducerId(open.producer))
            .with_producer_epoch(open.epoch)
            .with_transaction_result(false)
            .with_topics(topics.collect())
            .with_coordinator_epoch(0);
        let response = self.ask(&WriteTxnMarkersRequest::default().with_markers(vec![marker]))?;
        let answers = response.markers.iter().flat_map(|marker| &marker.topics).flat_map(|topic| &topic.partitions);
        match answers.map(|answer| answer.error_code).find(|code| *code != 0) {
            Some(code) => Err(self.refused(format!("abort the transaction of {}", open.id), code, None)),
            None => Ok(()),
        }
    }
}

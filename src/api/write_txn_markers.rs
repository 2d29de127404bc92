//! WriteTxnMarkers (key 27): brokers of a cluster end each other's transactions so. There is one broker here, which ends them
//! itself; what is left is the operator's tool, which aborts by it the transaction that a producer left open.
//!
//! A transaction is one thing: whichever of its partitions the tool names, all of it is aborted.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::write_txn_markers_request::WritableTxnMarker;
use kafka_protocol::messages::write_txn_markers_response::{
    WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
};
use kafka_protocol::messages::{WriteTxnMarkersRequest, WriteTxnMarkersResponse};

use super::transactional::identity;
use super::{Reply, RequestContext, topic};
use crate::broker::{Broker, Gated};
use crate::model::{Lsn, PartitionId};

/// Answers a WriteTxnMarkers.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: WriteTxnMarkersRequest) -> Reply {
    let mut gate = Lsn(0);
    let markers = request.markers.iter().map(|marker| {
        let Gated { value: refused, durable_at } = abort(broker, marker);
        gate = durable_at.max(gate);
        answer(broker, marker, refused)
    });
    let markers = markers.collect();
    context.ready_at(&WriteTxnMarkersResponse::default().with_markers(markers), gate)
}

/// Nothing is left to abort by a producer that has no transaction open: then all is well.
fn abort(broker: &Broker, marker: &WritableTxnMarker) -> Gated<Option<ResponseError>> {
    if marker.transaction_result {
        // Whether it counts is for its producer to say.
        return Gated { value: Some(ResponseError::InvalidRequest), durable_at: Lsn(0) };
    }
    let aborted = broker.abort_transaction_of(identity(marker.producer_id, marker.producer_epoch));
    aborted.map(|aborted| aborted.is_err().then_some(ResponseError::InvalidProducerEpoch))
}

fn answer(broker: &Broker, marker: &WritableTxnMarker, refused: Option<ResponseError>) -> WritableTxnMarkerResult {
    let topics = marker.topics.iter().map(|asked| {
        let feed = broker.catalog().by_name(&asked.name);
        let is_there = |partition: PartitionId| feed.as_ref().is_some_and(|feed| partition.0 < feed.partitions());
        let results = asked.partition_indexes.iter().map(|index| {
            let unknown = !topic::partition_id(*index).is_some_and(is_there);
            let error = unknown.then_some(ResponseError::UnknownTopicOrPartition).or(refused);
            WritableTxnMarkerPartitionResult::default()
                .with_partition_index(*index)
                .with_error_code(error.map_or(0, |error| error.code()))
        });
        WritableTxnMarkerTopicResult::default().with_name(asked.name.clone()).with_partitions(results.collect())
    });
    WritableTxnMarkerResult::default().with_producer_id(marker.producer_id).with_topics(topics.collect())
}

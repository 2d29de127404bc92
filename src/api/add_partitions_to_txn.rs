//! AddPartitionsToTxn (key 24): what a producer's transaction is about to write to: partitions of topics, and the `..seal` of
//! feeds. All of it is taken, or nothing.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnTopicResult,
};
use kafka_protocol::messages::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};

use super::transactional::{identity, owned};
use super::{Reply, RequestContext, topic};
use crate::broker::{Broker, Gated};
use crate::model::{Enlist, FeedId, Lsn, PartitionId};
use crate::view::Selector;
use crate::view::name::{self, TopicName};

/// A partition of the request that can be written to.
#[derive(Clone, Copy)]
enum Place {
    Log(FeedId, PartitionId),
    Seal(FeedId),
}

/// A topic of the request with its partitions.
struct Asked<'a> {
    topic: &'a AddPartitionsToTxnTopic,
    places: Vec<Result<Place, ResponseError>>,
}

/// Answers an AddPartitionsToTxn.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: AddPartitionsToTxnRequest) -> Reply {
    let topics: Vec<Asked<'_>> = request.v3_and_below_topics.iter().map(|topic| Asked::of(broker, topic)).collect();
    let places: Result<Vec<Place>, ResponseError> = topics.iter().flat_map(|asked| asked.places.clone()).collect();
    let Gated { value: refused, durable_at } = match places {
        _ if request.v3_and_below_transactional_id.is_empty() => at_once(ResponseError::InvalidRequest),
        // As in Kafka: the others are told that they have not been tried.
        Err(_) => at_once(ResponseError::OperationNotAttempted),
        Ok(places) => {
            let enlisted = broker.enlist(enlist(broker, &request, places));
            enlisted.map(|taken| taken.err().map(|error| context.told_to().of_enlist(&error)))
        }
    };
    let results = topics.iter().map(|asked| asked.answer(refused));
    let response = AddPartitionsToTxnResponse::default().with_results_by_topic_v3_and_below(results.collect());
    context.ready_at(&response, durable_at)
}

fn at_once(error: ResponseError) -> Gated<Option<ResponseError>> {
    Gated { value: Some(error), durable_at: Lsn(0) }
}

fn enlist(broker: &Broker, request: &AddPartitionsToTxnRequest, places: Vec<Place>) -> Enlist {
    let (mut partitions, mut seals) = (Vec::new(), Vec::new());
    for place in places {
        match place {
            Place::Log(feed, partition) => partitions.push((feed, partition)),
            Place::Seal(feed) => seals.push(feed),
        }
    }
    Enlist {
        id: owned(&request.v3_and_below_transactional_id),
        identity: identity(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch),
        partitions,
        seals,
        groups: Vec::new(),
        now: broker.now(),
    }
}

impl Asked<'_> {
    fn of<'a>(broker: &Broker, topic: &'a AddPartitionsToTxnTopic) -> Asked<'a> {
        let places = topic.partitions.iter().map(|index| place(broker, &topic.name, *index));
        Asked { topic, places: places.collect() }
    }

    fn answer(&self, refused: Option<ResponseError>) -> AddPartitionsToTxnTopicResult {
        let results = self.topic.partitions.iter().zip(&self.places).map(|(index, place)| {
            let refused = place.err().or(refused);
            AddPartitionsToTxnPartitionResult::default()
                .with_partition_index(*index)
                .with_partition_error_code(refused.map_or(0, |error| error.code()))
        });
        AddPartitionsToTxnTopicResult::default()
            .with_name(self.topic.name.clone())
            .with_results_by_partition(results.collect())
    }
}

fn place(broker: &Broker, topic: &str, index: i32) -> Result<Place, ResponseError> {
    let unknown = ResponseError::UnknownTopicOrPartition;
    let partition = topic::partition_id(index).ok_or(unknown)?;
    let feed = |name: &str| {
        let feed = broker.catalog().by_name(name).ok_or(unknown)?;
        topic::not_an_alias(feed).map_err(|refusal| refusal.error)
    };
    match name::parse_topic(topic).map_err(|_| ResponseError::InvalidTopicException)? {
        TopicName::Plain(plain) => {
            let feed = feed(plain)?;
            if partition.0 < feed.partitions() { Ok(Place::Log(feed.id, partition)) } else { Err(unknown) }
        }
        TopicName::View(view) if view.selector == Selector::Seal => {
            let feed = feed(&view.feed)?;
            if partition == PartitionId(0) { Ok(Place::Seal(feed.id)) } else { Err(unknown) }
        }
        TopicName::View(_) => Err(ResponseError::InvalidTopicException),
    }
}

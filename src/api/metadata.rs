//! Metadata (key 3): the nodes, and topics by name, by id, or all.
//!
//! Views are answered when they are asked for, and stay out of the list of all topics, since whoever subscribes to a
//! pattern or mirrors a cluster would read everything several times; but for those of `streamstack.views.listed`, which
//! stand there as internal topics.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, MetadataRequest, MetadataResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::described::Described;
use super::node::{CLUSTER_OPERATIONS, LEADER_EPOCH, Node, operations};
use super::topic::Refusal;
use super::{Reply, RequestContext, create_topics};
use crate::broker::{Broker, Gated};
use crate::model::Lsn;
use crate::view::name::{self, TopicName as Name};

/// First version in which a topic may be asked for by its id alone.
const BY_ID_SINCE: i16 = 12;

/// Answers a Metadata.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: MetadataRequest) -> Reply {
    let (node, version, answering) = (Node::of(broker, context), context.version, broker.clone());
    let answer = move || answer(&answering, &node, &request, version);
    context.changed(broker, answer, |answer| answer)
}

fn answer(broker: &Broker, node: &Node, request: &MetadataRequest, version: i16) -> Gated<MetadataResponse> {
    let mut answer = Answer { broker, request, version, leader: node.id, gate: Lsn(0) };
    let topics = answer.topics();
    let broker_of_all = MetadataResponseBroker::default()
        .with_node_id(node.id)
        .with_host(node.host.clone())
        .with_port(node.port)
        .with_rack(node.rack.clone());
    let mut response = MetadataResponse::default()
        .with_brokers(vec![broker_of_all])
        .with_cluster_id(Some(StrBytes::from_string(broker.cluster_id().to_owned())))
        .with_controller_id(node.id)
        .with_topics(topics);
    if (8..=10).contains(&version) {
        let asked = request.include_cluster_authorized_operations;
        response.cluster_authorized_operations = operations(asked, CLUSTER_OPERATIONS);
    }
    Gated { value: response, durable_at: answer.gate }
}

struct Answer<'a> {
    broker: &'a Broker,
    request: &'a MetadataRequest,
    version: i16,
    leader: BrokerId,
    gate: Lsn,
}

impl Answer<'_> {
    fn topics(&mut self) -> Vec<MetadataResponseTopic> {
        match &self.request.topics {
            // Version 0 had no null.
            Some(topics) if !(topics.is_empty() && self.version == 0) => {
                let mut asked = HashSet::new();
                let once = topics.iter().filter(|topic| asked.insert((&topic.name, topic.topic_id)));
                once.map(|topic| self.topic(topic)).collect()
            }
            _ => self.listed(),
        }
    }

    fn listed(&self) -> Vec<MetadataResponseTopic> {
        let feeds = self.broker.catalog().all();
        let listed = feeds.iter().flat_map(|feed| Described::listed(self.broker, feed));
        listed
            .map(|found| match found {
                Ok(found) => self.found(&found),
                Err((name, refusal)) => MetadataResponseTopic::default()
                    .with_error_code(refusal.error.code())
                    .with_name(Some(topic_name(&name))),
            })
            .collect()
    }

    fn topic(&mut self, asked: &MetadataRequestTopic) -> MetadataResponseTopic {
        let by_id = !asked.topic_id.is_nil();
        let found = match &asked.name {
            // The fields are there two versions before they may be used.
            _ if by_id && self.version < BY_ID_SINCE => Err(invalid("topic ids may be used from version 12 on")),
            None if !by_id => Err(invalid("a topic without name and id")),
            Some(name) if !by_id => self.by_name(name),
            _ => Described::by_id(self.broker, &asked.topic_id),
        };
        match found {
            Ok(found) => self.found(&found),
            Err(refusal) => self.refused(asked, refusal.error),
        }
    }

    fn by_name(&mut self, name: &str) -> Result<Described, Refusal> {
        let found = Described::by_name(self.broker, name);
        // A view of a feed that is not there does not make the feed.
        let may_create = self.request.allow_auto_topic_creation
            && self.broker.settings().typed().auto_create_topics
            && matches!(name::parse_topic(name), Ok(Name::Plain(_)));
        match found {
            Err(refusal) if refusal.error == ResponseError::UnknownTopicOrPartition && may_create => {
                let created = create_topics::automatically(self.broker, name);
                self.gate = self.gate.max(created.durable_at);
                created.value
            }
            found => found,
        }
    }

    fn found(&self, found: &Described) -> MetadataResponseTopic {
        let partitions = (0..found.partitions).map(|index| self.partition(index)).collect();
        let mut topic = MetadataResponseTopic::default()
            .with_name(Some(topic_name(&found.name)))
            .with_topic_id(found.topic_id)
            .with_is_internal(found.is_internal)
            .with_partitions(partitions);
        if self.version >= 8 {
            let asked = self.request.include_topic_authorized_operations;
            topic.topic_authorized_operations = operations(asked, found.operations());
        }
        topic
    }

    fn partition(&self, index: u32) -> MetadataResponsePartition {
        MetadataResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(self.leader)
            .with_leader_epoch(LEADER_EPOCH)
            .with_replica_nodes(vec![self.leader])
            .with_isr_nodes(vec![self.leader])
    }

    fn refused(&self, asked: &MetadataRequestTopic, error: ResponseError) -> MetadataResponseTopic {
        // Before version 12 a response has no null name.
        let name = asked.name.clone().or_else(|| (self.version < BY_ID_SINCE).then(TopicName::default));
        MetadataResponseTopic::default().with_error_code(error.code()).with_name(name).with_topic_id(asked.topic_id)
    }
}

fn invalid(message: &str) -> Refusal {
    Refusal { error: ResponseError::InvalidRequest, message: message.to_owned() }
}

pub(super) fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

//! DescribeTopicPartitions (key 75): topics in pages, so that a large cluster need not be told in one answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::{BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};

use super::described::{Described, Listed};
use super::metadata::topic_name;
use super::node::{LEADER_EPOCH, NOT_ASKED};
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};
use crate::model::split_feed;

/// Answers a DescribeTopicPartitions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeTopicPartitionsRequest) -> Reply {
    let answering = broker.clone();
    context.looked_up(broker.clone(), false, move || answer(&answering, &request))
}

fn answer(broker: &Broker, request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let settings = broker.settings().typed();
    let asked = usize::try_from(request.response_partition_limit).unwrap_or(0);
    let room = asked.clamp(1, settings.described_partitions_max.max(1));
    let mut page = Page { leader: BrokerId(settings.node_id), room, topics: Vec::new(), next: None };
    page.fill(broker, request);
    let mut response = DescribeTopicPartitionsResponse::default().with_topics(page.topics);
    response.next_cursor = page.next;
    response
}

struct Page {
    leader: BrokerId,
    /// Partitions that still fit.
    room: usize,
    topics: Vec<DescribeTopicPartitionsResponseTopic>,
    next: Option<Cursor>,
}

impl Page {
    /// Topics in the order of their names, from the cursor on.
    fn fill(&mut self, broker: &Broker, request: &DescribeTopicPartitionsRequest) {
        let from = request.cursor.as_ref();
        let (first, start) = from.map_or(("", 0), |cursor| (&*cursor.topic_name.0, cursor.partition_index));
        let start = |name: &str| if name == first { u32::try_from(start).unwrap_or(0) } else { 0 };
        if request.topics.is_empty() {
            let feed = split_feed(first).map_or(first, |(feed, _)| feed);
            // Each has a partition at least: no more than these fit.
            let feeds: Vec<Arc<FeedHandle>> = broker.catalog().page(feed, self.room.saturating_add(1));
            let _ = listed_from(broker, &feeds, first).all(|found| match found {
                Ok(found) => self.add(&found, start(&found.name)),
                Err((name, refusal)) => self.add_refused(&name, &refusal),
            });
            return;
        }
        let asked: BTreeSet<&str> = request.topics.iter().map(|topic| &*topic.name.0).collect();
        let _ = asked.range(first..).all(|name| match Described::by_name(broker, name) {
            Ok(found) => self.add(&found, start(name)),
            Err(refusal) => self.add_refused(name, &refusal),
        });
    }

    /// False when the page is full, which is told by the cursor.
    fn add(&mut self, found: &Described, start: u32) -> bool {
        if self.room == 0 {
            self.next = Some(cursor(&found.name, start));
            return false;
        }
        let end = found.partitions.min(start.saturating_add(u32::try_from(self.room).unwrap_or(u32::MAX)));
        let partitions: Vec<_> = (start..end).map(|index| self.partition(index)).collect();
        self.room -= partitions.len();
        self.topics.push(
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(topic_name(&found.name)))
                .with_topic_id(found.topic_id)
                .with_is_internal(found.is_internal)
                .with_partitions(partitions)
                .with_topic_authorized_operations(found.operations()),
        );
        if end < found.partitions {
            self.next = Some(cursor(&found.name, end));
        }
        self.next.is_none()
    }

    fn add_refused(&mut self, name: &str, refusal: &Refusal) -> bool {
        self.topics.push(
            DescribeTopicPartitionsResponseTopic::default()
                .with_error_code(refusal.error.code())
                .with_name(Some(topic_name(name)))
                .with_topic_authorized_operations(NOT_ASKED),
        );
        true
    }

    fn partition(&self, index: u32) -> DescribeTopicPartitionsResponsePartition {
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(self.leader)
            .with_leader_epoch(LEADER_EPOCH)
            .with_replica_nodes(vec![self.leader])
            .with_isr_nodes(vec![self.leader])
            // Null is legal, but the Java client's describeTopics walks both lists without looking.
            .with_eligible_leader_replicas(Some(Vec::new()))
            .with_last_known_elr(Some(Vec::new()))
    }
}

/// What is told of these feeds, each of which is followed by those of its views that stand in lists, from the topic `first`
/// on, which may be such a view of the first of them.
fn listed_from<'a>(
    broker: &'a Broker,
    feeds: &'a [Arc<FeedHandle>],
    first: &'a str,
) -> impl Iterator<Item = Listed> + 'a {
    let name = |found: &Listed| match found {
        Ok(found) => found.name.clone(),
        Err((name, _)) => name.clone(),
    };
    let mut found: Vec<Listed> = feeds.first().map(|feed| Described::listed(broker, feed)).unwrap_or_default();
    let told = found.iter().position(|found| name(found) == first).unwrap_or(0);
    found.drain(..told);
    found.into_iter().chain(feeds.iter().skip(1).flat_map(|feed| Described::listed(broker, feed)))
}

fn cursor(topic: &str, partition: u32) -> Cursor {
    Cursor::default().with_topic_name(topic_name(topic)).with_partition_index(partition as i32)
}

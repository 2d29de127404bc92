//! Whatever asks for a view may have to look at its feed's history on the disk: while the disk takes long, only those who
//! ask so wait.

use std::time::{Duration, Instant};

use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_topic_partitions_request::TopicRequest;
use kafka_protocol::messages::elect_leaders_request::TopicPartitions;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{
    DeleteRecordsRequest, DescribeConfigsRequest, DescribeTopicPartitionsRequest, ElectLeadersRequest, MetadataRequest,
};
use kafka_protocol::protocol::{Request, StrBytes};

use super::broker::Served;
use super::requests::*;

const QUICK: Duration = Duration::from_secs(1);
/// Askers of each kind, each with a feed of its own; together many more than there are workers.
const EACH: usize = 6;
const ELECTION_NOT_NEEDED: i16 = 84;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Somebody who has asked and waits for the answer.
type Waiting = Box<dyn FnOnce()>;

fn asked<R: Request + 'static>(
    served: &Served,
    version: i16,
    request: &R,
    check: impl Fn(R::Response) + 'static,
) -> Waiting {
    let mut peer = served.connect();
    peer.send(version, request);
    Box::new(move || check(peer.answer::<R>(version)))
}

fn ask_for_metadata(served: &Served, view: &str) -> Waiting {
    let topic = MetadataRequestTopic::default().with_name(Some(topic_name(view)));
    asked(served, 12, &MetadataRequest::default().with_topics(Some(vec![topic])), |answer| {
        assert_eq!((answer.topics[0].error_code, answer.topics[0].partitions.len()), (0, 1));
    })
}

fn ask_for_a_description(served: &Served, view: &str) -> Waiting {
    let topics = vec![TopicRequest::default().with_name(topic_name(view))];
    let request = DescribeTopicPartitionsRequest::default().with_topics(topics).with_response_partition_limit(9);
    asked(served, 0, &request, |answer| assert_eq!(answer.topics[0].error_code, 0))
}

fn ask_for_configs(served: &Served, view: &str) -> Waiting {
    let topic = DescribeConfigsResource::default().with_resource_type(2).with_resource_name(text(view));
    let request = DescribeConfigsRequest::default().with_resources(vec![topic.with_configuration_keys(None)]);
    asked(served, 4, &request, |answer| assert_eq!(answer.results[0].error_code, 0))
}

fn ask_for_the_end(served: &Served, view: &str) -> Waiting {
    asked(served, LIST_OFFSETS, &list_offsets(view, 0, -1), |answer| {
        assert_eq!(answer.topics[0].partitions[0].offset, 1);
    })
}

fn elect(served: &Served, view: &str) -> Waiting {
    let topic = TopicPartitions::default().with_topic(topic_name(view)).with_partitions(vec![0]);
    let request = ElectLeadersRequest::default().with_topic_partitions(Some(vec![topic]));
    asked(served, 2, &request, |answer| {
        let result = &answer.replica_election_results[0].partition_result[0];
        assert_eq!(result.error_code, ELECTION_NOT_NEEDED);
    })
}

fn delete_commits(served: &Served, view: &str) -> Waiting {
    let partition = DeleteRecordsPartition::default().with_offset(1);
    let commits = view.replace("stream-1", "commits");
    let topic = DeleteRecordsTopic::default().with_name(topic_name(&commits));
    let request = DeleteRecordsRequest::default().with_topics(vec![topic.with_partitions(vec![partition])]);
    asked(served, 2, &request, |answer| {
        let partition = &answer.topics[0].partitions[0];
        assert_eq!((partition.error_code, partition.low_watermark), (0, 1));
    })
}

/// What may be asked of a view.
const ASKS: [fn(&Served, &str) -> Waiting; 6] =
    [ask_for_metadata, ask_for_a_description, ask_for_configs, ask_for_the_end, elect, delete_commits];

fn feed(number: usize) -> String {
    format!("old-{number}")
}

/// Feeds with three commits of one record, not looked at since the start, and one in use.
fn served() -> Served {
    let mut served = Served::start();
    let mut peer = served.connect();
    for feed in (0..EACH * ASKS.len()).map(feed) {
        peer.create_topic(&feed, 1, &[]);
        for value in ["a", "b", "c"] {
            peer.produced(&feed, 0, batch(&[value]));
            peer.produced(&format!("{feed}..seal"), 0, batch(&["{}"]));
        }
    }
    served.restart();
    let mut peer = served.connect();
    peer.create_topic("new", 1, &[]);
    peer.produced("new", 0, batch(&["a"]));
    peer.fetch("new", 0, 0);
    served
}

#[test]
fn whoever_asks_for_a_view_that_lies_on_a_slow_disk_holds_up_no_other_connection() {
    let served = served();
    served.reads.close();
    let views = (0..EACH * ASKS.len()).map(|number| format!("{}..stream-1", feed(number)));
    let waiting: Vec<Waiting> = ASKS.iter().cycle().zip(views).map(|(ask, view)| ask(&served, &view)).collect();
    for n in 1..20 {
        let began = Instant::now();
        let mut peer = served.connect();
        let topics = peer.ask(12, &MetadataRequest::default().with_topics(None)).topics;
        assert_eq!(topics.len(), EACH * ASKS.len() + 1);
        assert_eq!(peer.produced("new", 0, batch(&["a"])), n);
        assert_eq!(records_of(&peer.fetch("new", 0, n)), [(n, "a".to_owned())]);
        assert_eq!(peer.list_offsets(&feed(0), 0, -1).offset, 3);
        assert!(began.elapsed() < QUICK, "{:?}", began.elapsed());
    }
    served.reads.open();
    waiting.into_iter().for_each(|answered| answered());
    assert_eq!(served.connect().values("old-0..stream-1", 0), ["b"]);
}

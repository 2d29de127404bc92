//! What operators do: listing, changing and deleting topics, and what a broker tells of itself.

use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::{
    CreatePartitionsRequest, DeleteTopicsRequest, DescribeLogDirsRequest, MetadataRequest, MetadataResponse,
};

use super::topics::{CHANGE_TIMEOUT_MS, topic_name};
use super::{Client, ClientError};

/// First version in which the topics to delete are a list of structures.
const DELETES_STRUCTURES_SINCE: i16 = 6;

/// A topic of the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicFacts {
    pub name: String,
    pub partitions: Vec<i32>,
    pub is_internal: bool,
}

/// Where clients are told to find a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerFacts {
    pub id: i32,
    pub host: String,
    pub port: i32,
}

/// The cluster as a client is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFacts {
    pub id: Option<String>,
    pub brokers: Vec<BrokerFacts>,
}

/// A folder of a broker with its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDir {
    pub path: String,
    /// Of the disk, when the broker tells them.
    pub disk_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    /// Topic, partition, bytes.
    pub sizes: Vec<(String, i32, u64)>,
}

impl Client {
    /// All topics that the broker lists, by name.
    pub fn topics(&mut self) -> Result<Vec<TopicFacts>, ClientError> {
        let request = MetadataRequest::default().with_topics(None).with_allow_auto_topic_creation(false);
        let response = self.ask(&request)?;
        let mut topics: Vec<TopicFacts> = response
            .topics
            .iter()
            .map(|topic| TopicFacts {
                name: topic.name.as_ref().map(|name| name.to_string()).unwrap_or_default(),
                partitions: topic.partitions.iter().map(|partition| partition.partition_index).collect(),
                is_internal: topic.is_internal,
            })
            .collect();
        topics.iter_mut().for_each(|topic| topic.partitions.sort_unstable());
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(topics)
    }

    /// Which brokers there are.
    pub fn cluster(&mut self) -> Result<ClusterFacts, ClientError> {
        let request = MetadataRequest::default().with_topics(Some(Vec::new())).with_allow_auto_topic_creation(false);
        let MetadataResponse { brokers, cluster_id, .. } = self.ask(&request)?;
        let brokers = brokers.into_iter().map(|broker| BrokerFacts {
            id: broker.node_id.0,
            host: broker.host.to_string(),
            port: broker.port,
        });
        Ok(ClusterFacts { id: cluster_id.map(|id| id.to_string()), brokers: brokers.collect() })
    }

    /// Deletes a topic with all that it holds.
    pub fn delete_topic(&mut self, topic: &str) -> Result<(), ClientError> {
        let request = DeleteTopicsRequest::default().with_timeout_ms(CHANGE_TIMEOUT_MS);
        let request = match self.versions.pick::<DeleteTopicsRequest>(self.address())? {
            DELETES_STRUCTURES_SINCE.. => {
                request.with_topics(vec![DeleteTopicState::default().with_name(Some(topic_name(topic)))])
            }
            _ => request.with_topic_names(vec![topic_name(topic)]),
        };
        let response = self.ask(&request)?;
        match response.responses.iter().find(|result| result.error_code != 0) {
            Some(result) => {
                Err(self.refused(format!("delete {topic}"), result.error_code, result.error_message.as_deref()))
            }
            None => Ok(()),
        }
    }

    /// Gives a topic more partitions, `total` altogether.
    pub fn add_partitions(&mut self, topic: &str, total: i32) -> Result<(), ClientError> {
        let wanted =
            CreatePartitionsTopic::default().with_name(topic_name(topic)).with_count(total).with_assignments(None);
        let request = CreatePartitionsRequest::default().with_topics(vec![wanted]).with_timeout_ms(CHANGE_TIMEOUT_MS);
        let response = self.ask(&request)?;
        match response.results.iter().find(|result| result.error_code != 0) {
            Some(result) => {
                let what = format!("give {topic} {total} partitions");
                Err(self.refused(what, result.error_code, result.error_message.as_deref()))
            }
            None => Ok(()),
        }
    }

    /// The folders of the broker and what the partitions in them take; none when it does not tell.
    pub fn log_dirs(&mut self) -> Result<Option<Vec<LogDir>>, ClientError> {
        if self.versions.pick::<DescribeLogDirsRequest>(self.address()).is_err() {
            return Ok(None);
        }
        let response = self.ask(&DescribeLogDirsRequest::default().with_topics(None))?;
        if response.error_code != 0 {
            return Err(self.refused("tell its folders".to_owned(), response.error_code, None));
        }
        let told = |bytes: i64| u64::try_from(bytes).ok();
        let dirs = response.results.into_iter().map(|dir| LogDir {
            path: dir.log_dir.to_string(),
            disk_bytes: told(dir.total_bytes),
            free_bytes: told(dir.usable_bytes),
            sizes: dir
                .topics
                .iter()
                .flat_map(|topic| topic.partitions.iter().map(move |part| (topic.name.to_string(), part)))
                .map(|(name, part)| (name, part.partition_index, told(part.partition_size).unwrap_or(0)))
                .collect(),
        });
        Ok(Some(dirs.collect()))
    }
}

//! Topics: which partitions they have, and making them.

use std::time::Duration;

use kafka_protocol::error::ResponseError;
use kafka_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{CreateTopicsRequest, MetadataRequest, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::{Client, ClientError};

/// The broker's default, for partitions and replicas.
const DEFAULT: i16 = -1;
pub(super) const CHANGE_TIMEOUT_MS: i32 = 30_000;
/// A broker that makes topics by itself has made one by then; asked longer, one that does not would only keep quiet.
const MADE_WITHIN: Duration = Duration::from_secs(2);

impl Client {
    /// Makes a topic and waits until it takes writes. `configs` are its overrides.
    pub fn create_topic(
        &mut self,
        topic: &str,
        num_partitions: i32,
        configs: &[(&str, &str)],
    ) -> Result<(), ClientError> {
        let request = CreateTopicsRequest::default()
            .with_topics(vec![creatable(topic, num_partitions, configs)])
            .with_timeout_ms(CHANGE_TIMEOUT_MS);
        let response = self.ask(&request)?;
        for result in &response.topics {
            if result.error_code != 0 {
                let message = result.error_message.as_deref();
                return Err(self.refused(format!("create topic {topic}"), result.error_code, message));
            }
        }
        // The answer may come before the partitions are there.
        self.patiently(|client| client.partitions_now(topic)).map(|_| ())
    }

    /// The partitions of a topic or view, in order. Waits for a bounded view that is not sealed yet; a topic that the
    /// broker does not know is told at once.
    pub fn partitions(&mut self, topic: &str) -> Result<Vec<i32>, ClientError> {
        let found = self.patiently(|client| match client.partitions_now(topic) {
            Err(error) if error.code() == Some(ResponseError::UnknownTopicOrPartition) => Ok(Err(error)),
            other => other.map(Ok),
        });
        found.and_then(|found| found).map_err(|error| self.explained(topic, error))
    }

    /// The partitions of a topic, which the broker makes if there is none and it makes topics by itself.
    pub fn partitions_or_new(&mut self, topic: &str) -> Result<Vec<i32>, ClientError> {
        let patience = self.patience;
        self.patience = patience.min(MADE_WITHIN);
        let made = self.patiently(|client| client.metadata(topic, true));
        self.patience = patience;
        made.map_err(|error| self.explained(topic, error))
    }

    /// Metadata has no room for the reason of a refusal; DescribeConfigs has.
    fn explained(&mut self, topic: &str, error: ClientError) -> ClientError {
        match error {
            ClientError::Refused { address, what, code, message, remedy } if message.is_empty() => {
                let message = self.reason(topic).map(|reason| format!(": {reason}")).unwrap_or_default();
                ClientError::Refused { address, what, code, message, remedy }
            }
            other => other,
        }
    }

    fn partitions_now(&mut self, topic: &str) -> Result<Vec<i32>, ClientError> {
        self.metadata(topic, false)
    }

    fn metadata(&mut self, topic: &str, may_create: bool) -> Result<Vec<i32>, ClientError> {
        let asked = MetadataRequestTopic::default().with_name(Some(topic_name(topic)));
        let request =
            MetadataRequest::default().with_topics(Some(vec![asked])).with_allow_auto_topic_creation(may_create);
        let response = self.ask(&request)?;
        let found = response.topics.iter().find(|found| found.name.as_ref().is_some_and(|name| name.as_str() == topic));
        let (code, partitions) =
            found.map_or_else(|| (ResponseError::UnknownTopicOrPartition.code(), Vec::new()), state);
        if code != 0 {
            return Err(self.refused(format!("show {topic}"), code, None));
        }
        Ok(partitions)
    }
}

/// The first error of the topic or one of its partitions, and the partitions.
fn state(topic: &MetadataResponseTopic) -> (i16, Vec<i32>) {
    let codes = topic.partitions.iter().map(|partition| partition.error_code);
    let code = std::iter::once(topic.error_code).chain(codes).find(|&code| code != 0).unwrap_or(0);
    let mut partitions: Vec<i32> = topic.partitions.iter().map(|partition| partition.partition_index).collect();
    partitions.sort_unstable();
    (code, partitions)
}

fn creatable(topic: &str, num_partitions: i32, configs: &[(&str, &str)]) -> CreatableTopic {
    let configs = configs.iter().map(|&(name, value)| {
        CreatableTopicConfig::default()
            .with_name(StrBytes::from_string(name.to_owned()))
            .with_value(Some(StrBytes::from_string(value.to_owned())))
    });
    CreatableTopic::default()
        .with_name(topic_name(topic))
        .with_num_partitions(num_partitions)
        .with_replication_factor(DEFAULT)
        .with_configs(configs.collect())
}

pub(super) fn topic_name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

//! ListOffsets: where partitions start and end, and what stands there at a time.

use kafka_protocol::messages::ListOffsetsRequest;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};

use super::fetch::CONSUMER;
use super::topics::topic_name;
use super::{Client, ClientError};

/// Which offset of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetOf {
    Start,
    /// One past the last record.
    End,
    /// The first record at or after a time, in ms since 1970.
    Time(i64),
}

/// Which records a reader is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Isolation {
    /// All
    ReadUncommitted,
    /// None of open or aborted transactions
    ReadCommitted,
}

/// A partition of a topic, and the offset asked for: none when no record is that late, or the refusal's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetAnswer {
    pub topic: String,
    pub partition: i32,
    pub offset: Result<Option<i64>, i16>,
}

impl OffsetOf {
    fn timestamp(self) -> i64 {
        match self {
            OffsetOf::Start => -2,
            OffsetOf::End => -1,
            OffsetOf::Time(ms) => ms,
        }
    }
}

impl Isolation {
    pub(super) fn level(self) -> i8 {
        match self {
            Isolation::ReadUncommitted => 0,
            Isolation::ReadCommitted => 1,
        }
    }
}

impl Client {
    /// The offset of one partition; none when no record is as late as the time asked for.
    pub fn offset(
        &mut self,
        topic: &str,
        partition: i32,
        which: OffsetOf,
        isolation: Isolation,
    ) -> Result<Option<i64>, ClientError> {
        self.patiently(|client| {
            let answers = client.offsets(&[(topic.to_owned(), vec![partition])], which, isolation)?;
            let offset = answers.into_iter().next().map_or(Err(-1), |answer| answer.offset);
            offset.map_err(|code| client.refused(format!("tell the offsets of {topic}-{partition}"), code, None))
        })
    }

    /// The offsets of many partitions in one request.
    pub fn offsets(
        &mut self,
        asked: &[(String, Vec<i32>)],
        which: OffsetOf,
        isolation: Isolation,
    ) -> Result<Vec<OffsetAnswer>, ClientError> {
        let partition = |index: &i32| {
            ListOffsetsPartition::default()
                .with_partition_index(*index)
                .with_current_leader_epoch(-1)
                .with_timestamp(which.timestamp())
        };
        let topics = asked.iter().map(|(topic, partitions)| {
            let partitions = partitions.iter().map(partition).collect();
            ListOffsetsTopic::default().with_name(topic_name(topic)).with_partitions(partitions)
        });
        let request = ListOffsetsRequest::default()
            .with_replica_id(CONSUMER)
            .with_isolation_level(isolation.level())
            .with_topics(topics.collect());
        let response = self.ask(&request)?;
        let answers = response.topics.into_iter().flat_map(|topic| {
            let name = topic.name.0.to_string();
            topic.partitions.into_iter().map(move |answer| OffsetAnswer {
                topic: name.clone(),
                partition: answer.partition_index,
                offset: match answer.error_code {
                    0 => Ok((answer.offset >= 0).then_some(answer.offset)),
                    code => Err(code),
                },
            })
        });
        Ok(answers.collect())
    }
}

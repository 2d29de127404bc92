//! Consumer groups: which there are, where they read on, and moving them as an operator does, who is no member.

use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use kafka_protocol::messages::offset_fetch_response::OffsetFetchResponse;
use kafka_protocol::messages::{
    DeleteGroupsRequest, GroupId, ListGroupsRequest, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::topics::topic_name;
use super::{Client, ClientError};

/// First version of OffsetFetch that asks for several groups.
const FETCHES_GROUPS_SINCE: i16 = 8;
/// What stands for "no member" and "not told".
const NONE: i32 = -1;

/// A consumer group of the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    pub name: String,
    /// Empty when the broker does not tell it.
    pub state: String,
    /// `classic` or `consumer`; empty when the broker does not tell it.
    pub kind: String,
}

/// Where a group reads on in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPosition {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    pub metadata: String,
}

impl Client {
    /// All consumer groups, by name.
    pub fn groups(&mut self) -> Result<Vec<GroupFacts>, ClientError> {
        let response = self.ask(&ListGroupsRequest::default())?;
        if response.error_code != 0 {
            return Err(self.refused("list consumer groups".to_owned(), response.error_code, None));
        }
        let facts = response.groups.into_iter().map(|group| GroupFacts {
            name: group.group_id.to_string(),
            state: group.group_state.to_string(),
            kind: group.group_type.to_string(),
        });
        let mut groups: Vec<GroupFacts> = facts.collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(groups)
    }

    /// All positions of a group, by topic and partition; none when there is no such group.
    pub fn group_positions(&mut self, group: &str) -> Result<Vec<GroupPosition>, ClientError> {
        let request = match self.versions.pick::<OffsetFetchRequest>(self.address())? {
            FETCHES_GROUPS_SINCE.. => {
                let asked = OffsetFetchRequestGroup::default()
                    .with_group_id(group_id(group))
                    .with_member_id(None)
                    .with_member_epoch(NONE)
                    .with_topics(None);
                OffsetFetchRequest::default().with_groups(vec![asked])
            }
            _ => OffsetFetchRequest::default().with_group_id(group_id(group)).with_topics(None),
        };
        let response = self.ask(&request)?;
        let (code, mut positions) = positions_of(response);
        if code != 0 {
            return Err(self.refused(format!("tell the positions of {group}"), code, None));
        }
        positions.retain(|position| position.offset >= 0);
        positions.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
        Ok(positions)
    }

    /// Moves a group that has no members. All of it or, when the group is refused, nothing.
    pub fn move_group(&mut self, group: &str, positions: &[GroupPosition]) -> Result<(), ClientError> {
        let topics = by_topic(positions).into_iter().map(|(topic, positions)| {
            let partitions = positions.into_iter().map(|position| {
                OffsetCommitRequestPartition::default()
                    .with_partition_index(position.partition)
                    .with_committed_offset(position.offset)
                    .with_committed_leader_epoch(NONE)
                    .with_committed_metadata(Some(StrBytes::from_string(position.metadata.clone())))
            });
            OffsetCommitRequestTopic::default().with_name(topic_name(topic)).with_partitions(partitions.collect())
        });
        let request = OffsetCommitRequest::default()
            .with_group_id(group_id(group))
            .with_generation_id_or_member_epoch(NONE)
            .with_retention_time_ms(NONE.into())
            .with_topics(topics.collect());
        let response = self.ask(&request)?;
        for topic in &response.topics {
            if let Some(refused) = topic.partitions.iter().find(|partition| partition.error_code != 0) {
                let what = format!("move {group} in {}-{}", topic.name.as_str(), refused.partition_index);
                return Err(self.refused(what, refused.error_code, None));
            }
        }
        Ok(())
    }

    /// Makes a group forget where it reads on in these partitions.
    pub fn forget_positions(&mut self, group: &str, positions: &[GroupPosition]) -> Result<(), ClientError> {
        let topics = by_topic(positions).into_iter().map(|(topic, positions)| {
            let partitions = positions
                .into_iter()
                .map(|position| OffsetDeleteRequestPartition::default().with_partition_index(position.partition));
            OffsetDeleteRequestTopic::default().with_name(topic_name(topic)).with_partitions(partitions.collect())
        });
        let request = OffsetDeleteRequest::default().with_group_id(group_id(group)).with_topics(topics.collect());
        let response = self.ask(&request)?;
        let of_partitions = response.topics.iter().flat_map(|topic| &topic.partitions).map(|part| part.error_code);
        match std::iter::once(response.error_code).chain(of_partitions).find(|&code| code != 0) {
            Some(code) => Err(self.refused(format!("forget positions of {group}"), code, None)),
            None => Ok(()),
        }
    }

    /// Deletes a group that has no members, with all its positions.
    pub fn delete_group(&mut self, group: &str) -> Result<(), ClientError> {
        let response = self.ask(&DeleteGroupsRequest::default().with_groups_names(vec![group_id(group)]))?;
        match response.results.iter().find(|result| result.error_code != 0) {
            Some(result) => Err(self.refused(format!("delete group {group}"), result.error_code, None)),
            None => Ok(()),
        }
    }
}

fn group_id(group: &str) -> GroupId {
    GroupId(StrBytes::from_string(group.to_owned()))
}

fn by_topic(positions: &[GroupPosition]) -> Vec<(&str, Vec<&GroupPosition>)> {
    let mut topics: Vec<(&str, Vec<&GroupPosition>)> = Vec::new();
    for position in positions {
        match topics.iter_mut().find(|(topic, _)| *topic == position.topic) {
            Some((_, of_topic)) => of_topic.push(position),
            None => topics.push((&position.topic, vec![position])),
        }
    }
    topics
}

/// The first error (0: none) and the positions, in whichever layout they came.
fn positions_of(response: OffsetFetchResponse) -> (i16, Vec<GroupPosition>) {
    let mut codes = vec![response.error_code];
    let mut found = Vec::new();
    let mut take = |topic: &str, partition: i32, offset: i64, metadata: Option<StrBytes>| {
        let metadata = metadata.map(|text| text.to_string()).unwrap_or_default();
        found.push(GroupPosition { topic: topic.to_owned(), partition, offset, metadata });
    };
    for topic in response.topics {
        for part in topic.partitions {
            codes.push(part.error_code);
            take(&topic.name.0, part.partition_index, part.committed_offset, part.metadata);
        }
    }
    for group in response.groups {
        codes.push(group.error_code);
        for topic in group.topics {
            for part in topic.partitions {
                codes.push(part.error_code);
                take(&topic.name.0, part.partition_index, part.committed_offset, part.metadata);
            }
        }
    }
    (codes.into_iter().find(|&code| code != 0).unwrap_or(0), found)
}

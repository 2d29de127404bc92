//! What is known of feeds: records, bytes and commits, asked for many at a time.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::cli::client::{Client, Isolation, OffsetOf, Position, TopicFacts};
use crate::cli::failure::Failure;
use crate::cli::manifest::Manifest;

/// Partitions asked for in one request.
const PARTITIONS_AT_ONCE: usize = 2_000;
const SHOWN: Isolation = Isolation::ReadUncommitted;

/// A number for each partition of each topic.
type ByPartition<T> = HashMap<(String, i32), T>;

/// A feed in numbers. What the broker does not tell is none.
#[derive(Debug)]
pub struct FeedFacts {
    pub name: String,
    pub parts: Vec<PartFacts>,
    pub commits: Option<i64>,
    pub first: Option<Manifest>,
    pub last: Option<Manifest>,
}

#[derive(Clone, Debug)]
pub struct PartFacts {
    pub partition: i32,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub bytes: Option<u64>,
}

impl FeedFacts {
    pub fn records(&self) -> Option<u64> {
        self.parts.iter().map(PartFacts::records).sum()
    }

    pub fn bytes(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    pub fn json(&self) -> Value {
        let commit = |manifest: &Option<Manifest>| {
            manifest.as_ref().map(|m| json!({ "commit": m.commit, "sealed": m.sealed, "label": m.label }))
        };
        json!({
            "feed": self.name,
            "partitions": self.parts.len(),
            "records": self.records(),
            "bytes": self.bytes(),
            "commits": self.commits,
            "first_commit": commit(&self.first),
            "last_commit": commit(&self.last),
        })
    }
}

impl PartFacts {
    pub fn records(&self) -> Option<u64> {
        u64::try_from(self.end? - self.start?).ok()
    }
}

/// The facts of these topics, in their order.
pub fn of(client: &mut Client, topics: Vec<TopicFacts>) -> Result<Vec<FeedFacts>, Failure> {
    let plain: Vec<(String, Vec<i32>)> =
        topics.iter().map(|topic| (topic.name.clone(), topic.partitions.clone())).collect();
    let history: Vec<(String, Vec<i32>)> = topics.iter().map(|topic| (commits_of(&topic.name), vec![0])).collect();
    let starts = offsets(client, &plain, OffsetOf::Start)?;
    let ends = offsets(client, &plain, OffsetOf::End)?;
    let commits = offsets(client, &history, OffsetOf::End)?;
    let first_commits = offsets(client, &history, OffsetOf::Start)?;
    let sizes = sizes(client)?;
    let mut found = Vec::with_capacity(topics.len());
    for topic in topics {
        let part = |partition: i32| {
            let key = (topic.name.clone(), partition);
            let bytes = sizes.as_ref().map(|sizes| sizes.get(&key).copied().unwrap_or(0));
            PartFacts { partition, start: starts.get(&key).copied(), end: ends.get(&key).copied(), bytes }
        };
        let parts = topic.partitions.iter().map(|&partition| part(partition)).collect();
        let history = (commits_of(&topic.name), 0);
        let (first, num_commits) = (first_commits.get(&history).copied(), commits.get(&history).copied());
        let there = first.zip(num_commits).filter(|(first, commits)| first < commits);
        let (first, last) = match there {
            Some((first, commits)) => {
                (manifest(client, &history.0, first)?, manifest(client, &history.0, commits - 1)?)
            }
            None => (None, None),
        };
        found.push(FeedFacts { name: topic.name, parts, commits: num_commits, first, last });
    }
    Ok(found)
}

fn commits_of(feed: &str) -> String {
    format!("{feed}..commits")
}

fn manifest(client: &mut Client, history: &str, commit: i64) -> Result<Option<Manifest>, Failure> {
    let record = client.record_at(history, Position { partition: 0, offset: commit })?;
    record.as_ref().map(Manifest::of).transpose()
}

/// Those that the broker tells.
fn offsets(client: &mut Client, asked: &[(String, Vec<i32>)], which: OffsetOf) -> Result<ByPartition<i64>, Failure> {
    let mut found = HashMap::new();
    for asked in in_parts(asked) {
        let answers = client.offsets(&asked, which, SHOWN)?;
        found.extend(answers.into_iter().filter_map(|answer| {
            let offset = answer.offset.ok().flatten()?;
            Some(((answer.topic, answer.partition), offset))
        }));
    }
    Ok(found)
}

/// Requests of a size that any broker takes.
fn in_parts(asked: &[(String, Vec<i32>)]) -> Vec<Vec<(String, Vec<i32>)>> {
    let mut parts = Vec::new();
    let (mut part, mut room) = (Vec::new(), PARTITIONS_AT_ONCE);
    for (topic, partitions) in asked {
        for chunk in partitions.chunks(PARTITIONS_AT_ONCE) {
            if chunk.len() > room {
                parts.push(std::mem::take(&mut part));
                room = PARTITIONS_AT_ONCE;
            }
            room -= chunk.len();
            part.push((topic.clone(), chunk.to_vec()));
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

fn sizes(client: &mut Client) -> Result<Option<ByPartition<u64>>, Failure> {
    let Some(dirs) = client.log_dirs()? else { return Ok(None) };
    let sizes = dirs.into_iter().flat_map(|dir| dir.sizes);
    Ok(Some(sizes.map(|(topic, partition, bytes)| ((topic, partition), bytes)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_partitions_are_asked_for_in_parts() {
        let topic = |name: &str, partitions: i32| (name.to_owned(), (0..partitions).collect::<Vec<_>>());
        let parts = in_parts(&[topic("a", 1_500), topic("b", 600), topic("c", 4_100)]);
        let sizes: Vec<usize> = parts.iter().map(|part| part.iter().map(|(_, p)| p.len()).sum()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 6_200);
        assert!(sizes.iter().all(|&size| size <= PARTITIONS_AT_ONCE), "{sizes:?}");
        assert!(in_parts(&[]).is_empty());
    }
}

//! Sealing a feed's stream from the command line, and finding the commit that came of it.

use std::fmt;

use kafka_protocol::error::ResponseError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::{Acks, Bounds, Client, Isolation, OffsetOf};
use super::failure::Failure;
use super::paint::counted;
use super::produce::{NewRecord, SendOptions, Sender};
use crate::batch::Compression;

/// Manifests that are looked through for the one with a record; a feed that is sealed more often meanwhile is a rarity.
const COMMITS_SEARCHED_MAX: i64 = 1_000;

/// A commit, as its manifest says.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SealedCommit {
    pub commit: i64,
    pub label: Option<String>,
    pub records: i64,
    #[serde(default)]
    partitions: Vec<Part>,
}

#[derive(Clone, Debug, Deserialize)]
struct Part {
    partition: i32,
    runs: Vec<Run>,
}

#[derive(Clone, Debug, Deserialize)]
struct Run {
    log_base: i64,
    count: i64,
}

impl SealedCommit {
    pub fn json(&self) -> Value {
        json!({ "commit": self.commit, "label": self.label, "records": self.records })
    }

    fn holds(&self, partition: i32, offset: i64) -> bool {
        let runs = self.partitions.iter().filter(|part| part.partition == partition).flat_map(|part| &part.runs);
        runs.into_iter().any(|run| (run.log_base..run.log_base + run.count).contains(&offset))
    }
}

impl fmt::Display for SealedCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sealed as commit {}", self.commit)?;
        if let Some(label) = &self.label {
            write!(f, " with label {label:?}")?;
        }
        write!(f, ": {}", counted(self.records as u64, "record"))
    }
}

/// How many commits a feed has; a refusal where there is nothing of the kind.
pub(super) fn num_commits(client: &mut Client, feed: &str) -> Result<i64, Failure> {
    let history = format!("{feed}..commits");
    match client.partitions(&history) {
        Ok(_) => Ok(client.offset(&history, 0, OffsetOf::End, Isolation::ReadCommitted)?.unwrap_or(0)),
        // Kafka takes ..commits for a topic of that name, which is not there.
        Err(error)
            if error.code() == Some(ResponseError::UnknownTopicOrPartition) && client.partitions(feed).is_ok() =>
        {
            Err(Failure::Refused(format!(
                "{} has topic {feed} but no commits of it, so it is no StreamStack broker: there are no feeds to seal",
                client.address()
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends the wish to `<feed>..seal`, and gives the commit that it made.
pub(super) fn seal(
    client: &mut Client,
    feed: &str,
    label: Option<&str>,
    metadata: Option<&str>,
    patience: std::time::Duration,
) -> Result<SealedCommit, Failure> {
    let acks = Acks::All;
    let options = SendOptions { acks, compression: Compression::None, is_idempotent: true, batch_bytes: 0, patience };
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    let wish = NewRecord { key: bytes(label), value: bytes(metadata), ..NewRecord::default() };
    let mut sender = Sender::new(client, format!("{feed}..seal"), options)?;
    sender.push(0, &wish)?;
    sender.flush()?;
    // The offset of a record to `..seal` is the number of its commit.
    let commit = sender.tally().last_offset(0).ok_or_else(|| Failure::Refused(format!("{feed} was sealed twice")))?;
    let found = manifests(client, feed, commit, commit + 1)?.pop();
    found.ok_or_else(|| Failure::Refused(format!("commit {commit} of {feed} is sealed, but has no manifest yet")))
}

/// The commit that holds a record, of those from `first` on.
pub(super) fn commit_with(
    client: &mut Client,
    feed: &str,
    first: i64,
    partition: i32,
    offset: i64,
) -> Result<Option<SealedCommit>, Failure> {
    let end = num_commits(client, feed)?;
    let found = manifests(client, feed, first.max(end - COMMITS_SEARCHED_MAX), end)?;
    Ok(found.into_iter().rev().find(|commit| commit.holds(partition, offset)))
}

fn manifests(client: &mut Client, feed: &str, start: i64, end: i64) -> Result<Vec<SealedCommit>, Failure> {
    let records = client.read(&format!("{feed}..commits"), Bounds { partition: 0, start, end })?;
    let parse = |value: &[u8]| serde_json::from_slice(value);
    records.iter().map(|record| parse(record.value.as_deref().unwrap_or_default())).collect::<Result<_, _>>().map_err(
        |error| Failure::Refused(format!("a manifest of {feed}..commits from {start} on cannot be read: {error}")),
    )
}

/// `k=v` pairs, or one JSON value, as the metadata of a commit.
pub(super) fn metadata(given: &[String]) -> Result<Option<String>, Failure> {
    match given {
        [] => return Ok(None),
        [json] if json.trim_start().starts_with(['{', '[']) => {
            return match serde_json::from_str::<Value>(json) {
                Ok(_) => Ok(Some(json.clone())),
                Err(error) => Err(Failure::Usage(format!("--metadata is no JSON: {error}"))),
            };
        }
        _ => {}
    }
    let mut object = Map::new();
    for pair in given {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--metadata {pair:?} is neither KEY=VALUE nor a JSON object")))?;
        if object.insert(key.to_owned(), json!(value)).is_some() {
            return Err(Failure::Usage(format!("--metadata has {key:?} twice")));
        }
    }
    Ok(Some(Value::Object(object).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(texts: &[&str]) -> Result<Option<String>, Failure> {
        metadata(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn metadata_is_pairs_or_json() {
        assert_eq!(given(&[]).unwrap(), None);
        assert_eq!(given(&["b=1", "a=x=y"]).unwrap().as_deref(), Some(r#"{"b":"1","a":"x=y"}"#));
        assert_eq!(given(&[r#"{"n":1}"#]).unwrap().as_deref(), Some(r#"{"n":1}"#));
        for wrong in [&["x"][..], &["a=1", "a=2"], &["{"]] {
            assert!(matches!(given(wrong), Err(Failure::Usage(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_commit_knows_its_records() {
        let manifest =
            r#"{"commit":3,"label":"x","records":5,"partitions":[{"partition":1,"runs":[{"log_base":10,"count":5}]}]}"#;
        let commit: SealedCommit = serde_json::from_str(manifest).unwrap();
        assert!(commit.holds(1, 10) && commit.holds(1, 14));
        assert!(!commit.holds(1, 15) && !commit.holds(0, 10));
        assert_eq!(commit.to_string(), "sealed as commit 3 with label \"x\": 5 records");
    }
}

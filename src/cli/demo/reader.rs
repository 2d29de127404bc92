//! Reading the feed's history: `departures..commits`, one manifest a commit.

use serde::Deserialize;

use super::FEED;
use crate::cli::client::{Client, ClientError, Record};

/// What the demo shows of a commit's manifest.
#[derive(Debug, Deserialize)]
pub struct Commit {
    pub commit: i64,
    pub label: Option<String>,
    pub records: u64,
    pub bytes: u64,
    /// Milliseconds since 1970, as `sealed`.
    pub opened: i64,
    pub sealed: i64,
}

/// A manifest that is not one.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the manifest at offset {offset} of {FEED}..commits cannot be read: {error}")]
    Json { offset: i64, error: serde_json::Error },
}

/// All commits of the feed, in order.
pub fn commits(client: &mut Client) -> Result<Vec<Commit>, ManifestError> {
    client.read_to_end(&format!("{FEED}..commits"))?.iter().map(commit).collect()
}

fn commit(record: &Record) -> Result<Commit, ManifestError> {
    let value = record.value.as_deref().unwrap_or_default();
    serde_json::from_slice(value).map_err(|error| ManifestError::Json { offset: record.offset, error })
}

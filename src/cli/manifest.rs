//! The manifest of a commit, as `..commits` gives it: what a person wants to see of it, and the JSON as it is.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::Record;
use super::failure::Failure;

/// A manifest. Fields that a newer broker adds are in `json` alone.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Manifest {
    pub feed: String,
    pub commit: i64,
    pub stream: i64,
    pub label: Option<String>,
    pub kind: String,
    pub reason: String,
    pub state: String,
    pub opened: i64,
    pub sealed: i64,
    pub partitions: Vec<ManifestPart>,
    pub records: i64,
    pub bytes: u64,
    pub tombstones: u64,
    /// Told once the feed has an index of its views.
    pub duplicates: Option<u64>,
    pub new_keys: Option<u64>,
    pub metadata: Option<Box<RawValue>>,
    /// As the broker wrote it, on one line.
    #[serde(skip)]
    pub json: String,
}

/// A commit's records in one partition.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ManifestPart {
    pub partition: i32,
    pub feed_base: i64,
    pub count: i64,
    pub bytes: u64,
    pub runs: Vec<Run>,
}

/// `[log_base, log_base + count)` of a partition's log.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Run {
    pub log_base: i64,
    pub count: i64,
}

impl Manifest {
    /// Of a record of `..commits`.
    pub fn of(record: &Record) -> Result<Manifest, Failure> {
        let bytes = record.value.as_deref().unwrap_or_default();
        let manifest: Result<Manifest, _> = serde_json::from_slice(bytes);
        let unreadable = |error| Failure::Refused(format!("manifest {} cannot be read: {error}", record.offset));
        Ok(Manifest { json: String::from_utf8_lossy(bytes).into_owned(), ..manifest.map_err(unreadable)? })
    }

    /// True for a record of the plain topic that belongs to the commit.
    pub fn holds(&self, partition: i32, offset: i64) -> bool {
        let runs = self.partitions.iter().filter(|part| part.partition == partition).flat_map(|part| &part.runs);
        runs.into_iter().any(|run| (run.log_base..run.log_base + run.count).contains(&offset))
    }

    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or("-")
    }

    pub fn metadata(&self) -> &str {
        self.metadata.as_ref().map_or("-", |metadata| metadata.get())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_manifest_knows_its_records_and_keeps_what_it_does_not_know() {
        let json = r#"{"feed":"orders","commit":3,"stream":4,"label":"x","kind":"implicit","reason":"control","opened":1,"sealed":3,"partitions":[{"partition":1,"feed_base":0,"count":5,"bytes":100,"runs":[{"log_base":10,"count":5}]}],"records":5,"bytes":100,"tombstones":0,"metadata":{"a":1},"state":"live","new":7}"#;
        let (key, value, headers) = (None, Some(Bytes::from_static(json.as_bytes())), Vec::new());
        let read = Manifest::of(&Record { partition: 0, offset: 3, timestamp: 3, key, value, headers }).unwrap();
        assert_eq!((read.commit, read.label(), read.metadata(), read.state.as_str()), (3, "x", r#"{"a":1}"#, "live"));
        assert!(read.holds(1, 10) && read.holds(1, 14));
        assert!(!read.holds(1, 15) && !read.holds(0, 10));
        assert_eq!(read.json, json);
    }
}

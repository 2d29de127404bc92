//! Sealing a feed's stream from the command line, and finding the commit that came of it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::client::{Acks, Client};
use super::failure::Failure;
use super::history::{self, History};
use super::manifest::Manifest;
use super::output::note;
use super::paint::counted;
use super::produce::{NewRecord, SendOptions, Sender};
use crate::batch::Compression;
use crate::view::name::{TopicName, parse_topic};
use crate::view::{Mode, ViewName};

/// Manifests that are looked through for the one with a record; a feed that is sealed more often meanwhile is a rarity.
const COMMITS_SEARCHED_MAX: i64 = 1_000;

/// What was sealed, in one line for people.
pub(super) fn in_words(commit: &Manifest) -> String {
    let label = commit.label.as_ref().map(|label| format!(" with label {label:?}")).unwrap_or_default();
    format!("sealed as commit {}{label}: {}", commit.commit, counted(commit.records as u64, "record"))
}

/// The same for scripts.
pub(super) fn in_json(commit: &Manifest) -> Value {
    json!({ "commit": commit.commit, "label": commit.label, "records": commit.records })
}

/// Whether a label can be written in the name of a view, as orders..named-noon.
pub(super) fn names_a_view(feed: &str, label: &str) -> bool {
    matches!(parse_topic(&format!("{feed}..named-{label}")), Ok(TopicName::View(ViewName { mode: Mode::Raw, .. })))
}

/// A commit whose label names no view is read by its number.
pub(super) fn note_unspelled_label(feed: &str, commit: &Manifest) {
    if commit.label.as_ref().is_some_and(|label| !names_a_view(feed, label)) {
        note(format_args!(
            "the label cannot be written in the name of a view; the commit can be read as {feed}..commit-{}",
            commit.commit
        ));
    }
}

/// Sends the wish to `<feed>..seal`, and gives the commit that it made.
pub(super) fn seal(
    client: &mut Client,
    feed: &str,
    label: Option<&str>,
    metadata: Option<&str>,
    patience: Duration,
) -> Result<Manifest, Failure> {
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
) -> Result<Option<Manifest>, Failure> {
    let end = history::bounds(client, feed, "commits")?.end;
    let found = manifests(client, feed, first.max(end - COMMITS_SEARCHED_MAX), end)?;
    Ok(found.into_iter().rev().find(|commit| commit.holds(partition, offset)))
}

fn manifests(client: &mut Client, feed: &str, start: i64, end: i64) -> Result<Vec<Manifest>, Failure> {
    let mut found = Vec::new();
    History::from(format!("{feed}..commits"), start).read_until(client, end, |records| {
        found.extend(records.iter().map(Manifest::of).collect::<Result<Vec<_>, _>>()?);
        Ok(())
    })?;
    Ok(found)
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
    fn a_label_names_a_view_if_it_can_be_written_in_a_name() {
        for label in ["noon", "2026-01-01", "a.b_c-9"] {
            assert!(names_a_view("orders", label), "{label}");
        }
        let long = "x".repeat(250);
        for label in ["", "a b", "14:00", "a..b", "noon..latest", "\u{e9}", &long] {
            assert!(!names_a_view("orders", label), "{label}");
        }
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
}

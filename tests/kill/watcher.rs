//! A reader that remembers what the broker showed: it must still be there, and the same, after the crash.

use std::collections::BTreeMap;

use bytes::Bytes;
use streamstack::cli::client::{Bounds, Client, ClientError};

use super::TOPIC;
use super::stamp::Placed;

/// What was seen.
#[derive(Default)]
pub struct Shown {
    /// The end of each partition.
    pub ends: BTreeMap<i32, i64>,
    /// Manifests by commit number.
    pub manifests: Vec<Bytes>,
    /// Contents by commit number.
    pub contents: BTreeMap<i64, Vec<Placed>>,
}

/// Reads until the broker is gone.
pub fn run(address: &str, shown: &mut Shown) {
    let Ok(mut client) = Client::connect(address) else { return };
    loop {
        match look(&mut client, shown) {
            Ok(()) => {}
            Err(error) if error.is_disconnect() => return,
            Err(error) => panic!("reader: {error}"),
        }
    }
}

fn look(client: &mut Client, shown: &mut Shown) -> Result<(), ClientError> {
    for Bounds { partition, end, .. } in client.bounds(TOPIC)? {
        shown.ends.insert(partition, end);
    }
    let known = shown.manifests.len() as i64;
    for manifest in new_manifests(client, known)? {
        shown.manifests.push(manifest);
    }
    if let Some(newest) = (shown.manifests.len() as i64).checked_sub(1).filter(|newest| *newest >= known) {
        shown.contents.insert(newest, contents(client, newest)?);
    }
    Ok(())
}

/// The manifests of commits from `known` on.
pub fn new_manifests(client: &mut Client, known: i64) -> Result<Vec<Bytes>, ClientError> {
    let end = client.bounds(&format!("{TOPIC}..commits"))?[0].end;
    manifests(client, known, end)
}

/// Those of the commits `[start, end)`, checked to be numbered without a gap.
pub fn manifests(client: &mut Client, start: i64, end: i64) -> Result<Vec<Bytes>, ClientError> {
    let records = client.read(&format!("{TOPIC}..commits"), Bounds { partition: 0, start, end })?;
    let manifests = records.into_iter().zip(start..).map(|(record, number)| {
        assert_eq!(record.offset, number, "commits are dense");
        record.value.expect("a manifest")
    });
    Ok(manifests.collect())
}

pub fn contents(client: &mut Client, commit: i64) -> Result<Vec<Placed>, ClientError> {
    let records = client.read_to_end(&format!("{TOPIC}..commit-{commit}"))?;
    Ok(records.iter().map(Placed::of).collect())
}

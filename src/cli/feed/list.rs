//! `streamstack feed list`.

use super::facts::{self, FeedFacts};
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::output::{Format, human_bytes, note, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table};
use crate::cli::text::{printable, utc};

pub fn run(client: &mut Client, containing: Option<&str>, format: Format) -> Result<(), Failure> {
    let mut topics = client.topics()?;
    topics.retain(|topic| !topic.is_internal && containing.is_none_or(|part| topic.name.contains(part)));
    let feeds = facts::of(client, topics)?;
    if feeds.is_empty() && format == Format::Table {
        note("there are no such feeds");
    }
    write_out(match format {
        Format::Json => feeds.iter().map(|feed| format!("{}\n", feed.json())).collect(),
        Format::Table => table().rows(&feeds.iter().map(row).collect::<Vec<_>>()),
    })?;
    Ok(())
}

fn table() -> Table {
    let columns = [
        ("FEED", Align::Left),
        ("PARTITIONS", Align::Right),
        ("RECORDS", Align::Right),
        ("BYTES", Align::Right),
        ("COMMITS", Align::Right),
        ("LAST COMMIT (UTC)", Align::Left),
        ("LABEL", Align::Left),
    ];
    Table::new(&columns, Paint::of_stdout())
}

fn row(feed: &FeedFacts) -> Vec<String> {
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        feed.name.clone(),
        feed.parts.len().to_string(),
        known(feed.records().map(grouped)),
        known(feed.bytes().map(human_bytes)),
        known(feed.commits.map(|commits| grouped(commits as u64))),
        known(feed.last.as_ref().map(|last| utc(last.sealed))),
        known(feed.last.as_ref().map(|last| printable(last.label().as_bytes()))),
    ]
}

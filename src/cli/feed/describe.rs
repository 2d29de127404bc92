//! `streamstack feed describe`.

use serde_json::{Value, json};

use super::facts::{self, FeedFacts, PartFacts};
use crate::cli::client::{Client, ConfigFacts, TopicFacts};
use crate::cli::failure::Failure;
use crate::cli::manifest::Manifest;
use crate::cli::output::{Format, human_bytes, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table, card};
use crate::cli::text::{printable, utc};

const DURABILITY: &str = "streamstack.durability";

/// A feed with its surroundings.
struct Described {
    feed: FeedFacts,
    /// What the broker does before it acknowledges; none where it does not say.
    durability: Option<String>,
    /// Set on the feed.
    configs: Vec<ConfigFacts>,
}

pub fn run(client: &mut Client, feed: &str, format: Format) -> Result<(), Failure> {
    let described = find(client, feed)?;
    write_out(match format {
        Format::Json => format!("{}\n", described.json()),
        Format::Table => described.text(Paint::of_stdout()),
    })?;
    Ok(())
}

fn find(client: &mut Client, feed: &str) -> Result<Described, Failure> {
    if feed.contains("..") {
        return Err(Failure::Usage(format!("{feed} is a view: name the feed alone")));
    }
    let topic = TopicFacts { name: feed.to_owned(), partitions: client.partitions(feed)?, is_internal: false };
    let found = facts::of(client, vec![topic])?.into_iter().next();
    let found = found.ok_or_else(|| Failure::Refused(format!("{feed} has gone")))?;
    let configs = own_configs(client, feed)?;
    Ok(Described { feed: found, durability: durability(client)?, configs })
}

/// What was set on the feed, by name.
pub fn own_configs(client: &mut Client, feed: &str) -> Result<Vec<ConfigFacts>, Failure> {
    let mut configs = client.topic_configs(feed)?;
    configs.retain(|config| config.is_own);
    configs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(configs)
}

fn durability(client: &mut Client) -> Result<Option<String>, Failure> {
    let Some(broker) = client.cluster()?.brokers.into_iter().next() else { return Ok(None) };
    let configs = client.broker_configs(broker.id)?;
    Ok(configs.into_iter().find(|config| config.name == DURABILITY).and_then(|config| config.value))
}

impl Described {
    fn json(&self) -> Value {
        let mut object = self.feed.json();
        let parts = self.feed.parts.iter().map(|part| {
            json!({
                "partition": part.partition,
                "start": part.start,
                "end": part.end,
                "records": part.records(),
                "bytes": part.bytes,
            })
        });
        object["partitions"] = parts.collect();
        object["durability"] = json!(self.durability);
        let configs = self.configs.iter().map(|config| (config.name.clone(), json!(config.value)));
        object["configs"] = Value::Object(configs.collect());
        object
    }

    fn text(&self, paint: Paint) -> String {
        let FeedFacts { commits, first, last, .. } = &self.feed;
        let known = |text: Option<String>| text.unwrap_or_else(|| "not told by this broker".to_owned());
        let mut lines = vec![
            ("records", known(self.feed.records().map(grouped))),
            ("bytes", known(self.feed.bytes().map(human_bytes))),
            ("commits", known(commits.map(|commits| grouped(commits as u64)))),
        ];
        lines.extend(first.iter().map(|first| ("first commit", commit(first))));
        lines.extend(last.iter().map(|last| ("last commit", commit(last))));
        lines.push(("durability", known(self.durability.as_deref().map(durability_in_words))));
        let mut name = "configs set";
        for config in &self.configs {
            lines.push((std::mem::take(&mut name), config_in_words(config)));
        }
        if self.configs.is_empty() {
            lines.push((name, "none: the broker's hold".to_owned()));
        }
        format!("{}{}", card(&self.feed.name, &lines, paint), partitions(&self.feed.parts, paint))
    }
}

fn commit(manifest: &Manifest) -> String {
    let Manifest { commit, sealed, .. } = manifest;
    format!("{commit}, sealed {} UTC, label {}", utc(*sealed), printable(manifest.label().as_bytes()))
}

fn durability_in_words(mode: &str) -> String {
    match mode {
        "fsync" => "fsync: an acknowledged record survives power loss".to_owned(),
        "os" => "os: an acknowledged record survives a crash of the process, not power loss".to_owned(),
        other => other.to_owned(),
    }
}

pub fn config_in_words(config: &ConfigFacts) -> String {
    let default = config.default.as_ref().map(|default| format!(" (default {default})")).unwrap_or_default();
    format!("{}={}{default}", config.name, config.value.as_deref().unwrap_or("(not told)"))
}

fn partitions(parts: &[PartFacts], paint: Paint) -> String {
    let columns = ["  PARTITION", "START", "END", "RECORDS", "BYTES"].map(|head| (head, Align::Right));
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let row = |part: &PartFacts| {
        vec![
            part.partition.to_string(),
            known(part.start.map(|offset| offset.to_string())),
            known(part.end.map(|offset| offset.to_string())),
            known(part.records().map(grouped)),
            known(part.bytes.map(human_bytes)),
        ]
    };
    Table::new(&columns, paint).rows(&parts.iter().map(row).collect::<Vec<_>>())
}

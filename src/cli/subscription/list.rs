//! `streamstack subscription list`.

use serde_json::{Value, json};

use super::ListArgs;
use super::commits::Unit;
use super::lag::{self, Lag};
use crate::cli::client::{Client, GroupFacts};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, note, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table};
use crate::cli::text::printable;

/// A subscription and how far it is behind, all in all.
struct Listed {
    group: GroupFacts,
    topics: Vec<String>,
    lags: Vec<Lag>,
}

pub fn run(client: &mut Client, args: &ListArgs) -> Result<(), Failure> {
    let mut groups = client.groups()?;
    groups.retain(|group| args.containing.as_ref().is_none_or(|part| group.name.contains(part.as_str())));
    if groups.is_empty() && args.output.format == Format::Table {
        note("there are no such subscriptions");
    }
    let mut listed = Vec::with_capacity(groups.len());
    for group in groups {
        let lags = match client.group_positions(&group.name)? {
            none if none.is_empty() => Vec::new(),
            positions => lag::counted(client, positions)?,
        };
        let mut topics: Vec<String> = lags.iter().map(|lag| lag.position.topic.clone()).collect();
        topics.dedup();
        listed.push(Listed { group, topics, lags });
    }
    write_out(match args.output.format {
        Format::Json => listed.iter().map(|listed| format!("{}\n", listed.json())).collect(),
        Format::Table => table().rows(&listed.iter().map(Listed::row).collect::<Vec<_>>()),
    })?;
    Ok(())
}

impl Listed {
    /// Of the topics that count in it; none when there are no such. Where a topic is gone nothing can be read.
    fn behind(&self, unit: Unit) -> Option<u64> {
        let mut counted = self.lags.iter().filter(|lag| Unit::of(&lag.position.topic) == unit).peekable();
        counted.peek()?;
        Some(counted.filter_map(|lag| lag.records).sum())
    }

    fn json(&self) -> Value {
        json!({
            "subscription": self.group.name,
            "state": self.group.state,
            "kind": self.group.kind,
            "topics": self.topics,
            "positions": self.lags.len(),
            "lag_records": self.behind(Unit::Records),
            "lag_commits": self.behind(Unit::Commits),
            "lag_events": self.behind(Unit::Events),
        })
    }

    fn row(&self) -> Vec<String> {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), grouped);
        let known = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        vec![
            printable(self.group.name.as_bytes()),
            known(&self.group.state),
            known(&self.group.kind),
            self.lags.len().to_string(),
            number(self.behind(Unit::Records)),
            number(self.behind(Unit::Commits)),
            known(&self.topics.join(", ")),
        ]
    }
}

fn table() -> Table {
    let columns = [
        ("SUBSCRIPTION", Align::Left),
        ("STATE", Align::Left),
        ("KIND", Align::Left),
        ("POSITIONS", Align::Right),
        ("RECORDS BEHIND", Align::Right),
        ("COMMITS BEHIND", Align::Right),
        ("TOPICS", Align::Left),
    ];
    Table::new(&columns, Paint::of_stdout())
}

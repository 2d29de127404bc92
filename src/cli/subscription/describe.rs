//! `streamstack subscription describe`.

use serde_json::json;

use super::DescribeArgs;
use super::lag::{self, Lag};
use crate::cli::client::{Client, GroupPosition};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, note, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table};
use crate::cli::text::{age, printable};

pub fn run(client: &mut Client, args: &DescribeArgs) -> Result<(), Failure> {
    let positions = positions(client, &args.subscription, args.topic.as_deref())?;
    if positions.is_empty() {
        // A group whose members have committed nothing yet is one too.
        let found = client.groups()?.into_iter().any(|group| group.name == args.subscription);
        if !found {
            return Err(unknown(&args.subscription));
        }
        note(format_args!("{} has no positions there yet", args.subscription));
        return Ok(());
    }
    let lags = lag::complete(client, positions)?;
    write_out(match args.output.format {
        Format::Json => lags.iter().map(|lag| json_line(&args.subscription, lag)).collect(),
        Format::Table => table().rows(&lags.iter().map(row).collect::<Vec<_>>()),
    })?;
    Ok(())
}

/// The positions of a subscription, in one topic or in all.
pub fn positions(client: &mut Client, group: &str, topic: Option<&str>) -> Result<Vec<GroupPosition>, Failure> {
    let mut positions = client.group_positions(group)?;
    positions.retain(|position| topic.is_none_or(|topic| position.topic == topic));
    Ok(positions)
}

pub fn unknown(group: &str) -> Failure {
    let name = printable(group.as_bytes());
    Failure::Refused(format!("there is no subscription {name}: `streamstack subscription list` shows which there are"))
}

fn json_line(group: &str, lag: &Lag) -> String {
    let mut object = lag.json();
    object["subscription"] = json!(group);
    format!("{object}\n")
}

fn table() -> Table {
    let columns = [
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("POSITION", Align::Right),
        ("END", Align::Right),
        ("OFFSETS", Align::Right),
        ("RECORDS", Align::Right),
        ("COMMITS", Align::Right),
        ("BEHIND", Align::Right),
        ("METADATA", Align::Left),
    ];
    Table::new(&columns, Paint::of_stdout())
}

fn row(lag: &Lag) -> Vec<String> {
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let metadata = printable(lag.position.metadata.as_bytes());
    vec![
        lag.position.topic.clone(),
        lag.position.partition.to_string(),
        lag.position.offset.to_string(),
        known(lag.end.map(|end| end.to_string())),
        known(lag.offsets.map(grouped)),
        known(lag.records.map(grouped)),
        known(lag.commits.map(grouped)),
        known(lag.behind_ms().map(age)),
        if metadata.is_empty() { "-".to_owned() } else { metadata },
    ]
}

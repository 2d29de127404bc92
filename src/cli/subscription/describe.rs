//! `streamstack subscription describe`.

use serde_json::{Value, json};

use super::DescribeArgs;
use super::lag::{self, Lag};
use super::members;
use crate::cli::client::{Client, GroupMember, GroupPosition, Membership};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, note, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table};
use crate::cli::text::{age, printable};

pub fn run(client: &mut Client, args: &DescribeArgs) -> Result<(), Failure> {
    let group = &args.subscription;
    let positions = positions(client, group, args.topic.as_deref())?;
    let Some(membership) = client.membership(group)? else { return Err(unknown(group)) };
    let lags = lag::complete(client, positions)?;
    if lags.is_empty() {
        note(format_args!("{group} has no positions there yet"));
    }
    write_out(match args.output.format {
        Format::Json => lines(group, &membership, &lags),
        Format::Table => text(group, &membership, &lags),
    })?;
    Ok(())
}

fn text(group: &str, membership: &Membership, lags: &[Lag]) -> String {
    let members = members::table(membership);
    let gap = if members.is_empty() || lags.is_empty() { "" } else { "\n" };
    let positions = table().rows(&lags.iter().map(row).collect::<Vec<_>>());
    format!("{}{members}{gap}{positions}", members::summary(group, membership))
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

/// A line for each position, or one when there are none.
fn lines(group: &str, membership: &Membership, lags: &[Lag]) -> String {
    let Membership { state, protocol, members, .. } = membership;
    let line = |mut object: Value, reader: Option<&GroupMember>| {
        object["subscription"] = json!(group);
        object["state"] = json!(state);
        object["protocol"] = json!(protocol);
        object["members"] = json!(members.len());
        object["member"] = json!(reader.map(|member| &member.id));
        object["client"] = json!(reader.map(|member| &member.client));
        format!("{object}\n")
    };
    if lags.is_empty() {
        return line(json!({ "topic": null }), None);
    }
    let reader = |lag: &Lag| membership.reader(&lag.position.topic, lag.position.partition);
    lags.iter().map(|lag| line(lag.json(), reader(lag))).collect()
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

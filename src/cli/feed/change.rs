//! `streamstack feed create`, `delete` and `configure`.

use serde_json::{Value, json};

use super::describe::{config_in_words, own_configs};
use super::{ConfigureArgs, CreateArgs, DeleteArgs};
use crate::cli::client::{Client, ConfigFacts};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, note, write_out};
use crate::cli::paint::counted;
use crate::cli::text::printable;

/// Subscriptions whose unread history is kept.
const RETAIN: &str = "streamstack.retain";

/// The broker's num.partitions.
const BROKERS_NUMBER: i32 = -1;

pub(super) fn create(client: &mut Client, args: &CreateArgs) -> Result<(), Failure> {
    let configs: Vec<(&str, &str)> = args.config.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    client.create_topic(&args.feed, args.partitions.unwrap_or(BROKERS_NUMBER), &configs)?;
    let partitions = client.partitions(&args.feed)?.len();
    write_out(match args.output.format {
        Format::Json => format!("{}\n", json!({ "feed": args.feed, "partitions": partitions })),
        Format::Table => format!("made {}: {}\n", args.feed, counted(partitions as u64, "partition")),
    })?;
    tell_missing_subscriptions(client, &args.config)
}

pub(super) fn delete(client: &mut Client, args: &DeleteArgs) -> Result<(), Failure> {
    let feed = &args.feed;
    if !args.yes {
        client.partitions(feed)?;
        let message = format!("this deletes {feed} with all its records and commits, for ever: say --yes");
        return Err(Failure::Usage(message));
    }
    client.delete_topic(feed)?;
    write_out(match args.output.format {
        Format::Json => format!("{}\n", json!({ "feed": feed, "deleted": true })),
        Format::Table => format!("deleted {feed}\n"),
    })?;
    Ok(())
}

pub(super) fn configure(client: &mut Client, args: &ConfigureArgs) -> Result<(), Failure> {
    let set = args.set.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
    let changes: Vec<(String, Option<String>)> = set.chain(args.unset.iter().map(|key| (key.clone(), None))).collect();
    if let Some((key, _)) =
        changes.iter().enumerate().find_map(|(n, change)| changes[..n].iter().find(|other| other.0 == change.0))
    {
        return Err(Failure::Usage(format!("{key} stands twice: set or unset it, once")));
    }
    if !changes.is_empty() {
        client.alter_topic(&args.feed, &changes)?;
    }
    if let Some(total) = args.partitions {
        client.add_partitions(&args.feed, total)?;
    }
    let partitions = client.partitions(&args.feed)?.len();
    let configs = own_configs(client, &args.feed)?;
    write_out(match args.output.format {
        Format::Json => format!("{}\n", as_json(&args.feed, partitions, &configs)),
        Format::Table => as_text(&args.feed, partitions, &configs),
    })?;
    tell_missing_subscriptions(client, &args.set)
}

/// A name that is spelled wrong keeps nothing, and no error tells.
fn tell_missing_subscriptions(client: &mut Client, set: &[(String, String)]) -> Result<(), Failure> {
    let Some((_, names)) = set.iter().find(|(key, _)| key == RETAIN) else { return Ok(()) };
    let known = client.groups()?;
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !known.iter().any(|group| group.name == name) {
            let name = printable(name.as_bytes());
            note(format_args!("there is no subscription {name} yet: nothing is kept for it until it has a position"));
        }
    }
    Ok(())
}

fn as_json(feed: &str, partitions: usize, configs: &[ConfigFacts]) -> Value {
    let configs: serde_json::Map<_, _> =
        configs.iter().map(|config| (config.name.clone(), json!(config.value))).collect();
    json!({ "feed": feed, "partitions": partitions, "configs": configs })
}

fn as_text(feed: &str, partitions: usize, configs: &[ConfigFacts]) -> String {
    let lines: Vec<String> = configs.iter().map(|config| format!("  {}\n", config_in_words(config))).collect();
    let lines = if lines.is_empty() { "  no config is set: the broker's hold\n".to_owned() } else { lines.concat() };
    format!("{feed}: {}\n{lines}", counted(partitions as u64, "partition"))
}

//! `streamstack subscription delete`.

use serde_json::json;

use super::DeleteArgs;
use super::describe::{positions, unknown};
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::output::{Format, write_out};
use crate::cli::paint::counted;

pub fn run(client: &mut Client, args: &DeleteArgs) -> Result<(), Failure> {
    let group = &args.subscription;
    let found = positions(client, group, args.topic.as_deref())?;
    match &args.topic {
        Some(topic) if found.is_empty() => {
            return Err(Failure::Refused(format!("{group} has no positions in {topic}")));
        }
        None if found.is_empty() && !client.groups()?.iter().any(|known| known.name == *group) => {
            return Err(unknown(group));
        }
        _ => {}
    }
    let what = match &args.topic {
        Some(topic) => format!("{} of {group} in {topic}", counted(found.len() as u64, "position")),
        None => format!("{group} with {}", counted(found.len() as u64, "position")),
    };
    if args.output.format == Format::Table && !args.consent.yes {
        write_out(format_args!("this deletes {what}\n"))?;
    }
    if args.consent.given()? {
        match &args.topic {
            Some(_) => client.forget_positions(group, &found)?,
            None => client.delete_group(group)?,
        }
    }
    match args.output.format {
        Format::Json => {
            let object = json!({
                "subscription": group, "topic": args.topic, "positions": found.len(), "deleted": args.consent.yes,
            });
            write_out(format_args!("{object}\n"))?;
        }
        Format::Table if args.consent.yes => write_out(format_args!("deleted {what}\n"))?,
        Format::Table => {}
    }
    Ok(())
}

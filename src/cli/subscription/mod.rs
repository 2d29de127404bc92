//! `streamstack subscription`: consumer groups as named positions: how far they are behind, and moving them.

mod commits;
mod delete;
mod describe;
mod lag;
mod list;
mod members;
mod reset;
mod target;

use super::broker_args::BrokerArgs;
use super::consent::Consent;
use super::failure::Failure;
use super::output::FormatArgs;
use super::text::parse_time;

const EXAMPLES: &str = "\
Examples:
  streamstack subscription list
  streamstack subscription describe warehouse
  streamstack subscription reset warehouse orders --to-earliest --dry-run
  streamstack subscription reset warehouse orders..commits --to-commit 17 --yes   redo from commit 17
  streamstack subscription reset warehouse orders..feed --to-datetime 2026-01-01T09:30 --yes
  streamstack subscription delete warehouse --yes

A subscription is a consumer group. On a topic its position is an offset of the log, on orders..feed an
offset of the feed, on orders..commits the number of a commit.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    broker: BrokerArgs,
}

#[derive(clap::Subcommand)]
enum Command {
    /// One line for each subscription: its state, what it reads, how many records or commits it is behind
    List(ListArgs),
    /// Its state, its members, where it reads on, and how far behind that is: in offsets, records, commits and time
    ///
    /// On dedup, latest, live and changed it is at most so many records and commits: those that the view leaves out count too.
    Describe(DescribeArgs),
    /// Move a subscription that has no members; shows what it is going to do
    Reset(ResetArgs),
    /// Delete a subscription that has no members, or its positions in one topic
    Delete(DeleteArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    /// Only subscriptions whose name holds this
    containing: Option<String>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct DescribeArgs {
    /// The subscription: the name of a consumer group
    subscription: String,
    /// Only in this topic or view
    topic: Option<String>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("target").required(true))]
struct ResetArgs {
    /// The subscription: the name of a consumer group; made if there is none
    subscription: String,
    /// The topic or view: orders, orders..feed, orders..commits
    topic: String,
    /// Only this partition; may be given many times
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(0..))]
    partition: Vec<i32>,
    /// To the oldest record that is there
    #[arg(long, group = "target")]
    to_earliest: bool,
    /// Past the newest record
    #[arg(long, group = "target")]
    to_latest: bool,
    /// To this offset, or as near as the topic reaches
    #[arg(long, group = "target", value_name = "OFFSET", value_parser = clap::value_parser!(i64).range(0..))]
    to_offset: Option<i64>,
    /// To the first record of this commit
    #[arg(long, group = "target", value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    to_commit: Option<i64>,
    /// To the first record of this time (of the first commit sealed then, on a view), in UTC as 2026-01-01T09:30
    #[arg(long, group = "target", value_name = "TIME", value_parser = time)]
    to_datetime: Option<i64>,
    /// By so many offsets, back if negative
    #[arg(long, group = "target", value_name = "NUMBER", allow_hyphen_values = true)]
    shift_by: Option<i64>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct DeleteArgs {
    /// The subscription: the name of a consumer group
    subscription: String,
    /// Only its positions in this topic or view
    #[arg(long)]
    topic: Option<String>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    output: FormatArgs,
}

fn time(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no time in UTC, as 2026-01-01, 2026-01-01T09:30 or 2026-01-01T09:30:00Z");
    parse_time(text).ok_or_else(wrong)
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut client = args.broker.connect()?;
    match &args.command {
        Command::List(list) => list::run(&mut client, list),
        Command::Describe(describe) => describe::run(&mut client, describe),
        Command::Reset(reset) => reset::run(&mut client, reset),
        Command::Delete(delete) => delete::run(&mut client, delete),
    }
}

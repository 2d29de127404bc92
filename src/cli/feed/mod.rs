//! `streamstack feed`: topics as feeds, listed, described, made, changed and deleted.

mod change;
mod describe;
mod facts;
mod list;

use super::broker_args::BrokerArgs;
use super::failure::Failure;
use super::output::FormatArgs;
use super::produce::pair;

const EXAMPLES: &str = "\
Examples:
  streamstack feed list
  streamstack feed create orders --partitions 3 --config streamstack.seal.ms=60000
  streamstack feed describe orders
  streamstack feed configure orders streamstack.seal.ms=1000 --unset retention.ms
  streamstack feed delete orders --yes";

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
    /// One line for each feed: partitions, records, commits
    List(ListArgs),
    /// All of one feed: partitions, commits, configs that were set, what durability means here
    Describe(DescribeArgs),
    /// Make a feed
    Create(CreateArgs),
    /// Delete a feed with all its records and commits
    Delete(DeleteArgs),
    /// Set or unset configs, or add partitions; without changes show what is set
    Configure(ConfigureArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    /// Only feeds whose name holds this
    containing: Option<String>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct DescribeArgs {
    /// The feed
    feed: String,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct CreateArgs {
    /// Its name
    feed: String,
    /// How many [default: the broker's num.partitions]
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// A config to set; may be given many times
    #[arg(long, short, value_name = "KEY=VALUE", value_parser = pair)]
    config: Vec<(String, String)>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct DeleteArgs {
    /// The feed
    feed: String,
    /// Really: nothing brings it back
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct ConfigureArgs {
    /// The feed
    feed: String,
    /// Configs to set
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// A config to unset, so that the broker's holds again; may be given many times
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
    /// Add partitions until there are so many; keys go to other partitions then
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    #[command(flatten)]
    output: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut client = args.broker.connect()?;
    match &args.command {
        Command::List(list) => list::run(&mut client, list.containing.as_deref(), list.output.format),
        Command::Describe(describe) => describe::run(&mut client, &describe.feed, describe.output.format),
        Command::Create(create) => change::create(&mut client, create),
        Command::Delete(delete) => change::delete(&mut client, delete),
        Command::Configure(configure) => change::configure(&mut client, configure),
    }
}

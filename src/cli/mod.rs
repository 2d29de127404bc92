//! Commands of the operator: one file each, with its `Args` and `run`. What a command answers goes to
//! standard output, logs go to standard error.
//!
//! Exit codes: 0 done, 1 the command failed or a check came out wrong, 2 wrong arguments or configs, 130 ended by Ctrl-C.

mod args;
mod broker_args;
pub mod client;
mod commits;
mod completion;
mod config;
mod consent;
mod demo;
mod diff;
mod doctor;
mod explain;
mod failure;
mod feed;
mod history;
mod inspect;
mod interrupt;
mod log;
mod manifest;
mod output;
mod paint;
mod produce;
mod progress;
mod read;
mod running;
mod seal;
mod serve;
mod stream;
mod subscription;
mod table;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use args::ConfigArgs;
pub use output::{human_bytes, print};
pub use running::{runtime, start_broker};

const EXAMPLES: &str = "\
Examples:
  streamstack serve                              a broker on 127.0.0.1:9092
  echo hello | streamstack produce orders --seal
  streamstack read orders --commit 0
  streamstack commits list orders
  streamstack doctor

`streamstack <command> --help` tells more, with examples. Commands that talk to a broker take
its address from --bootstrap or STREAMSTACK_BOOTSTRAP.
Exit codes: 0 done, 1 refused or failed, 2 wrong arguments, 130 ended by Ctrl-C.";

/// A Kafka-protocol broker whose topics are feeds with a commit history.
#[derive(Parser)]
#[command(name = "streamstack", version, about, max_term_width = 110, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    log: log::Args,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a broker; without arguments on 127.0.0.1:9092 with its data in ./streamstack-data
    Serve(serve::Args),
    /// Show every config: its value and where it comes from
    Config(config::Args),
    /// Show and verify what a data folder holds; the broker must be stopped
    Inspect(inspect::InspectArgs),
    /// Show what feeds and commits are, on a day of real data
    Demo(demo::Args),
    /// Send lines to a topic, as records
    ///
    /// Each line of the input becomes a record. What was read is sent at once; what is lost on the way is sent again, and
    /// still stands there once (an idempotent producer). Keys choose partitions as Kafka's own producers do.
    Produce(produce::Args),
    /// Read a topic, a commit, a range of commits or any other view
    ///
    /// Reads from the start to the end as of now. A bounded view (a commit, a range, an hour) that is not sealed yet is
    /// refused, or waited for with --follow.
    Read(read::Args),
    /// Show what changed between two commits: new, changed and vanished keys
    Diff(diff::Args),
    /// Say what the name of a view means, how large it is, and why it cannot be read if so
    Explain(explain::Args),
    /// List, describe, make, configure and delete feeds
    ///
    /// A feed is a topic with the history of its commits.
    Feed(feed::Args),
    /// List and show the commits of a feed
    ///
    /// A commit is what a seal made of a feed's stream: numbered from 0, whole or not there, and never changed.
    Commits(commits::Args),
    /// List and show the streams of a feed, and seal the open one
    ///
    /// A stream is what is written between two seals. Sealed, it becomes a commit.
    Stream(stream::Args),
    /// List, describe, reset and delete subscriptions: the consumer groups
    ///
    /// A subscription is a named position that the broker keeps for its readers.
    Subscription(subscription::Args),
    /// Look at a broker from here, or at a data folder, and say what to do
    ///
    /// Connects as a client does, and looks at what goes wrong most often: the address that clients are told and whether it
    /// answers from here, versions, clocks, disk space, durability. Writes nothing to the broker.
    Doctor(doctor::Args),
    /// Print what a shell needs to complete commands and options
    ///
    /// Put it where the shell looks for completions.
    Completion(completion::Args),
}

impl Command {
    /// What is logged unless the operator says otherwise.
    fn log_level(&self) -> &'static str {
        match self {
            Command::Serve(_) | Command::Config(_) | Command::Inspect(_) => "info",
            _ => "warn",
        }
    }
}

/// Runs the command of the process' arguments.
pub fn main() -> ExitCode {
    let Cli { log, command } = Cli::parse();
    if let Err(error) = log::start(&log, command.log_level()) {
        return wrong_usage(&error);
    }
    match command {
        Command::Serve(args) => serve::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Produce(args) => failure::exit_code(produce::run(&args)),
        Command::Read(args) => failure::exit_code(read::run(&args)),
        Command::Diff(args) => failure::exit_code(diff::run(&args)),
        Command::Explain(args) => failure::exit_code(explain::run(&args)),
        Command::Feed(args) => failure::exit_code(feed::run(&args)),
        Command::Commits(args) => failure::exit_code(commits::run(&args)),
        Command::Stream(args) => failure::exit_code(stream::run(&args)),
        Command::Subscription(args) => failure::exit_code(subscription::run(&args)),
        Command::Doctor(args) => failure::exit_code(doctor::run(&args)),
        Command::Completion(args) => failure::exit_code(completion::run::<Cli>(&args)),
    }
}

/// Tells what is wrong with the arguments or configs.
fn wrong_usage(error: &dyn std::error::Error) -> ExitCode {
    output::complain(error);
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_two_flags_of_a_command_are_called_alike() {
        Cli::command().debug_assert();
    }
}

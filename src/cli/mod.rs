//! Commands of the operator: one file each, with its `Args` and `run`. What a command answers goes to
//! standard output, logs go to standard error.
//!
//! Exit codes: 0 done, 1 the command failed or a check came out wrong, 2 wrong arguments or configs.

mod args;
pub mod client;
mod config;
mod demo;
mod inspect;
mod log;
mod output;
mod running;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use args::ConfigArgs;
pub use output::{human_bytes, print};
pub use running::{runtime, start_broker};

/// A Kafka-protocol broker whose topics are feeds with a commit history.
#[derive(Parser)]
#[command(name = "streamstack", version, about, max_term_width = 110, propagate_version = true)]
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
}

impl Command {
    /// What is logged unless the operator says otherwise.
    fn log_level(&self) -> &'static str {
        match self {
            Command::Demo(_) => "warn",
            _ => "info",
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
    }
}

/// Tells what is wrong with the arguments or configs.
fn wrong_usage(error: &dyn std::error::Error) -> ExitCode {
    output::complain(error);
    ExitCode::from(2)
}

//! `cargo bench --bench compare`: StreamStack and the real Apache Kafka on this machine, in turn, under the same load.
//!
//! The load speaks the wire protocol itself with requests encoded once beforehand, so that nearly all of the machine is
//! left to the broker: a real client would be the bottleneck. `-- --help` lists the options, and the commands that put
//! one load on any broker.
#![allow(clippy::disallowed_methods, reason = "a measurement asks the real clock and writes real files")]

mod broker;
mod command;
mod contest;
mod crowds;
mod feeds;
mod figure;
mod groups;
mod lives;
mod load;
mod memory;
mod open;
mod options;
mod process;
mod report;
mod sample;
mod transactions;
mod views;
mod wire;
mod workload;

use clap::Parser;

/// What went wrong, for a person to read.
type Fault = Box<dyn std::error::Error>;

fn main() -> Result<(), Fault> {
    let options = options::Options::parse();
    match &options.command {
        Some(options::Command::Lives { topics, megabytes }) => lives::run(&options, *topics, *megabytes),
        Some(options::Command::Feeds { commits, feeds }) => feeds::run(&options, *commits, *feeds),
        Some(options::Command::Groups) => groups::run(&options),
        Some(options::Command::Transactions) => transactions::run(&options),
        Some(options::Command::Open { streams, polls, pause_ms }) => {
            open::run(&options, *streams, open::Day { polls: *polls, pause_ms: *pause_ms })
        }
        Some(options::Command::Views { records, largest }) => views::run(&options, *records, *largest),
        Some(options::Command::Crowds { idle }) => crowds::run(&options, *idle),
        Some(command) => command::run(command),
        None => {
            let results = contest::run(&options)?;
            report::print(&results, options.json)?;
            Ok(())
        }
    }
}

//! `streamstack demo`: a day of hourly polls becomes 24 commits, is read back in several ways, and every count is checked.
//!
//! All of it goes over the wire, as any Kafka client would do it; the broker runs in this process.

mod checks;
mod feeder;
mod host;
mod polls;
mod reader;
mod timeline;

use std::path::PathBuf;
use std::process::ExitCode;

use super::client::{Client, ClientError};
use super::paint::Paint;
use super::print;
use checks::Checks;
use host::{Host, HostError};
use polls::{Poll, PollsError};

/// The feed of the demo.
const FEED: &str = "departures";

#[derive(clap::Args)]
pub(super) struct Args {
    /// Keep the data here (default: a temporary folder, removed at the end)
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Listen on this port of 127.0.0.1 (default: a free one)
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// End at once instead of keeping the broker for you to look at
    #[arg(long)]
    exit: bool,
}

/// Why the demo could not be shown.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Polls(#[from] PollsError),
    #[error(transparent)]
    Reader(#[from] reader::ManifestError),
    #[error(
        "{folder} holds a feed {FEED} already; take another folder, or look at it with `streamstack serve --data {folder}`"
    )]
    FeedExists { folder: String },
}

pub(super) fn run(args: &Args) -> ExitCode {
    match show(args) {
        Ok(checks) if checks.are_all_right() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            super::output::complain(error);
            ExitCode::FAILURE
        }
    }
}

fn show(args: &Args) -> Result<Checks, DemoError> {
    let paint = Paint::of_stdout();
    let polls = polls::load()?;
    let host = Host::start(args.data.clone(), args.port)?;
    print(
        paint.bold(
            "StreamStack demo: New York's departure boards, polled every hour of 8 February 2013, a day of snow\n",
        ),
    );
    print(format_args!("broker on {}, data in {}\n\n", host.address(), host.folder().display()));
    let checks = tell(&host, &polls, paint);
    if checks.is_ok() && !args.exit {
        print(hints(host.address(), args.data.is_some(), paint));
        host.wait_for_interrupt()?;
    }
    host.stop()?;
    checks
}

/// The story: feed it, then read it back.
fn tell(host: &Host, polls: &[Poll], paint: Paint) -> Result<Checks, DemoError> {
    let mut client = Client::connect(host.address())?;
    feeder::feed(&mut client, polls).map_err(|error| explain(error, host))?;
    let commits = reader::commits(&mut client)?;
    print(timeline::table(&commits, paint));
    let checks = checks::read_back(&mut client, polls, &commits)?;
    print(checks.table(paint));
    Ok(checks)
}

fn explain(error: ClientError, host: &Host) -> DemoError {
    use kafka_protocol::error::ResponseError::TopicAlreadyExists;
    match error.code() {
        Some(TopicAlreadyExists) => DemoError::FeedExists { folder: host.folder().display().to_string() },
        _ => DemoError::Client(error),
    }
}

fn hints(address: &str, keeps_data: bool, paint: Paint) -> String {
    let title = paint.bold("Look at it with any Kafka client while this runs, for example:");
    let end = if keeps_data { "Ctrl-C ends it; the data stays." } else { "Ctrl-C ends it and removes the data." };
    let read = |view: &str, format: &str| format!("kcat -b {address} -C -e -q -t {FEED}{view} -f '{format}\\n'");
    let write = |text: &str, topic: &str| format!("echo '{text}' | kcat -b {address} -P -Z -K : -t {FEED}{topic}");
    let commands = [
        (read("..commits", "%o  %s"), "the commits' manifests"),
        (read("..commit-9", "%k  %s"), "one hour"),
        (read("..commits-6-9", "%k  %s"), "four hours"),
        (read("..feed", "%k  %s"), "the whole feed"),
        (read("..commits-0-23..dedup", "%k  %s"), "each status once"),
        (read("..latest", "%k  %s"), "the last status of each flight"),
        (write("UA1-EWR:boarding", ""), "one more record ..."),
        (write("midnight:", "..seal"), "... sealed as a commit with a label"),
    ];
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let lines = commands.map(|(command, meaning)| format!("  {command:width$}  {meaning}\n")).concat();
    format!("{title}\n{lines}\n{end}\n")
}

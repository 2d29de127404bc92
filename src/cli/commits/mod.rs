//! `streamstack commits`: the commits of a feed, as their manifests say.

mod range;
mod show;

use super::broker_args::BrokerArgs;
use super::client::{Client, Record};
use super::failure::Failure;
use super::history::{self, History};
use super::interrupt;
use super::manifest::Manifest;
use super::output::{Format, FormatArgs, human_bytes, note, write_out};
use super::paint::{Paint, grouped};
use super::table::{Align, Table};
use super::text::{printable, utc};
use range::Range;

const EXAMPLES: &str = "\
Examples:
  streamstack commits list orders                 all of them
  streamstack commits list orders --last 5 --follow
  streamstack commits list orders 10-20 -o json   the manifests, one a line
  streamstack commits show orders                 the newest one
  streamstack commits show orders 17";

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
    /// One line for each commit: when it was sealed and what it holds
    List(ListArgs),
    /// All that is known of one commit, or of several
    Show(ShowArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    /// The feed
    feed: String,
    /// Only these: N, A-B with both included, or A- for all from A on
    range: Option<Range>,
    /// Only the last ones
    #[arg(long, value_name = "NUMBER", conflicts_with = "range")]
    last: Option<u32>,
    /// Go on with those to come, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct ShowArgs {
    /// The feed
    feed: String,
    /// Which: N, A-B with both included, or A- for all from A on [default: the newest]
    range: Option<Range>,
    /// Go on with those to come, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    output: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(list) => {
            let mut lister = Lister { table: table(), format: list.output.format };
            let which = match list.last {
                Some(number) => Which::Last(number.into()),
                None => Which::Range(list.range.unwrap_or(Range::ALL)),
            };
            read(&args.broker, &list.feed, which, list.follow, |manifests| lister.write(manifests))
        }
        Command::Show(show) => {
            let which = show.range.map_or(Which::Last(1), Which::Range);
            if matches!(which, Which::Last(_)) && !show.follow {
                refuse_empty(&args.broker, &show.feed)?;
            }
            read(&args.broker, &show.feed, which, show.follow, |manifests| show::write(manifests, show.output.format))
        }
    }
}

/// Which commits are asked for.
#[derive(Clone, Copy)]
enum Which {
    Range(Range),
    Last(i64),
}

fn read(
    broker: &BrokerArgs,
    feed: &str,
    which: Which,
    follow: bool,
    mut write: impl FnMut(&[Manifest]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut client = broker.connect()?;
    let commits = history::bounds(&mut client, feed, "commits")?;
    if commits.start == commits.end && !follow {
        // Nothing is an answer too, but a person may wonder.
        note(format_args!("{feed} has no commits yet"));
    }
    let (start, end) = match which {
        Which::Last(number) => (commits.end.saturating_sub(number).max(commits.start), None),
        Which::Range(range) => range.bounds(feed, commits, follow)?,
    };
    let mut history = History::from(format!("{feed}..commits"), start);
    let mut take = |records: Vec<Record>| write(&manifests(&records)?);
    if !follow {
        return history.read_until(&mut client, end.unwrap_or(commits.end).min(commits.end), take);
    }
    interrupt::listen()?;
    while !interrupt::came() && end.is_none_or(|end| history.next() < end) {
        let mut records = history.more(&mut client)?;
        records.retain(|record| end.is_none_or(|end| record.offset < end));
        take(records)?;
    }
    Ok(())
}

fn manifests(records: &[Record]) -> Result<Vec<Manifest>, Failure> {
    records.iter().map(Manifest::of).collect()
}

fn refuse_empty(broker: &BrokerArgs, feed: &str) -> Result<(), Failure> {
    let mut client: Client = broker.connect()?;
    let commits = history::bounds(&mut client, feed, "commits")?;
    match commits.start == commits.end {
        true => Err(Failure::Refused(format!("{feed} has no commits yet"))),
        false => Ok(()),
    }
}

struct Lister {
    table: Table,
    format: Format,
}

impl Lister {
    fn write(&mut self, manifests: &[Manifest]) -> Result<(), Failure> {
        write_out(match self.format {
            Format::Table => self.table.rows(&manifests.iter().map(row).collect::<Vec<_>>()),
            Format::Json => manifests.iter().map(|manifest| format!("{}\n", manifest.json)).collect(),
        })?;
        Ok(())
    }
}

fn table() -> Table {
    let columns = [
        ("COMMIT", Align::Right),
        ("SEALED (UTC)", Align::Left),
        ("RECORDS", Align::Right),
        ("BYTES", Align::Right),
        ("REASON", Align::Left),
        ("STATE", Align::Left),
        ("LABEL", Align::Left),
        ("METADATA", Align::Left),
    ];
    Table::new(&columns, Paint::of_stdout())
}

fn row(manifest: &Manifest) -> Vec<String> {
    vec![
        manifest.commit.to_string(),
        utc(manifest.sealed),
        grouped(manifest.records as u64),
        human_bytes(manifest.bytes),
        manifest.reason.clone(),
        manifest.state.clone(),
        printable(manifest.label().as_bytes()),
        printable(manifest.metadata().as_bytes()),
    ]
}

//! `streamstack stream`: the streams of a feed, open and past, sealing the one that is open, and aborting one of a
//! transaction.

mod abort;
mod events;

use serde_json::{Value, json};

use super::broker_args::BrokerArgs;
use super::client::{Client, Isolation, OffsetOf};
use super::consent::Consent;
use super::failure::Failure;
use super::history::{self, History};
use super::output::{Format, FormatArgs, human_bytes, note, write_out};
use super::paint::{Paint, grouped};
use super::seal;
use super::table::{Align, Table, card};
use super::text::{age, printable, utc};
use crate::disk::{Clock, OsClock};
use events::{Stream, Streams};

const EXAMPLES: &str = "\
Examples:
  streamstack stream list orders
  streamstack stream show orders            the newest one
  streamstack stream seal orders --label noon --metadata source=hand
  streamstack stream abort orders 42 --dry-run   what would be lost with a transaction
  streamstack read orders..stream-42        what a stream holds
  streamstack read orders..named-noon       the newest stream with that label

A label may be any text. One of letters, digits, '.', '_' and '-' (without '..', 249 characters at most)
names its stream in orders..named-LABEL; any other is shown, and its stream read by number.";

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
    /// Open streams and the last past ones
    List(ListArgs),
    /// All that is known of one stream
    Show(ShowArgs),
    /// End the open stream: all that was acknowledged becomes a commit, an empty one if there was nothing
    Seal(SealArgs),
    /// Abort the open transaction that a stream is a part of: none of what it wrote counts, and its producer is fenced
    Abort(AbortArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    /// The feed
    feed: String,
    /// How many past streams
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    last: usize,
    /// All past streams
    #[arg(long, conflicts_with = "last")]
    all: bool,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct ShowArgs {
    /// The feed
    feed: String,
    /// The stream's number [default: the newest]
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    stream: Option<i64>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct SealArgs {
    /// The feed
    feed: String,
    /// The commit's label, unless the stream's first record gave one
    #[arg(long)]
    label: Option<String>,
    /// What to keep in the commit's manifest: KEY=VALUE (many times), or a JSON object
    #[arg(long, value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    #[command(flatten)]
    output: FormatArgs,
}

#[derive(clap::Args)]
struct AbortArgs {
    /// The feed
    feed: String,
    /// The number of an open stream
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    stream: i64,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    output: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(list) => list_streams(&args.broker, list),
        Command::Show(show) => show_stream(&args.broker, show),
        Command::Seal(seal) => seal_stream(&args.broker, seal),
        Command::Abort(abort) => abort::run(&mut args.broker.connect()?, abort),
    }
}

fn list_streams(broker: &BrokerArgs, args: &ListArgs) -> Result<(), Failure> {
    let mut client = broker.connect()?;
    let past_max = if args.all { usize::MAX } else { args.last };
    let streams = streams(&mut client, &args.feed)?;
    let streams = streams.newest(past_max);
    match args.output.format {
        Format::Json => streams.iter().try_for_each(|stream| write_out(format_args!("{}\n", json(stream))))?,
        Format::Table => {
            let now = OsClock::new().wall_ms();
            let rows: Vec<_> = streams.iter().map(|stream| row(stream, now)).collect();
            write_out(table().rows(&rows))?;
            note_unspelled_labels(&args.feed, &streams);
        }
    }
    Ok(())
}

/// Those that name no view, which nobody would find out otherwise.
fn note_unspelled_labels(feed: &str, streams: &[&Stream]) {
    let labels = streams.iter().filter_map(|stream| Some((stream.number, stream.label.as_deref()?)));
    let mut unspelled = labels.filter(|(_, label)| !seal::names_a_view(feed, label));
    let Some((number, label)) = unspelled.next() else { return };
    let more = unspelled.count();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    note(format_args!(
        "label {:?}{more} cannot be written in the name of a view; such a stream can be read as {feed}..stream-{number}",
        label.chars().take(40).collect::<String>()
    ));
}

fn show_stream(broker: &BrokerArgs, args: &ShowArgs) -> Result<(), Failure> {
    let mut client = broker.connect()?;
    let feed = &args.feed;
    let streams = streams(&mut client, feed)?;
    let stream = match args.stream {
        Some(number) => streams.get(number).ok_or_else(|| format!("{feed} has had no stream {number}")),
        None => streams.last().ok_or_else(|| format!("{feed} has had no stream yet: nothing was written")),
    };
    let stream = stream.map_err(Failure::Refused)?;
    write_out(match args.output.format {
        Format::Json => format!("{}\n", json(stream)),
        Format::Table => text(stream, OsClock::new().wall_ms()),
    })?;
    Ok(())
}

fn seal_stream(broker: &BrokerArgs, args: &SealArgs) -> Result<(), Failure> {
    let metadata = seal::metadata(&args.metadata)?;
    let mut client = broker.connect()?;
    // Refused where there is nothing to seal, before a topic ..seal is made by a broker that takes it for one.
    history::bounds(&mut client, &args.feed, "commits")?;
    let label = args.label.as_deref();
    let commit = seal::seal(&mut client, &args.feed, label, metadata.as_deref(), broker.timeout)?;
    write_out(match args.output.format {
        Format::Json => format!("{}\n", commit.json),
        Format::Table => format!("{} {}\n", args.feed, seal::in_words(&commit)),
    })?;
    if args.output.format == Format::Table {
        seal::note_unspelled_label(&args.feed, &commit);
    }
    Ok(())
}

/// All that the events tell, and how much the open ones hold by now.
fn streams(client: &mut Client, feed: &str) -> Result<Streams, Failure> {
    let events = history::bounds(client, feed, "streams")?;
    let mut streams = Streams::default();
    History::from(format!("{feed}..streams"), events.start)
        .read_until(client, events.end, |records| records.iter().try_for_each(|record| streams.take(record)))?;
    let partitions = client.partitions(feed)?;
    for stream in streams.open() {
        stream.records = Some(num_records(client, feed, stream.number, &partitions)?);
        if let Some(id) = &stream.transactional_id {
            stream.held_back = held_back(client, feed, id, &partitions)?;
        }
    }
    Ok(streams)
}

/// Acknowledged records of an open stream.
fn num_records(client: &mut Client, feed: &str, stream: i64, partitions: &[i32]) -> Result<i64, Failure> {
    let asked = [(format!("{feed}..stream-{stream}"), partitions.to_vec())];
    let ends = client.offsets(&asked, OffsetOf::End, Isolation::ReadUncommitted)?;
    Ok(ends.into_iter().filter_map(|answer| answer.offset.ok().flatten()).sum())
}

/// What a transaction keeps from readers of committed records, if it is open still.
fn held_back(client: &mut Client, feed: &str, id: &str, partitions: &[i32]) -> Result<Option<i64>, Failure> {
    let Some(open) = client.open_transaction(id)? else { return Ok(None) };
    let mut held_back = 0;
    for (partition, start) in client.transaction_starts(feed, partitions, open.producer)? {
        held_back += client.bounds_of(feed, partition, Isolation::ReadUncommitted)?.end - start;
    }
    Ok(Some(held_back))
}

fn table() -> Table {
    let columns = [
        ("STREAM", Align::Right),
        ("STATE", Align::Left),
        ("OPENED (UTC)", Align::Left),
        ("AGE", Align::Right),
        ("RECORDS", Align::Right),
        ("BYTES", Align::Right),
        ("COMMIT", Align::Right),
        ("REASON", Align::Left),
        ("LABEL", Align::Left),
        ("TRANSACTION", Align::Left),
        ("HELD BACK", Align::Right),
    ];
    Table::new(&columns, Paint::of_stdout())
}

fn row(stream: &Stream, now: i64) -> Vec<String> {
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        stream.number.to_string(),
        stream.state.clone(),
        known(stream.opened.map(utc)),
        known(stream.opened.map(|opened| age(stream.ended.unwrap_or(now) - opened))),
        known(stream.records.map(|records| grouped(records as u64))),
        known(stream.bytes.map(human_bytes)),
        known(stream.commit.map(|commit| commit.to_string())),
        known(stream.reason.clone()),
        known(stream.label.as_ref().map(|label| printable(label.as_bytes()))),
        known(stream.transactional_id.as_ref().map(|id| printable(id.as_bytes()))),
        known(stream.held_back.map(|records| grouped(records as u64))),
    ]
}

fn text(stream: &Stream, now: i64) -> String {
    let cells = row(stream, now);
    let [_, state, opened, age, records, bytes, commit, reason, label, transaction, held_back] =
        <[String; 11]>::try_from(cells).unwrap_or_default();
    let ended = stream.ended.map_or_else(|| "-".to_owned(), |ended| format!("{} UTC, by {reason}", utc(ended)));
    let lines = [
        ("state", state),
        ("label", label),
        ("transaction", transaction),
        ("opened", format!("{opened} UTC")),
        ("ended", ended),
        ("age", age),
        ("records", records),
        ("held back", held_back),
        ("bytes", bytes),
        ("commit", commit),
        ("to read it", format!("streamstack read {}..stream-{}", stream.feed, stream.number)),
    ];
    card(&format!("{} stream {}", stream.feed, stream.number), &lines, Paint::of_stdout())
}

fn json(stream: &Stream) -> Value {
    json!({
        "feed": stream.feed,
        "stream": stream.number,
        "state": stream.state,
        "opened": stream.opened,
        "ended": stream.ended,
        "records": stream.records,
        "bytes": stream.bytes,
        "commit": stream.commit,
        "reason": stream.reason,
        "label": stream.label,
        "transactional_id": stream.transactional_id,
        "held_back": stream.held_back,
    })
}

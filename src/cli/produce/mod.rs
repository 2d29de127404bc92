//! `streamstack produce`: lines become records of a topic.

mod input;
mod parse;
mod partition;
mod sender;
mod tally;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use kafka_protocol::error::ResponseError;

use super::broker_args::BrokerArgs;
use super::client::{Acks, Client, ClientError};
use super::failure::Failure;
use super::history;
use super::interrupt;
use super::manifest::Manifest;
use super::output::{self, Format, FormatArgs};
use super::progress::Progress;
use super::seal;
use crate::batch::{Compression, SEAL_HEADER};
use input::Chunk;
pub(super) use parse::NewRecord;
use parse::Rules;
use partition::Partitioner;
pub(super) use sender::{SendOptions, Sender};

/// How long records wait for others before they are sent; then those that came are.
const LINGER: Duration = Duration::from_millis(5);
/// How often Ctrl-C is looked for while no line comes.
const LOOK_ROUND: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  echo 'hello' | streamstack produce orders
  streamstack produce orders --key-separator : --file orders.txt
  streamstack produce orders --header source=shop --compression zstd < orders.txt
  streamstack produce polls --seal 09:59 --metadata source=boards < poll.json
  streamstack read orders -o json | streamstack produce copy --input json

Ends at the end of its input, or with Ctrl-C after what was read was sent; then nothing is sealed.
With --seal the last line is held back until the end: it carries the seal. A feed that seals by
itself meanwhile (streamstack.seal.ms) makes more commits; the last one gets the label.
Exit codes: 0 all was taken, 1 something was refused or the broker could not be reached,
2 wrong arguments, 130 ended by Ctrl-C.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The topic; made by the broker if it makes topics by itself
    topic: String,
    /// Read this file instead of standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What lines hold
    #[arg(long, short, value_enum, default_value = "lines")]
    input: Input,
    /// What stands between key and value; without it lines are values
    #[arg(long, short, value_name = "TEXT", value_parser = not_empty)]
    key_separator: Option<String>,
    /// A key or value that is exactly this is null; a null value deletes its key in compacted topics
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,
    /// A header for each record; may be given many times
    #[arg(long, short = 'H', value_name = "KEY=VALUE", value_parser = pair)]
    header: Vec<(String, String)>,
    /// Send all records to this partition
    #[arg(long, short, value_name = "NUMBER")]
    partition: Option<i32>,
    /// When a record counts as taken
    #[arg(long, value_enum, default_value = "all")]
    acks: Acks,
    /// How batches are compressed
    #[arg(long, short = 'z', value_enum, default_value = "none")]
    compression: Codec,
    /// Largest batch in bytes, before compression; the topic's max.message.bytes must allow it
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 10)]
    batch_bytes: usize,
    /// Send as a plain producer: what is sent again after a broken connection may stand there twice
    #[arg(long)]
    no_idempotence: bool,
    /// Seal the feed's stream after the last record: it and all before it become a commit, with this label if any
    #[arg(long, value_name = "LABEL", num_args = 0..=1, default_missing_value = "")]
    seal: Option<String>,
    /// What to keep in the manifest of that commit: KEY=VALUE (many times), or a JSON object
    #[arg(long, value_name = "KEY=VALUE", requires = "seal")]
    metadata: Vec<String>,
    #[command(flatten)]
    output: FormatArgs,
    #[command(flatten)]
    broker: BrokerArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Input {
    /// A value each, or key and value
    Lines,
    /// An object each, as `streamstack read -o json` writes it
    Json,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Codec {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

/// How the stream is sealed at the end.
enum Sealing {
    No,
    /// By a header on the last record: atomic with it.
    ByHeader {
        label: String,
        first_commit: i64,
    },
    /// By a record to `..seal`, which has room for metadata.
    ByRecord {
        label: Option<String>,
        metadata: String,
    },
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    check_usage(args)?;
    let is_idempotent = !args.no_idempotence && args.acks == Acks::All;
    let metadata = seal::metadata(&args.metadata)?;
    let chunks = open_input(args)?;
    interrupt::listen()?;
    let mut client = args.broker.connect()?;
    let partitions = partitions(&mut client, args)?;
    let sealing = sealing(&mut client, args, metadata)?;
    let options = SendOptions {
        acks: args.acks,
        compression: args.compression.into(),
        is_idempotent,
        batch_bytes: args.batch_bytes,
        patience: args.broker.timeout,
    };
    let sender = Sender::new(&mut client, args.topic.clone(), options)?;
    let partitioner = Partitioner::new(partitions, args.partition);
    let mut work = Work { args, sender, partitioner, sealing, held: None, progress: Progress::new(false) };
    let outcome = work.send_all(&chunks).and_then(|()| work.seal());
    work.tell_summary(outcome)
}

fn check_usage(args: &Args) -> Result<(), Failure> {
    if args.seal.is_some() && args.acks == Acks::None {
        return Err(Failure::Usage("--seal needs the broker's answers: it cannot be with --acks 0".to_owned()));
    }
    if args.input == Input::Json && (args.key_separator.is_some() || args.null.is_some()) {
        return Err(Failure::Usage("--key-separator and --null are for --input lines: JSON says it itself".to_owned()));
    }
    Ok(())
}

fn open_input(args: &Args) -> Result<Receiver<Chunk>, Failure> {
    let unreadable = |file: &PathBuf, error| Failure::Refused(format!("cannot read {}: {error}", file.display()));
    let chunks = match &args.file {
        Some(file) => input::lines(open_file(file).map_err(|error| unreadable(file, error))?),
        None => input::lines(io::stdin()),
    };
    Ok(chunks?)
}

#[expect(clippy::disallowed_methods, reason = "the operator's file, or a pipe, and no part of a data folder")]
fn open_file(file: &PathBuf) -> io::Result<File> {
    File::open(file)
}

/// Those of the topic, which is made if need be and the broker does so.
fn partitions(client: &mut Client, args: &Args) -> Result<Vec<i32>, Failure> {
    let topic = &args.topic;
    let partitions = match client.partitions(topic) {
        // A view is not made by writing to it: its feed would have to be.
        Err(error) if error.code() == Some(ResponseError::UnknownTopicOrPartition) && !topic.contains("..") => {
            let made = client.partitions_or_new(topic).map_err(|error| not_made(topic, error))?;
            output::note(format_args!("topic {topic} is new; partitions: {}", made.len()));
            made
        }
        found => found?,
    };
    match args.partition.filter(|partition| !partitions.contains(partition)) {
        Some(partition) => Err(Failure::Refused(format!(
            "{topic} has no partition {partition}: it has {}, counted from 0",
            partitions.len()
        ))),
        None => Ok(partitions),
    }
}

fn not_made(topic: &str, error: ClientError) -> Failure {
    match error.code() {
        Some(ResponseError::UnknownTopicOrPartition) => Failure::Refused(format!(
            "there is no topic {topic}, and the broker makes none by itself: `streamstack feed create {topic}` does"
        )),
        _ => error.into(),
    }
}

/// Refused before anything is sent where there is nothing to seal.
fn sealing(client: &mut Client, args: &Args, metadata: Option<String>) -> Result<Sealing, Failure> {
    let Some(label) = &args.seal else { return Ok(Sealing::No) };
    let first_commit = history::bounds(client, &args.topic, "commits")?.end;
    Ok(match metadata {
        Some(metadata) => Sealing::ByRecord { label: Some(label.clone()).filter(|label| !label.is_empty()), metadata },
        None => Sealing::ByHeader { label: label.clone(), first_commit },
    })
}

/// All that a run needs.
struct Work<'a> {
    args: &'a Args,
    sender: Sender<'a>,
    partitioner: Partitioner,
    sealing: Sealing,
    /// The last record so far, which may have to carry the header that seals.
    held: Option<NewRecord>,
    progress: Progress,
}

impl Work<'_> {
    fn send_all(&mut self, chunks: &Receiver<Chunk>) -> Result<(), Failure> {
        let rules = self.rules();
        let mut line_number = 0;
        let mut wait = LOOK_ROUND;
        loop {
            match chunks.recv_timeout(wait) {
                Ok(chunk) => {
                    let lines = chunk.map_err(|error| Failure::Refused(format!("the input broke off: {error}")))?;
                    for line in lines {
                        line_number += 1;
                        match rules.record(line) {
                            Ok(record) => self.take(record)?,
                            Err(why) => return self.break_off(line_number, &why),
                        }
                    }
                    wait = LINGER;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.flush()?;
                    wait = LOOK_ROUND;
                }
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            if interrupt::came() {
                // Nothing is sealed: what was to come is missing.
                self.send_held()?;
                return Err(Failure::Interrupted);
            }
            let tally = self.sender.tally();
            self.progress.counted("sent", tally.records(), tally.bytes());
        }
    }

    /// A line is no record: those before it are sent.
    fn break_off(&mut self, line_number: u64, why: &str) -> Result<(), Failure> {
        self.send_held()?;
        Err(Failure::Refused(format!("line {line_number} of the input: {why}")))
    }

    fn send_held(&mut self) -> Result<(), Failure> {
        if let Some(last) = self.held.take() {
            self.push(&last)?;
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.partitioner.turn();
        self.sender.flush()
    }

    fn rules(&self) -> Rules {
        Rules {
            is_json: self.args.input == Input::Json,
            key_separator: self.args.key_separator.clone(),
            null: self.args.null.clone(),
            headers: self.args.header.clone(),
        }
    }

    fn take(&mut self, record: NewRecord) -> Result<(), Failure> {
        let is_held_back = matches!(self.sealing, Sealing::ByHeader { .. });
        match if is_held_back { self.held.replace(record) } else { Some(record) } {
            Some(record) => self.push(&record).map(drop),
            None => Ok(()),
        }
    }

    fn push(&mut self, record: &NewRecord) -> Result<i32, Failure> {
        let partition = self.partitioner.choose(record.key.as_deref());
        if self.sender.push(partition, record)? {
            self.partitioner.turn();
        }
        Ok(partition)
    }

    /// All records before are taken by now, so that what seals comes after them in every partition.
    fn seal(&mut self) -> Result<Option<Manifest>, Failure> {
        let (feed, patience) = (&self.args.topic, self.args.broker.timeout);
        match &self.sealing {
            Sealing::No => Ok(None),
            Sealing::ByRecord { label, metadata } => {
                let commit = seal::seal(self.sender.client(), feed, label.as_deref(), Some(metadata), patience);
                commit.map(Some)
            }
            Sealing::ByHeader { label, first_commit } => match self.held.take() {
                Some(mut last) => {
                    let first_commit = *first_commit;
                    last.headers.push((SEAL_HEADER.as_bytes().to_vec(), Some(label.clone().into_bytes())));
                    let partition = self.push(&last)?;
                    self.sender.flush()?;
                    let Some(offset) = self.sender.tally().last_offset(partition) else { return Ok(None) };
                    seal::commit_with(self.sender.client(), feed, first_commit, partition, offset)
                }
                // No record to carry the header: an empty commit says that there was nothing.
                None => {
                    let label = Some(label.as_str()).filter(|label| !label.is_empty());
                    seal::seal(self.sender.client(), feed, label, None, patience).map(Some)
                }
            },
        }
    }

    /// What was taken is told also when the rest was not.
    fn tell_summary(self, outcome: Result<Option<Manifest>, Failure>) -> Result<(), Failure> {
        let elapsed = self.progress.elapsed();
        drop(self.progress);
        let (commit, outcome) = match outcome {
            Ok(commit) => (commit, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let tally = self.sender.tally();
        if outcome.is_ok() || tally.records() > 0 {
            output::write_out(match self.args.output.format {
                Format::Table => tally.table(&self.args.topic, elapsed, commit.as_ref()),
                Format::Json => format!("{}\n", tally.json(&self.args.topic, elapsed, commit.as_ref())),
            })?;
        }
        outcome
    }
}

impl From<Codec> for Compression {
    fn from(codec: Codec) -> Compression {
        match codec {
            Codec::None => Compression::None,
            Codec::Gzip => Compression::Gzip,
            Codec::Snappy => Compression::Snappy,
            Codec::Lz4 => Compression::Lz4,
            Codec::Zstd => Compression::Zstd,
        }
    }
}

fn not_empty(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// `key=value`
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not KEY=VALUE")),
    }
}

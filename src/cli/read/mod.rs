//! `streamstack read`: the records of a topic or view.

mod cursor;
mod position;
mod render;

use std::time::Duration;

use kafka_protocol::error::ResponseError;

use super::broker_args::BrokerArgs;
use super::client::{Client, Fetched, Isolation, Position, Record};
use super::failure::Failure;
use super::interrupt;
use super::output::note;
use super::progress::Progress;
use crate::view::Mode;
use crate::view::name::{TopicName, parse_topic};
use cursor::{Cursor, Span};
use position::Place;
use render::{Form, Renderer};

/// How long the broker holds a request for which there is nothing yet; Ctrl-C is heard as often.
const WAIT: Duration = Duration::from_millis(250);
/// A name that stands for something whose time has just come is answered this soon.
const SETTLING: Duration = Duration::from_millis(500);
/// So many empty answers in a row mean that the end will not be reached.
const EMPTY_ANSWERS_MAX: u32 = 40;

const EXAMPLES: &str = "\
Examples:
  streamstack read orders                        all that is there
  streamstack read orders --follow --from end    what comes from now on
  streamstack read orders --from -10             the last ten of each partition
  streamstack read orders --commit 17            one commit
  streamstack read orders --commits 10-20        commits 10 to 20, both included
  streamstack read orders --commits 0-23 --mode dedup
  streamstack read orders..hour-2026010109       what was sealed in that hour
  streamstack read orders --from 2026-01-01T09:00Z -o json | jq .value

On a terminal records are a table; into a pipe go the values, one line each. With -o json bytes
that are no text are base64, and key_encoding or value_encoding says so. Partitions are read one
after the other, with --follow all at once. The address given is the only one that is spoken to.
Exit codes: 0 all was read (or --follow was ended by Ctrl-C), 1 the broker refused or could not
be reached, 2 wrong arguments, 130 ended by Ctrl-C.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A topic, or a view of one: orders, orders..feed, orders..commit-17, orders..named-morning, orders..commits
    topic: String,
    /// One commit of the feed
    #[arg(long, value_name = "N", group = "part", value_parser = clap::value_parser!(i64).range(0..))]
    commit: Option<i64>,
    /// Commits A to B of the feed, both included
    #[arg(long, value_name = "A-B", group = "part", value_parser = range)]
    commits: Option<(i64, i64)>,
    /// The feed from this commit on
    #[arg(long, value_name = "N", group = "part", value_parser = clap::value_parser!(i64).range(0..))]
    since: Option<i64>,
    /// Which of the records [default: all]
    #[arg(long, value_enum)]
    mode: Option<Shown>,
    /// Where to begin: start, end, an offset, -N for N before the end, or a time in UTC as 2026-01-01T09:30
    #[arg(long, value_name = "PLACE", default_value = "start", allow_hyphen_values = true)]
    from: Place,
    /// Where to end, not included: as --from
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    to: Option<Place>,
    /// Go on with what comes, until --to, --limit or Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// End after so many records
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<u64>,
    /// Only this partition
    #[arg(long, short, value_name = "NUMBER")]
    partition: Option<i32>,
    /// Which records of transactions are shown
    #[arg(long, value_enum, default_value = "read_uncommitted")]
    isolation: Isolation,
    /// What to put between key and value in lines; without it keys are left out
    #[arg(long, short, value_name = "TEXT")]
    key_separator: Option<String>,
    /// What stands for a null key or value in lines
    #[arg(long, value_name = "TEXT", default_value = "")]
    null: String,
    /// How records are written [default: table on a terminal, else lines]
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    output: Option<Form>,
    #[command(flatten)]
    broker: BrokerArgs,
}

/// The modes of views, as options.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shown {
    /// The first of each identity
    Dedup,
    /// The last of each key, tombstones too
    Latest,
    /// The last of each key, without keys that were deleted; for parts with an end
    Live,
    /// Those whose value differs from the one before of the same key
    Changed,
}

impl Shown {
    fn mode(self) -> Mode {
        match self {
            Shown::Dedup => Mode::Dedup,
            Shown::Latest => Mode::Latest,
            Shown::Live => Mode::Live,
            Shown::Changed => Mode::Changed,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    check_usage(args)?;
    let topic = topic(args)?;
    interrupt::listen()?;
    let mut client = args.broker.connect()?.patience(SETTLING);
    let partitions = partitions(&mut client, &topic, args)?;
    let mut client = client.patience(args.broker.timeout);
    let follows = args.follow && !is_bounded(&topic);
    let span = Span { from: args.from, to: args.to, follows, isolation: args.isolation };
    let cursors = partitions.into_iter().map(|partition| Cursor::of(&mut client, &topic, partition, span));
    let cursors = cursors.collect::<Result<_, _>>()?;
    let form = args.output.unwrap_or_else(Form::of_stdout);
    let renderer = Renderer::new(form, &topic, args.key_separator.clone(), args.null.clone());
    let left = args.limit.unwrap_or(u64::MAX);
    let progress = Progress::new(true);
    let mut work =
        Work { client, topic, span, cursors, renderer, left, num_read: 0, num_bytes: 0, broke_off: false, progress };
    let outcome = work.read_all();
    work.renderer.flush()?;
    outcome
}

fn check_usage(args: &Args) -> Result<(), Failure> {
    if args.follow && matches!(args.to, Some(Place::Time(_))) {
        let message = "--follow ends at an offset, not at a time: what comes late could still belong before it";
        return Err(Failure::Usage(message.to_owned()));
    }
    Ok(())
}

/// The name that topic and part stand for.
fn topic(args: &Args) -> Result<String, Failure> {
    let topic = &args.topic;
    let part = match (args.commit, args.commits, args.since) {
        (Some(commit), ..) => format!("..commit-{commit}"),
        (_, Some((first, last)), _) => format!("..commits-{first}-{last}"),
        (.., Some(first)) => format!("..since-{first}"),
        _ => String::new(),
    };
    let mode = args.mode.map(|mode| format!("..{}", mode.mode())).unwrap_or_default();
    match topic.contains("..") {
        true if !(part.is_empty() && mode.is_empty()) => {
            Err(Failure::Usage(format!("{topic} is a view already: name the feed alone, or leave the option out")))
        }
        _ => Ok(format!("{topic}{part}{mode}")),
    }
}

/// Its end is known once it can be read.
fn is_bounded(topic: &str) -> bool {
    matches!(parse_topic(topic), Ok(TopicName::View(view)) if view.selector.bounded())
}

fn partitions(client: &mut Client, topic: &str, args: &Args) -> Result<Vec<i32>, Failure> {
    let mut is_told = false;
    let all = loop {
        match client.partitions(topic) {
            Err(error) if args.follow && error.code() == Some(ResponseError::LeaderNotAvailable) => {
                if interrupt::came() {
                    return Ok(Vec::new());
                }
                if !std::mem::replace(&mut is_told, true) {
                    let reason = error.reason().unwrap_or("it is not there yet");
                    note(format_args!("waiting for {topic}: {reason} (Ctrl-C ends it)"));
                }
            }
            found => break found?,
        }
    };
    match args.partition {
        None => Ok(all),
        Some(partition) if all.contains(&partition) => Ok(vec![partition]),
        Some(partition) => {
            let number = all.len();
            Err(Failure::Refused(format!("{topic} has no partition {partition}: it has {number}, counted from 0")))
        }
    }
}

/// All that a run needs.
struct Work {
    client: Client,
    topic: String,
    span: Span,
    /// Those that are not done.
    cursors: Vec<Cursor>,
    renderer: Renderer,
    /// Records that may still be shown.
    left: u64,
    num_read: u64,
    num_bytes: u64,
    /// The connection did, and nothing was read since.
    broke_off: bool,
    progress: Progress,
}

impl Work {
    fn read_all(&mut self) -> Result<(), Failure> {
        let mut num_empty = 0;
        loop {
            self.cursors.retain(|cursor| !cursor.is_done());
            let Some(first) = self.cursors.first().copied() else { return Ok(()) };
            if self.left == 0 {
                return Ok(());
            }
            if interrupt::came() {
                return if self.span.follows { Ok(()) } else { Err(Failure::Interrupted) };
            }
            let went_on = self.step()?;
            num_empty = if went_on { 0 } else { num_empty + 1 };
            if let (Some(end), true) = (first.end, num_empty > EMPTY_ANSWERS_MAX && !self.span.follows) {
                let Position { partition, offset } = first.at;
                return Err(self.client.stalled(&self.topic, partition, offset, end).into());
            }
        }
    }

    /// One request; false when it gave nothing.
    fn step(&mut self) -> Result<bool, Failure> {
        // One partition after the other gives an order that does not depend on the moment.
        let num_asked = if self.span.follows { self.cursors.len() } else { 1 };
        let asked: Vec<Position> = self.cursors[..num_asked].iter().map(|cursor| cursor.at).collect();
        let Some(fetched) = self.fetch(&asked)? else { return Ok(false) };
        let mut went_on = false;
        for (cursor, mut part) in self.cursors[..num_asked].iter_mut().zip(fetched) {
            went_on |= part.next > cursor.at.offset;
            cursor.advance(part.next, &mut part.records);
            part.records.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.left -= part.records.len() as u64;
            self.renderer.records(&part.records)?;
            self.num_read += part.records.len() as u64;
            self.num_bytes += part.records.iter().map(value_bytes).sum::<u64>();
        }
        self.renderer.flush()?;
        self.progress.counted("read", self.num_read, self.num_bytes);
        Ok(went_on)
    }

    /// None when the connection broke off, once: the same is asked again on a new one.
    fn fetch(&mut self, asked: &[Position]) -> Result<Option<Vec<Fetched>>, Failure> {
        let (topic, isolation) = (&self.topic, self.span.isolation);
        match self.client.patiently(|client| client.fetch(topic, asked, isolation, WAIT)) {
            Err(error) if error.is_disconnect() && !self.broke_off => {
                self.broke_off = true;
                self.client.reconnect()?;
                Ok(None)
            }
            fetched => {
                self.broke_off = false;
                Ok(Some(fetched?))
            }
        }
    }
}

fn value_bytes(record: &Record) -> u64 {
    record.value.as_ref().map_or(0, |value| value.len() as u64)
}

/// `10-20`, both included.
pub(super) fn range(text: &str) -> Result<(i64, i64), String> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
    match text.split_once('-').map(|(first, last)| (number(first), number(last))) {
        Some((Some(first), Some(last))) if first <= last => Ok((first, last)),
        Some((Some(first), Some(last))) => Err(format!("{first}-{last} is empty: write the smaller number first")),
        _ => Err(format!("{text:?} is not a range A-B of commit numbers")),
    }
}

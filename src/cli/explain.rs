//! `streamstack explain`: what the name of a view means, what the broker knows of it, and why it cannot be read if so.

use super::broker_args::BrokerArgs;
use super::client::{Bounds, Client};
use super::failure::Failure;
use super::history::{self, History};
use super::manifest::Manifest;
use super::output::{Format, FormatArgs, human_bytes, write_out};
use super::paint::{Paint, counted, grouped};
use super::table::card;
use super::text::utc;
use crate::view::name::{TopicName, parse_topic};
use crate::view::{Mode, Selector, ViewName};

const EXAMPLES: &str = "\
Examples:
  streamstack explain orders..commits-0-23..dedup
  streamstack explain orders..hour-2026010109 -o json
Exit codes: 0 it can be read, 1 it cannot, for the reason that is shown, 2 wrong arguments.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The name of a view, or of a topic
    topic: String,
    #[command(flatten)]
    output: FormatArgs,
    #[command(flatten)]
    broker: BrokerArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let name = match parse_topic(&args.topic) {
        Ok(TopicName::View(view)) => view,
        Ok(TopicName::Plain(plain)) => return Err(no_view(plain)),
        Err(error) => return Err(Failure::Refused(error.to_string())),
    };
    let mut client = args.broker.connect()?;
    let commits = commits(&mut client, &name)?;
    let bounds = client.bounds(&args.topic);
    let mut lines = vec![
        ("feed", name.feed.clone()),
        ("part", part(&name.selector)),
        ("records", mode(name.mode).to_owned()),
        (
            "end",
            if name.selector.bounded() { "fixed: the same bytes at each read" } else { "follows the feed" }.to_owned(),
        ),
    ];
    if let Some(commits) = &commits {
        lines.extend(sizes(commits));
    }
    match &bounds {
        Ok(bounds) => lines.extend(reads(bounds)),
        Err(error) => lines.push(("read", error.reason().map_or_else(|| error.to_string(), str::to_owned))),
    }
    write_out(match args.output.format {
        Format::Table => card(&args.topic, &lines, Paint::of_stdout()),
        Format::Json => {
            let fields = lines.into_iter().map(|(name, value)| (name.replace(' ', "_"), value.into()));
            format!("{}\n", serde_json::Value::Object(fields.collect()))
        }
    })?;
    bounds.map(drop).map_err(Failure::from)
}

fn no_view(topic: &str) -> Failure {
    let message = format!("{topic} is a topic, not a view: write <feed>..<selector>, as {topic}..commits-0-23..dedup");
    Failure::Refused(message)
}

/// The manifests of the commits that the name selects; none when it selects no commits.
fn commits(client: &mut Client, name: &ViewName) -> Result<Option<Vec<Manifest>>, Failure> {
    if matches!(name.selector, Selector::CommitLog | Selector::StreamLog | Selector::Seal | Selector::Named(_)) {
        return Ok(None);
    }
    let there = history::bounds(client, &name.feed, "commits")?;
    let (mut history, mut found) = (History::from(format!("{}..commits", name.feed), there.start), Vec::new());
    history.read_until(client, there.end, |records| {
        for record in &records {
            let manifest = Manifest::of(record)?;
            if selects(&name.selector, &manifest) {
                found.push(manifest);
            }
        }
        Ok(())
    })?;
    Ok(Some(found))
}

fn selects(selector: &Selector, manifest: &Manifest) -> bool {
    match selector {
        Selector::Feed => true,
        Selector::Commit(commit) => manifest.commit == commit.0,
        Selector::Commits { first, last } => (first.0..=last.0).contains(&manifest.commit),
        Selector::Since(first) => manifest.commit >= first.0,
        Selector::Upto(last) => manifest.commit <= last.0,
        Selector::Sealed { from, to, .. } => (from.0..to.0).contains(&manifest.sealed),
        Selector::Stream(stream) => manifest.stream == stream.0,
        Selector::Named(_) | Selector::CommitLog | Selector::StreamLog | Selector::Seal => false,
    }
}

fn sizes(commits: &[Manifest]) -> Vec<(&'static str, String)> {
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
        return vec![("commits", "none yet".to_owned())];
    };
    let records: i64 = commits.iter().map(|manifest| manifest.records).sum();
    let tombstones: u64 = commits.iter().map(|manifest| manifest.tombstones).sum();
    let bytes: u64 = commits.iter().map(|manifest| manifest.bytes).sum();
    let number = counted(commits.len() as u64, "commit");
    let span =
        if commits.len() == 1 { first.commit.to_string() } else { format!("{} to {}", first.commit, last.commit) };
    vec![
        ("commits", format!("{number}: {span}")),
        ("sealed", format!("{} to {} UTC", utc(first.sealed), utc(last.sealed))),
        (
            "holds",
            format!(
                "{}, {} of them tombstones, {}",
                counted(records as u64, "record"),
                grouped(tombstones),
                human_bytes(bytes)
            ),
        ),
    ]
}

fn reads(bounds: &[Bounds]) -> Vec<(&'static str, String)> {
    let spans: Vec<String> = bounds.iter().map(|of| format!("{}: {} to {}", of.partition, of.start, of.end)).collect();
    vec![("read", "yes".to_owned()), ("offsets by partition", spans.join(", "))]
}

fn part(selector: &Selector) -> String {
    match selector {
        Selector::Feed => "all commits, those to come too".to_owned(),
        Selector::Commit(commit) => format!("commit {commit}"),
        Selector::Commits { first, last } => format!("commits {first} to {last}, both included"),
        Selector::Since(first) => format!("commits from {first} on, those to come too"),
        Selector::Upto(last) => format!("commits 0 to {last}, both included"),
        Selector::Sealed { from, to, .. } => {
            format!("commits sealed from {} UTC on and before {} UTC", utc(from.0), utc(to.0))
        }
        Selector::Stream(stream) => format!("stream {stream}, open or sealed"),
        Selector::Named(label) => format!("the newest stream with the label {label}"),
        Selector::CommitLog => "the manifests: one record for each commit".to_owned(),
        Selector::StreamLog => "what happened to streams: opened, sealed, aborted".to_owned(),
        Selector::Seal => "the topic that seals: each record that is sent to it ends the feed's stream".to_owned(),
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Raw => "all",
        Mode::Dedup => "the first of each identity within the part (streamstack.dedup.identity)",
        Mode::Latest => "the last of each key within the part, tombstones too",
        Mode::Live => "the last of each key within the part, without keys that end in a tombstone",
        Mode::Changed => "those whose value differs from the one before of the same key within the part",
    }
}

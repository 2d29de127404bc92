//! All of a commit: a card, its partitions, and how to read it.

use crate::cli::failure::Failure;
use crate::cli::manifest::{Manifest, ManifestPart};
use crate::cli::output::{Format, human_bytes, write_out};
use crate::cli::paint::{Paint, grouped};
use crate::cli::table::{Align, Table, card};
use crate::cli::text::{printable, utc};

pub fn write(manifests: &[Manifest], format: Format) -> Result<(), Failure> {
    let texts: Vec<String> = match format {
        Format::Table => manifests.iter().map(|manifest| text(manifest, Paint::of_stdout())).collect(),
        Format::Json => manifests.iter().map(|manifest| format!("{}\n", manifest.json)).collect(),
    };
    Ok(write_out(texts.concat())?)
}

fn text(manifest: &Manifest, paint: Paint) -> String {
    let lines = [
        ("label", printable(manifest.label().as_bytes())),
        ("stream", manifest.stream.to_string()),
        ("kind", manifest.kind.clone()),
        ("opened", format!("{} UTC", utc(manifest.opened))),
        ("sealed", format!("{} UTC, by {}", utc(manifest.sealed), manifest.reason)),
        ("records", records(manifest)),
        ("bytes", human_bytes(manifest.bytes)),
        ("state", manifest.state.clone()),
        ("metadata", printable(manifest.metadata().as_bytes())),
    ];
    let title = format!("{} commit {}", manifest.feed, manifest.commit);
    format!("{}{}", card(&title, &lines, paint), partitions(&manifest.partitions, paint))
}

fn records(manifest: &Manifest) -> String {
    let mut text = format!("{}, {} of them tombstones", grouped(manifest.records as u64), manifest.tombstones);
    if let (Some(duplicates), Some(new_keys)) = (manifest.duplicates, manifest.new_keys) {
        text += &format!(", {} duplicates, {} with a new key", grouped(duplicates), grouped(new_keys));
    }
    text
}

fn partitions(parts: &[ManifestPart], paint: Paint) -> String {
    let columns = [
        ("  PARTITION", Align::Right),
        ("RECORDS", Align::Right),
        ("BYTES", Align::Right),
        ("FEED OFFSETS", Align::Left),
        ("LOG OFFSETS", Align::Left),
    ];
    let row = |part: &ManifestPart| {
        let runs = part.runs.iter().map(|run| span(run.log_base, run.count));
        vec![
            part.partition.to_string(),
            grouped(part.count as u64),
            human_bytes(part.bytes),
            span(part.feed_base, part.count),
            runs.collect::<Vec<_>>().join(", "),
        ]
    };
    Table::new(&columns, paint).rows(&parts.iter().map(row).collect::<Vec<_>>())
}

/// First and last offset.
fn span(base: i64, count: i64) -> String {
    format!("{base} to {}", base + count - 1)
}

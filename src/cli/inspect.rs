//! `streamstack inspect`: what a data folder holds, file by file, and whether it holds together. Needs the broker stopped.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use super::args::ConfigArgs;
use crate::disk::{Disk, OsDisk};
use crate::model::FeedId;
use crate::store::inspect::{Item, Kind, Selection, inspect};

/// No column is wider, or lines would wrap.
const COLUMN_CHARS_MAX: usize = 100;

#[derive(clap::Args)]
pub(super) struct InspectArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Only the files of the feed with this number
    #[arg(long, value_name = "NUMBER")]
    feed: Option<u32>,
    /// Also every frame of the journal
    #[arg(long)]
    frames: bool,
    /// Also every entry of the journal
    #[arg(long)]
    entries: bool,
    /// Also every batch of the segments
    #[arg(long)]
    batches: bool,
    /// As JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Exit code 1 when anything is damaged, or cannot be looked at.
pub(super) fn run(args: &InspectArgs) -> ExitCode {
    let dir = match args.config.load() {
        Ok(config) => config.settings.data_dir,
        Err(error) => return super::wrong_usage(&error),
    };
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let selection =
        Selection { feed: args.feed.map(FeedId), frames: args.frames, entries: args.entries, batches: args.batches };
    let mut items = Vec::new();
    let mut num_damaged = 0;
    let outcome = inspect(&disk, &dir, &selection, &mut |item| {
        num_damaged += usize::from(item.damage.is_some());
        if args.json { super::print(json_line(&item)) } else { items.push(item) }
    });
    if !args.json {
        super::print(tables(&items, outcome.is_ok()));
    }
    if let Err(error) = outcome {
        super::output::complain(error);
        return ExitCode::FAILURE;
    }
    match num_damaged {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn json_line(item: &Item) -> String {
    let mut line = json!({ "kind": item.kind.name(), "file": item.file, "byte": item.at });
    if let Value::Object(line) = &mut line {
        line.extend(item.facts.clone());
        if let Some(damage) = &item.damage {
            line.insert("damage".to_owned(), json!(damage));
        }
    }
    format!("{line}\n")
}

/// A table for each kind, and at the end what is damaged; that nothing is, only if all was looked at.
fn tables(items: &[Item], complete: bool) -> String {
    let mut kinds: BTreeMap<Kind, Vec<&Item>> = BTreeMap::new();
    for item in items {
        kinds.entry(item.kind).or_default().push(item);
    }
    let mut text = String::new();
    for (kind, items) in kinds {
        let _ = writeln!(text, "{} ({})", kind.name(), items.len());
        table(&items, &mut text);
        text.push('\n');
    }
    let damaged = items.iter().filter_map(|item| item.damage.as_ref().map(|damage| (item, damage)));
    let damaged: Vec<String> =
        damaged.map(|(item, what)| format!("  {} at byte {}: {what}\n", item.file.display(), item.at)).collect();
    match damaged.len() {
        0 if !complete => {}
        0 => text.push_str("nothing is damaged\n"),
        number => {
            let _ = write!(text, "damaged ({number})\n{}", damaged.concat());
        }
    }
    text
}

fn table(items: &[&Item], text: &mut String) {
    let mut columns: Vec<&str> = Vec::new();
    for name in items.iter().flat_map(|item| item.facts.keys()) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let heads =
        columns.iter().map(|name| name.to_uppercase()).chain(["FILE".to_owned(), "BYTE".to_owned(), String::new()]);
    let mut rows: Vec<Vec<String>> = vec![heads.collect()];
    rows.extend(items.iter().map(|item| cells(item, &columns)));
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(COLUMN_CHARS_MAX);
    let widths: Vec<usize> = (0..=columns.len() + 2).map(width).collect();
    for row in &rows {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "  {}", line.join("  ").trim_end());
    }
}

fn cells(item: &Item, columns: &[&str]) -> Vec<String> {
    let fact = |name: &&str| match item.facts.get(*name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::from("-"),
    };
    let state = if item.damage.is_some() { "DAMAGED" } else { "" };
    let place = [item.file.display().to_string(), item.at.to_string(), state.to_owned()];
    columns.iter().map(fact).chain(place).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn item(kind: Kind, damage: Option<&str>) -> Item {
        let facts = [("rows".to_owned(), json!(7)), ("covered".to_owned(), json!(4096))].into_iter().collect();
        Item { kind, file: PathBuf::from("/data/x.index"), at: 72, facts, damage: damage.map(str::to_owned) }
    }

    #[test]
    fn tables_are_by_kind_and_damage_comes_last() {
        let text = tables(&[item(Kind::Index, None), item(Kind::Index, Some("row 1 does not agree"))], true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "index (2)");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["ROWS", "COVERED", "FILE", "BYTE"]);
        assert_eq!(lines[3].split_whitespace().last(), Some("DAMAGED"));
        assert_eq!(lines.last(), Some(&"  /data/x.index at byte 72: row 1 does not agree"));
    }

    #[test]
    fn json_names_file_and_byte() {
        let line: Value = serde_json::from_str(&json_line(&item(Kind::Index, Some("torn")))).unwrap();
        assert_eq!(
            line,
            json!({"kind": "index", "file": "/data/x.index", "byte": 72, "rows": 7, "covered": 4096, "damage": "torn"})
        );
    }
}

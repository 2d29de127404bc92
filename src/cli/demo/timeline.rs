//! The commits as a table.

use std::fmt::Write;

use jiff::Timestamp;

use super::reader::Commit;
use crate::cli::paint::{Paint, grouped};

pub fn table(commits: &[Commit], paint: Paint) -> String {
    let head =
        format!("  {:>6}  {:17}  {:>7}  {:>7}  {:12}  {}\n", "commit", "label", "records", "bytes", "opened", "sealed");
    let mut text = paint.dim(&head);
    for commit in commits {
        let line = line(commit);
        text += &if commit.records == 0 { paint.dim(&line) } else { line };
    }
    let records = commits.iter().map(|commit| commit.records).sum();
    let bytes = commits.iter().map(|commit| commit.bytes).sum();
    let _ = writeln!(text, "  {:>6}  {:17}  {:>7}  {:>7}\n", "", "in all", grouped(records), grouped(bytes));
    text
}

fn line(commit: &Commit) -> String {
    format!(
        "  {:>6}  {:17}  {:>7}  {:>7}  {:12}  {}\n",
        commit.commit,
        commit.label.as_deref().unwrap_or("-"),
        grouped(commit.records),
        grouped(commit.bytes),
        time(commit.opened),
        time(commit.sealed),
    )
}

/// The time of the day in UTC.
fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(at) => at.strftime("%H:%M:%S.%3f").to_string(),
        Err(_) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_stand_below_their_heads() {
        let commits = [Commit {
            commit: 9,
            label: Some("2013-02-08T09:59Z".to_owned()),
            records: 1_183,
            bytes: 40_000,
            opened: 1_000,
            sealed: 1_020,
        }];
        assert_eq!(
            table(&commits, Paint::plain()),
            "  commit  label              records    bytes  opened        sealed\n\
             \x20      9  2013-02-08T09:59Z    1,183   40,000  00:00:01.000  00:00:01.020\n\
             \x20         in all               1,183   40,000\n\n"
        );
    }
}

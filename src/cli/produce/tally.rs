//! What was sent: records, bytes and where they stand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::manifest::Manifest;
use crate::cli::output::human_bytes;
use crate::cli::paint::{counted, grouped};
use crate::cli::progress::rate;
use crate::cli::seal;

/// Counts of what the broker took.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    partitions: BTreeMap<i32, Part>,
}

#[derive(Clone, Debug, Default)]
struct Part {
    records: u64,
    bytes: u64,
    /// First and last offset, as far as the broker told them.
    offsets: Option<(i64, i64)>,
}

impl Tally {
    /// A batch was taken; `offset` is that of its first record.
    pub fn add(&mut self, partition: i32, records: i32, bytes: u64, offset: Option<i64>) {
        let part = self.partitions.entry(partition).or_default();
        part.records += records as u64;
        part.bytes += bytes;
        if let Some(first) = offset {
            let last = first + i64::from(records) - 1;
            part.offsets = Some((part.offsets.map_or(first, |(first, _)| first), last));
        }
    }

    pub fn records(&self) -> u64 {
        self.partitions.values().map(|part| part.records).sum()
    }

    /// Of keys, values and headers.
    pub fn bytes(&self) -> u64 {
        self.partitions.values().map(|part| part.bytes).sum()
    }

    /// The offset of the last record taken in a partition.
    pub fn last_offset(&self, partition: i32) -> Option<i64> {
        self.partitions.get(&partition)?.offsets.map(|(_, last)| last)
    }

    /// The summary for people.
    pub fn table(&self, topic: &str, elapsed: Duration, commit: Option<&Manifest>) -> String {
        let (records, seconds) = (self.records(), elapsed.as_secs_f64());
        let mut text = format!(
            "{topic}: {}, {} in {seconds:.3} s ({} records/s)\n",
            counted(records, "record"),
            human_bytes(self.bytes()),
            grouped(rate(records, elapsed))
        );
        for (partition, part) in &self.partitions {
            let offsets = match part.offsets {
                Some((first, last)) => format!("offsets {first} to {last}"),
                None => "offsets not told".to_owned(),
            };
            let _ = writeln!(text, "  partition {partition}: {}, {offsets}", counted(part.records, "record"));
        }
        if let Some(commit) = commit {
            let _ = writeln!(text, "  {}", seal::in_words(commit));
        }
        text
    }

    /// The summary for scripts, one line.
    pub fn json(&self, topic: &str, elapsed: Duration, commit: Option<&Manifest>) -> Value {
        let partitions: Vec<Value> = self
            .partitions
            .iter()
            .map(|(partition, part)| {
                let (first, last) = part.offsets.unzip();
                json!({ "partition": partition, "records": part.records, "first_offset": first, "last_offset": last })
            })
            .collect();
        json!({
            "topic": topic,
            "records": self.records(),
            "bytes": self.bytes(),
            "seconds": elapsed.as_secs_f64(),
            "records_per_second": rate(self.records(), elapsed),
            "partitions": partitions,
            "commit": commit.map(seal::in_json),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_tells_where_records_stand() {
        let mut tally = Tally::default();
        tally.add(1, 2, 10, Some(7));
        tally.add(1, 3, 10, Some(9));
        tally.add(0, 1, 2000, None);
        let text = tally.table("t", Duration::from_millis(500), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "t: 6 records, 2.0 KiB in 0.500 s (12 records/s)");
        assert_eq!(
            lines[1..],
            ["  partition 0: 1 record, offsets not told", "  partition 1: 5 records, offsets 7 to 11"]
        );
        assert_eq!(tally.last_offset(1), Some(11));
        let json = tally.json("t", Duration::from_millis(500), None);
        assert_eq!(json["partitions"][0]["first_offset"], Value::Null);
        assert_eq!(json["partitions"][1]["last_offset"], 11);
    }
}

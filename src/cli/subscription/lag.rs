//! How far a position is behind: in offsets, in records that can be read, in commits, and in time.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::commits::{self, Space};
use crate::cli::client::{Client, GroupPosition, Isolation, OffsetOf};
use crate::cli::failure::Failure;
use crate::disk::{Clock, OsClock};

const SHOWN: Isolation = Isolation::ReadCommitted;

/// A position and what lies before it. Where the topic is gone, nothing is known of it.
#[derive(Clone, Debug)]
pub struct Lag {
    pub position: GroupPosition,
    /// The first offset that is to be read and is still there.
    oldest: i64,
    pub end: Option<i64>,
    /// Up to the end, those that hold nothing or were deleted too.
    pub offsets: Option<u64>,
    /// Records that are there to be read; in a mode of a view at most so many, for those that it leaves out count too.
    pub records: Option<u64>,
    /// Commits that hold something unread; none where positions have nothing to do with commits.
    pub commits: Option<u64>,
    /// Age of the oldest record to be read; none when there is none.
    pub age_ms: Option<i64>,
}

impl Lag {
    /// In milliseconds; zero when all is read.
    pub fn behind_ms(&self) -> Option<i64> {
        self.end.map(|_| self.age_ms.unwrap_or(0))
    }

    pub fn json(&self) -> Value {
        json!({
            "topic": self.position.topic,
            "partition": self.position.partition,
            "position": self.position.offset,
            "end": self.end,
            "lag_offsets": self.offsets,
            "lag_records": self.records,
            "lag_commits": self.commits,
            "lag_seconds": self.behind_ms().map(|ms| ms as f64 / 1_000.0),
            "metadata": self.position.metadata,
        })
    }
}

/// The lag of each position in offsets and records, as one look at all of them tells it.
pub fn counted(client: &mut Client, positions: Vec<GroupPosition>) -> Result<Vec<Lag>, Failure> {
    let starts = offsets(client, &positions, OffsetOf::Start)?;
    let ends = offsets(client, &positions, OffsetOf::End)?;
    let lag = |position: GroupPosition| {
        let key = (position.topic.clone(), position.partition);
        let (start, end) = (starts.get(&key).copied(), ends.get(&key).copied());
        let up_to_end = |from: i64| end.map(|end| u64::try_from(end - from).unwrap_or(0));
        let oldest = position.offset.max(start.unwrap_or(0));
        Lag {
            oldest,
            end,
            offsets: up_to_end(position.offset),
            records: start.and_then(|_| up_to_end(oldest)),
            commits: None,
            age_ms: None,
            position,
        }
    };
    Ok(positions.into_iter().map(lag).collect())
}

/// The same with commits and time, which are looked up for each position.
pub fn complete(client: &mut Client, positions: Vec<GroupPosition>) -> Result<Vec<Lag>, Failure> {
    let mut lags = counted(client, positions)?;
    let now = OsClock::new().wall_ms();
    for lag in &mut lags {
        let Some(end) = lag.end else { continue };
        let space = Space::of(&lag.position.topic);
        let unread = lag.records.filter(|records| *records > 0);
        lag.commits = match (&space, unread) {
            (Space::Other, _) => None,
            (Space::Commits, unread) => Some(unread.unwrap_or(0)),
            (_, None) => Some(0),
            (_, Some(_)) => commits::unread(client, &space, lag.position.partition, lag.oldest)?,
        };
        if unread.is_some() {
            let GroupPosition { topic, partition, .. } = &lag.position;
            let oldest = client.first_record(topic, *partition, lag.oldest, end)?;
            lag.age_ms = oldest.map(|record| (now - record.timestamp).max(0));
        }
    }
    Ok(lags)
}

/// Those that the broker tells: it knows nothing of what was deleted.
fn offsets(
    client: &mut Client,
    positions: &[GroupPosition],
    which: OffsetOf,
) -> Result<HashMap<(String, i32), i64>, Failure> {
    let mut asked: Vec<(String, Vec<i32>)> = Vec::new();
    for position in positions {
        match asked.last_mut().filter(|(topic, _)| *topic == position.topic) {
            Some((_, partitions)) => partitions.push(position.partition),
            None => asked.push((position.topic.clone(), vec![position.partition])),
        }
    }
    let answers = client.offsets(&asked, which, SHOWN)?;
    let told = answers.into_iter().filter_map(|answer| {
        let offset = answer.offset.ok().flatten()?;
        Some(((answer.topic, answer.partition), offset))
    });
    Ok(told.collect())
}

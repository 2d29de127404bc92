//! Where a reset takes a partition to.

use super::ResetArgs;
use super::commits::{self, Space};
use crate::cli::client::{Bounds, Client, Isolation, OffsetOf};
use crate::cli::failure::Failure;

/// What each partition takes in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Earliest,
    Latest,
    Offset(i64),
    Commit(i64),
    /// Milliseconds since 1970.
    Time(i64),
    Shift(i64),
}

/// Where a partition goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub offset: i64,
    /// What was asked for; it may lie outside of what is there.
    pub wanted: i64,
}

impl Target {
    /// The one that was given; the flags see to it that it is one.
    pub fn of(args: &ResetArgs) -> Target {
        match *args {
            ResetArgs { to_latest: true, .. } => Target::Latest,
            ResetArgs { to_offset: Some(offset), .. } => Target::Offset(offset),
            ResetArgs { to_commit: Some(commit), .. } => Target::Commit(commit),
            ResetArgs { to_datetime: Some(time), .. } => Target::Time(time),
            ResetArgs { shift_by: Some(number), .. } => Target::Shift(number),
            _ => Target::Earliest,
        }
    }

    /// The place in a partition that has these bounds and, perhaps, a position; within the bounds.
    pub fn offset(
        self,
        client: &mut Client,
        topic: &str,
        bounds: Bounds,
        position: Option<i64>,
    ) -> Result<Place, Failure> {
        let Bounds { partition, start, end } = bounds;
        let wanted = match self {
            Target::Earliest => start,
            Target::Latest => end,
            Target::Offset(offset) => offset,
            Target::Commit(commit) => commit_start(client, topic, bounds, commit)?,
            Target::Time(time) => {
                client.offset(topic, partition, OffsetOf::Time(time), Isolation::ReadCommitted)?.unwrap_or(end)
            }
            Target::Shift(number) => {
                let from = position.ok_or_else(|| {
                    Failure::Refused(format!(
                        "there is no position in {topic}-{partition} that could be shifted: use --to-offset"
                    ))
                })?;
                from.saturating_add(number)
            }
        };
        Ok(Place { offset: wanted.clamp(start, end), wanted })
    }
}

fn commit_start(client: &mut Client, topic: &str, bounds: Bounds, commit: i64) -> Result<i64, Failure> {
    match Space::of(topic) {
        Space::Other => {
            let message = format!("positions in {topic} have nothing to do with commits: use --to-offset");
            Err(Failure::Usage(message))
        }
        space => Ok(commits::start(client, &space, bounds.partition, commit)?.unwrap_or(bounds.start)),
    }
}

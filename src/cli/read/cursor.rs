//! The parts of a topic that are read, and how far.

use crate::cli::client::{Bounds, Client, Isolation, Position, Record};
use crate::cli::failure::Failure;

use super::position::Place;

/// Which part of each partition.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub from: Place,
    /// Not included. None: to the end as of now, or for ever.
    pub to: Option<Place>,
    pub follows: bool,
    pub isolation: Isolation,
}

/// A partition, where to read on, and where to end if it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub at: Position,
    pub end: Option<i64>,
}

impl Cursor {
    /// The part of a partition that a span stands for.
    pub fn of(client: &mut Client, topic: &str, partition: i32, span: Span) -> Result<Cursor, Failure> {
        let bounds = client.bounds_of(topic, partition, span.isolation)?;
        let offset = span.from.offset(client, topic, bounds, span.isolation)?.unwrap_or(bounds.end);
        check(topic, bounds, offset, span)?;
        let end = match span.to {
            Some(place) => place.offset(client, topic, bounds, span.isolation)?,
            None => None,
        };
        let end = match (end, span.follows) {
            (Some(end), true) => Some(end),
            (Some(end), false) => Some(end.min(bounds.end)),
            (None, true) => None,
            (None, false) => Some(bounds.end),
        };
        Ok(Cursor { at: Position { partition, offset }, end })
    }

    pub fn is_done(&self) -> bool {
        self.end.is_some_and(|end| self.at.offset >= end)
    }

    /// Goes on to `next`, and leaves of `records` those of the part.
    pub fn advance(&mut self, next: i64, records: &mut Vec<Record>) {
        self.at.offset = next;
        if let Some(end) = self.end {
            records.retain(|record| record.offset < end);
        }
    }
}

fn check(topic: &str, bounds: Bounds, offset: i64, span: Span) -> Result<(), Failure> {
    let Bounds { partition, start, end } = bounds;
    // Places of other kinds are made from the bounds.
    if (start..=end).contains(&offset) || !matches!(span.from, Place::Offset(_)) {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "{topic}-{partition} has no offset {offset}: it starts at {start} and ends before {end}"
    )))
}

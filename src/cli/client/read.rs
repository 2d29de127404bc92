//! Reading a topic or view from its start to its end as of now.

use std::time::Duration;

use super::{Client, ClientError, Isolation, OffsetOf, Position, Record};

const FETCH_WAIT: Duration = Duration::from_millis(500);
/// So many empty answers in a row mean that the end will not be reached.
const EMPTY_ANSWERS_MAX: u32 = 20;
const SHOWN: Isolation = Isolation::ReadCommitted;

/// Offsets `[start, end)` of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub partition: i32,
    pub start: i64,
    pub end: i64,
}

impl Client {
    /// All records of a topic or view up to its end as of now, partition by partition. Waits for a bounded view to be sealed.
    pub fn read_to_end(&mut self, topic: &str) -> Result<Vec<Record>, ClientError> {
        let mut found = Vec::new();
        for bounds in self.bounds(topic)? {
            found.extend(self.read(topic, bounds)?);
        }
        Ok(found)
    }

    /// Where each partition of a topic or view starts and ends now.
    pub fn bounds(&mut self, topic: &str) -> Result<Vec<Bounds>, ClientError> {
        let partitions = self.partitions(topic)?;
        partitions.into_iter().map(|partition| self.bounds_of(topic, partition, SHOWN)).collect()
    }

    /// Where a partition starts and ends now.
    pub fn bounds_of(&mut self, topic: &str, partition: i32, isolation: Isolation) -> Result<Bounds, ClientError> {
        let start = self.offset(topic, partition, OffsetOf::Start, isolation)?.unwrap_or(0);
        let end = self.offset(topic, partition, OffsetOf::End, isolation)?.unwrap_or(start);
        Ok(Bounds { partition, start, end })
    }

    /// The records of a part of a partition.
    pub fn read(&mut self, topic: &str, bounds: Bounds) -> Result<Vec<Record>, ClientError> {
        let Bounds { partition, start, end } = bounds;
        let (mut next, mut num_empty, mut found) = (start, 0, Vec::new());
        while next < end {
            let from = [Position { partition, offset: next }];
            let fetched = self.patiently(|client| client.fetch(topic, &from, SHOWN, FETCH_WAIT))?;
            let before = next;
            for part in fetched {
                next = part.next;
                found.extend(part.records.into_iter().filter(|record| record.offset < end));
            }
            num_empty = if next == before { num_empty + 1 } else { 0 };
            if num_empty > EMPTY_ANSWERS_MAX {
                return Err(self.stalled(topic, partition, next, end));
            }
        }
        Ok(found)
    }

    /// The error of a reader that gets nothing where there must be something.
    pub fn stalled(&self, topic: &str, partition: i32, offset: i64, end: i64) -> ClientError {
        let address = self.connection.address().to_owned();
        ClientError::Stalled { address, topic: topic.to_owned(), partition, offset, end }
    }
}

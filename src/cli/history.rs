//! Reading `..commits` or `..streams` bit by bit.

use std::time::Duration;

use kafka_protocol::error::ResponseError;

use super::client::{Bounds, Client, Isolation, Position, Record};
use super::failure::Failure;

/// How long the broker holds a request when there is nothing more yet; Ctrl-C is heard as often.
const WAIT: Duration = Duration::from_millis(250);
const PARTITION: i32 = 0;
const SHOWN: Isolation = Isolation::ReadUncommitted;

/// A history topic and how far it was read.
pub(super) struct History {
    topic: String,
    next: i64,
}

impl History {
    /// From this entry on.
    pub fn from(topic: String, next: i64) -> History {
        History { topic, next }
    }

    /// The entry that comes next.
    pub fn next(&self) -> i64 {
        self.next
    }

    /// What comes next, whole batches; none when there is nothing more yet.
    pub fn more(&mut self, client: &mut Client) -> Result<Vec<Record>, Failure> {
        let (topic, from) = (&self.topic, [Position { partition: PARTITION, offset: self.next }]);
        let fetched = match client.patiently(|client| client.fetch(topic, &from, SHOWN, WAIT)) {
            Err(error) if error.is_disconnect() => {
                client.reconnect()?;
                client.fetch(topic, &from, SHOWN, WAIT)?
            }
            fetched => fetched?,
        };
        let mut records = Vec::new();
        for part in fetched {
            self.next = part.next;
            records.extend(part.records);
        }
        Ok(records)
    }

    /// All up to `end`, each given to `take`.
    pub fn read_until(
        &mut self,
        client: &mut Client,
        end: i64,
        mut take: impl FnMut(Vec<Record>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while self.next < end {
            let before = self.next;
            let mut records = self.more(client)?;
            if self.next == before {
                return Err(client.stalled(&self.topic, PARTITION, before, end).into());
            }
            records.retain(|record| record.offset < end);
            take(records)?;
        }
        Ok(())
    }
}

/// Where a history topic of a feed, `commits` or `streams`, starts and ends. A refusal where there is nothing of the kind.
pub(super) fn bounds(client: &mut Client, feed: &str, history: &str) -> Result<Bounds, Failure> {
    let topic = format!("{feed}..{history}");
    match client.partitions(&topic) {
        Ok(_) => Ok(client.bounds_of(&topic, PARTITION, SHOWN)?),
        // Kafka takes it for a topic of that name, which is not there.
        Err(error)
            if error.code() == Some(ResponseError::UnknownTopicOrPartition) && client.partitions(feed).is_ok() =>
        {
            let broker = client.address();
            Err(Failure::Refused(format!(
                "{broker} has topic {feed} but no {history} of it: it is no StreamStack broker, which alone has feeds"
            )))
        }
        Err(error) => Err(error.into()),
    }
}

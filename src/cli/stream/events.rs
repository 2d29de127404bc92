//! From the events of `..streams` to streams.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cli::client::Record;
use crate::cli::failure::Failure;

/// A stream, as far as its events tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    pub feed: String,
    pub number: i64,
    /// `open`, or the name of the event that ended it.
    pub state: String,
    pub opened: Option<i64>,
    pub ended: Option<i64>,
    pub records: Option<i64>,
    pub bytes: Option<u64>,
    pub commit: Option<i64>,
    pub reason: Option<String>,
    pub label: Option<String>,
    /// Whose transaction it is a part of.
    pub transactional_id: Option<String>,
    /// Records of the plain topic that readers of committed records are not shown because of it.
    pub held_back: Option<i64>,
}

/// Streams by number.
#[derive(Debug, Default)]
pub struct Streams(BTreeMap<i64, Stream>);

#[derive(Deserialize)]
struct Event {
    feed: String,
    stream: i64,
    at: i64,
    event: String,
    commit: Option<i64>,
    reason: Option<String>,
    label: Option<String>,
    transactional_id: Option<String>,
    records: Option<i64>,
    bytes: Option<u64>,
}

const OPENED: &str = "opened";
const OPEN: &str = "open";

impl Streams {
    pub fn take(&mut self, record: &Record) -> Result<(), Failure> {
        let event: Result<Event, _> = serde_json::from_slice(record.value.as_deref().unwrap_or_default());
        let unreadable =
            |error| Failure::Refused(format!("event {} of ..streams cannot be read: {error}", record.offset));
        self.apply(event.map_err(unreadable)?);
        Ok(())
    }

    fn apply(&mut self, event: Event) {
        let stream = self.0.entry(event.stream).or_default();
        (stream.feed, stream.number) = (event.feed, event.stream);
        stream.label = event.label.or(stream.label.take());
        stream.transactional_id = event.transactional_id.or(stream.transactional_id.take());
        if event.event == OPENED {
            stream.state = OPEN.to_owned();
            stream.opened = Some(event.at);
            return;
        }
        // One that was sealed empty was never opened.
        stream.opened = stream.opened.or(Some(event.at));
        stream.ended = Some(event.at);
        (stream.records, stream.bytes, stream.commit) = (event.records, event.bytes, event.commit);
        (stream.state, stream.reason) = (event.event, event.reason);
    }

    /// Those that may still grow.
    pub fn open(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.0.values_mut().filter(|stream| stream.ended.is_none())
    }

    pub fn get(&self, number: i64) -> Option<&Stream> {
        self.0.get(&number)
    }

    /// The newest.
    pub fn last(&self) -> Option<&Stream> {
        self.0.values().next_back()
    }

    /// All open ones and the newest past ones, by number.
    pub fn newest(&self, past_max: usize) -> Vec<&Stream> {
        let num_past = self.0.values().filter(|stream| stream.ended.is_some()).count();
        let mut left_out = num_past.saturating_sub(past_max);
        let shown = self.0.values().filter(|stream| {
            let is_left_out = stream.ended.is_some() && left_out > 0;
            left_out -= usize::from(is_left_out);
            !is_left_out
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(events: &[&str]) -> Streams {
        let mut streams = Streams::default();
        events.iter().for_each(|event| streams.apply(serde_json::from_str(event).unwrap()));
        streams
    }

    #[test]
    fn events_make_streams() {
        let mut streams = streams(&[
            r#"{"feed":"f","stream":0,"at":5,"event":"opened","kind":"implicit","label":"x"}"#,
            r#"{"feed":"f","stream":0,"at":9,"event":"sealed","commit":0,"reason":"time","label":null,"records":3,"bytes":99}"#,
            r#"{"feed":"f","stream":1,"at":9,"event":"sealed","commit":1,"reason":"control","label":null,"records":0,"bytes":0}"#,
            r#"{"feed":"f","stream":2,"at":11,"event":"opened","kind":"implicit","label":null}"#,
        ]);
        let first = streams.get(0).unwrap();
        assert_eq!((first.state.as_str(), first.label.as_deref(), first.records), ("sealed", Some("x"), Some(3)));
        assert_eq!((streams.get(1).unwrap().opened, streams.get(1).unwrap().ended), (Some(9), Some(9)));
        assert_eq!(streams.newest(1).iter().map(|stream| stream.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(streams.last().unwrap().state, "open");
        assert_eq!(streams.open().count(), 1);
    }
}

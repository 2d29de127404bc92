//! What Kafka's consumers say in the bytes that the classic protocol hands on: what they subscribe to, and what they are
//! assigned (`ConsumerProtocolSubscription` and `ConsumerProtocolAssignment`). All numbers big-endian.
//!
//! ```text
//! subscription:  version i16, topics, user data?; from version 1 on: partitions owned; from 2 on: generation i32;
//!                from 3 on: rack?
//! assignment:    version i16, partitions, user data?
//! topics:        count i32, each a text
//! partitions:    count i32 of (topic text, count i32 of i32)
//! text:          length i16, bytes
//! ```
//!
//! A version above those that are known is read as the last of them; what follows is passed over.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::model::PartitionId;

/// The protocol type of Kafka's consumers.
pub(super) const CONSUMER: &str = "consumer";

const VERSION_MAX: i16 = 3;
const OWNED_SINCE: i16 = 1;
const GENERATION_SINCE: i16 = 2;
const RACK_SINCE: i16 = 3;

/// Partitions by the names of their topics.
pub(super) type Named = BTreeMap<String, BTreeSet<PartitionId>>;

/// What a consumer wants to read, and what it read when it said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subscription {
    pub version: i16,
    pub topics: BTreeSet<String>,
    pub owned: Named,
    pub rack: Option<String>,
}

/// What a consumer is to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Assignment {
    pub partitions: Named,
    /// The assignor has words of its own with the consumer.
    pub has_user_data: bool,
}

impl Subscription {
    /// None: these are no consumer's bytes.
    pub fn read(metadata: &[u8]) -> Option<Subscription> {
        let mut fields = Fields(metadata);
        let version = fields.version()?;
        let topics = fields.list(Fields::text)?;
        fields.user_data()?;
        let mut said = Subscription { version, topics: topics.into_iter().collect(), ..Subscription::default() };
        // Some clients say version 1 and leave the rest out.
        if version >= OWNED_SINCE && !fields.is_over() {
            said.owned = fields.partitions()?;
        }
        if version >= GENERATION_SINCE {
            fields.0.try_get_i32().ok()?;
        }
        if version >= RACK_SINCE {
            said.rack = fields.optional_text()?;
        }
        Some(said)
    }
}

impl Assignment {
    /// None: these are no consumer's bytes. No bytes are an assignment of nothing.
    pub fn read(assignment: &[u8]) -> Option<Assignment> {
        if assignment.is_empty() {
            return Some(Assignment::default());
        }
        let mut fields = Fields(assignment);
        fields.version()?;
        let partitions = fields.partitions()?;
        let has_user_data = fields.user_data()? > 0;
        Some(Assignment { partitions, has_user_data })
    }

    /// As a consumer reads it that subscribed in that version.
    pub fn write(version: i16, partitions: &Named) -> Bytes {
        let mut out = BytesMut::new();
        out.put_i16(version);
        out.put_i32(partitions.len() as i32);
        for (topic, partitions) in partitions {
            out.put_i16(topic.len() as i16);
            out.put_slice(topic.as_bytes());
            out.put_i32(partitions.len() as i32);
            partitions.iter().for_each(|partition| out.put_i32(partition.0 as i32));
        }
        out.put_i32(-1);
        out.freeze()
    }
}

/// The topics at the front of a consumer's metadata. None: it is no consumer's.
pub(super) fn topics(metadata: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Fields(metadata);
    fields.0.try_get_i16().ok()?;
    fields.list(Fields::bytes)
}

/// What is yet to be read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn version(&mut self) -> Option<i16> {
        let version = self.0.try_get_i16().ok()?;
        (version >= 0).then_some(version.min(VERSION_MAX))
    }

    fn list<T>(&mut self, take: impl Fn(&mut Fields<'a>) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.0.try_get_i32().ok()?).ok()?;
        // Each takes two bytes at least: whatever the count says, no more is made room for.
        let mut list = Vec::with_capacity(count.min(self.0.len() / 2));
        for _ in 0..count {
            list.push(take(self)?);
        }
        Some(list)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.0.try_get_i16().ok()?).ok()?;
        self.take(len)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().and_then(owned)
    }

    fn optional_text(&mut self) -> Option<Option<String>> {
        match self.0.try_get_i16().ok()? {
            -1 => Some(None),
            len => self.take(usize::try_from(len).ok()?).and_then(owned).map(Some),
        }
    }

    fn partitions(&mut self) -> Option<Named> {
        let of_topics = self.list(|fields| Some((fields.text()?, fields.list(Fields::partition)?)))?;
        let mut named = Named::new();
        for (topic, partitions) in of_topics {
            named.entry(topic).or_default().extend(partitions);
        }
        Some(named)
    }

    fn partition(&mut self) -> Option<PartitionId> {
        u32::try_from(self.0.try_get_i32().ok()?).ok().map(PartitionId)
    }

    /// How long it is.
    fn user_data(&mut self) -> Option<usize> {
        match self.0.try_get_i32().ok()? {
            -1 => Some(0),
            len => self.take(usize::try_from(len).ok()?).map(<[u8]>::len),
        }
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

fn owned(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A subscription as a consumer writes it.
    pub fn subscription(version: i16, topics: &[&str], owned: &Named) -> Bytes {
        let mut out = BytesMut::new();
        out.put_i16(version);
        out.put_i32(topics.len() as i32);
        for topic in topics {
            out.put_i16(topic.len() as i16);
            out.put_slice(topic.as_bytes());
        }
        out.put_i32(-1);
        if version >= OWNED_SINCE {
            // Written as in an assignment, between its version and its user data.
            let assignment = Assignment::write(0, owned);
            out.put_slice(&assignment[2..assignment.len() - 4]);
        }
        if version >= GENERATION_SINCE {
            out.put_i32(-1);
        }
        if version >= RACK_SINCE {
            out.put_i16(-1);
        }
        out.freeze()
    }

    pub fn named(topic: &str, partitions: &[u32]) -> Named {
        [(topic.to_owned(), partitions.iter().copied().map(PartitionId).collect())].into()
    }

    #[test]
    fn subscriptions_of_every_version_are_read_and_a_later_one_as_the_last() {
        for version in 0..=5 {
            let mut bytes = subscription(version, &["b", "a"], &named("a", &[1, 0])).to_vec();
            let said = Subscription::read(&bytes).unwrap();
            assert_eq!(said.topics, ["a".to_owned(), "b".to_owned()].into());
            assert_eq!(said.owned, if version == 0 { Named::new() } else { named("a", &[0, 1]) });
            assert_eq!((said.version, said.rack), (version.min(3), None));
            bytes.extend(b"what a later version adds");
            assert!(Subscription::read(&bytes).is_some());
        }
        let mut racked = subscription(3, &["a"], &Named::new()).to_vec();
        racked.truncate(racked.len() - 2);
        racked.extend(b"\x00\x01r");
        assert_eq!(Subscription::read(&racked).unwrap().rack.as_deref(), Some("r"));
    }

    #[test]
    fn version_1_may_leave_out_what_is_owned_and_nothing_else_is_left_out() {
        let whole = subscription(3, &["a"], &named("a", &[0]));
        for len in 0..whole.len() {
            assert_eq!(Subscription::read(&whole[..len]), None, "{len}");
        }
        let mut short = subscription(0, &["a"], &Named::new()).to_vec();
        short[1] = 1;
        assert_eq!(Subscription::read(&short).unwrap().owned, Named::new());
    }

    #[test]
    fn assignments_come_back_as_they_were_written() {
        let partitions = Named::from_iter([named("a", &[0, 7]), named("b", &[1])].into_iter().flatten());
        let bytes = Assignment::write(2, &partitions);
        assert_eq!(bytes[..2], [0, 2]);
        assert_eq!(Assignment::read(&bytes), Some(Assignment { partitions, has_user_data: false }));
        assert_eq!(Assignment::read(b""), Some(Assignment::default()));
        for len in 1..bytes.len() {
            assert_eq!(Assignment::read(&bytes[..len]), None, "{len}");
        }
        let with_data = [&bytes[..bytes.len() - 4], b"\x00\x00\x00\x01x"].concat();
        assert!(Assignment::read(&with_data).unwrap().has_user_data);
    }

    #[test]
    fn topics_are_read_from_the_front_and_garbage_is_none() {
        let told = b"\x00\x03\x00\x00\x00\x02\x00\x01a\x00\x06orders and more";
        assert_eq!(topics(told), Some(vec![&b"a"[..], &b"orders"[..]]));
        assert_eq!(topics(b"\x00\x01\x00\x00\x00\x00"), Some(Vec::new()));
        let garbage: [&[u8]; 5] = [
            b"",
            b"\x00\x01\x7f\xff\xff\xff",
            b"\x00\x01\xff\xff\xff\xff",
            b"\x00\x01\x00\x00\x00\x01\x00\x09a",
            b"sticky",
        ];
        for garbage in garbage {
            assert_eq!(topics(garbage), None, "{garbage:?}");
            assert_eq!(Subscription::read(garbage), None, "{garbage:?}");
        }
    }
}

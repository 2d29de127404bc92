//! What members read, as far as they tell it: the coordinator hands their metadata on as it is, but a consumer's begins
//! with its topics.

use bytes::Buf;

use super::ClassicGroup;
use super::phase::Phase;
use crate::model::{Readers, Timestamp};

/// The protocol type of Kafka's consumers.
const CONSUMER: &str = "consumer";

impl ClassicGroup {
    /// What is known of those who read with the group's positions. `kept_at` is when the group was last kept.
    pub fn readers(&self, kept_at: Timestamp) -> Readers {
        match (&self.phase, &self.protocol_type) {
            (Phase::Empty, None) => Readers::Unknown,
            (Phase::Empty, Some(_)) => Readers::LeftAt(kept_at),
            (Phase::Stable(_), Some(_)) if self.tells_topics() => Readers::Reading,
            _ => Readers::Agreeing,
        }
    }

    /// True when each member is one of Kafka's consumers, whose topics are known.
    pub fn tells_topics(&self) -> bool {
        let told = |metadata: &[u8]| topics(metadata).is_some();
        self.protocol_type.as_deref() == Some(CONSUMER)
            && self.members.values().all(|member| member.protocols.iter().all(|protocol| told(&protocol.metadata)))
    }

    /// Whether a member reads the topic of that name, by what it told last.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        let reads = |metadata: &[u8]| topics(metadata).is_some_and(|topics| topics.contains(&topic.as_bytes()));
        self.protocol_type.as_deref() == Some(CONSUMER)
            && self.members.values().any(|member| member.protocols.iter().any(|protocol| reads(&protocol.metadata)))
    }
}

/// The topics at the front of a consumer's metadata: version i16, count i32, then each with its length i16. None: it is no
/// consumer's.
fn topics(mut metadata: &[u8]) -> Option<Vec<&[u8]>> {
    metadata.try_get_i16().ok()?;
    let num_topics = usize::try_from(metadata.try_get_i32().ok()?).ok()?;
    // Each takes two bytes at least: whatever the count says, no more is made room for.
    let mut topics = Vec::with_capacity(num_topics.min(metadata.len() / 2));
    for _ in 0..num_topics {
        let len = usize::try_from(metadata.try_get_i16().ok()?).ok()?;
        let (topic, rest) = metadata.split_at_checked(len)?;
        topics.push(topic);
        metadata = rest;
    }
    Some(topics)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }
}

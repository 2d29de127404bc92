//! What members read, as far as they tell it: the coordinator hands their metadata on as it is, but a consumer's begins
//! with its topics.

use std::collections::BTreeSet;

use super::super::embedded::{CONSUMER, topics};
use super::ClassicGroup;
use super::phase::Phase;
use crate::model::{Readers, Timestamp, split_feed};

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

    /// The views that members subscribe to by name.
    pub fn views(&self) -> BTreeSet<String> {
        let metadata = self.members.values().flat_map(|member| &member.protocols).map(|protocol| &protocol.metadata);
        let topics = metadata.filter_map(|metadata| topics(metadata)).flatten();
        let names = topics.filter_map(|topic| std::str::from_utf8(topic).ok());
        names.filter(|name| split_feed(name).is_some()).map(str::to_owned).collect()
    }

    /// Whether a member reads the topic of that name, by what it told last.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        let reads = |metadata: &[u8]| topics(metadata).is_some_and(|topics| topics.contains(&topic.as_bytes()));
        self.protocol_type.as_deref() == Some(CONSUMER)
            && self.members.values().any(|member| member.protocols.iter().any(|protocol| reads(&protocol.metadata)))
    }
}

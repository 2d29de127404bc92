//! What the members' subscriptions mean at present: which topics are there, with which ids and how many partitions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::super::embedded::Named;
use super::member::{Member, Partitions};
use super::pattern::Pattern;
use crate::model::ids::{PartitionId, Timestamp};
use crate::model::split_feed;

/// How long a look at the topics holds while a subscribed one is not there: it may be a view whose commits are yet to
/// come, which no change of the catalog tells.
const MISSING_MS: i64 = 1_000;

/// A topic as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    pub id: Uuid,
    pub partitions: u32,
}

/// The topics that there are.
pub trait Topics {
    /// Another one whenever a topic was created, deleted or got partitions.
    fn version(&self) -> u64;
    /// The topic or view of that name.
    fn find(&self, name: &str) -> Option<Topic>;
    /// The name of the topic or view with that id.
    fn name(&self, id: &Uuid) -> Option<String>;
    /// The names that a regular expression may match.
    fn each_name(&self, visit: &mut dyn FnMut(&str));
}

/// The same partitions by the ids of their topics, of those that are there.
pub(super) fn partitions_of(named: &Named, topics: &dyn Topics) -> Partitions {
    let found = named.iter().filter_map(|(name, partitions)| Some((topics.find(name)?.id, partitions.clone())));
    found.collect()
}

/// The same partitions by the names of their topics, of those that are there.
pub(super) fn names_of<'a, P: IntoIterator<Item = &'a PartitionId>>(
    partitions: impl Iterator<Item = (&'a Uuid, P)>,
    topics: &dyn Topics,
) -> Named {
    let mut named = Named::new();
    for (topic, partitions) in partitions {
        if let Some(name) = topics.name(topic) {
            named.entry(name).or_default().extend(partitions.into_iter().copied());
        }
    }
    named
}

/// The subscriptions of all members, looked up. It follows from them and the topics, and is not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Subscribed {
    topics: BTreeMap<String, Topic>,
    names: HashMap<Uuid, String>,
    /// What each regular expression matches.
    matches: BTreeMap<String, BTreeSet<String>>,
    /// Compiled once, for as long as a member has it.
    patterns: BTreeMap<String, Pattern>,
    /// The views that members name, as of the last look.
    views: BTreeSet<String>,
    looked: Option<Look>,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    version: u64,
    at: Timestamp,
    missing: bool,
}

impl Subscribed {
    /// The next use looks the topics up anew.
    pub(super) fn forget(&mut self) {
        self.looked = None;
    }

    /// The same partitions by the ids of their topics. Those that are known need no other look, which might have to wait.
    pub(super) fn ids_of(&self, named: &Named, topics: &dyn Topics) -> Partitions {
        let id = |name: &str| self.id(name).or_else(|| Some(topics.find(name)?.id));
        named.iter().filter_map(|(name, partitions)| Some((id(name)?, partitions.clone()))).collect()
    }

    /// Whether the topics were looked up since the subscriptions changed.
    pub(super) fn is_known(&self) -> bool {
        self.looked.is_some()
    }

    /// The views that `members` subscribe to by name.
    pub(super) fn views<'a>(&self, members: impl Iterator<Item = &'a Member>) -> BTreeSet<String> {
        // Not at each heartbeat from all that members say: they may be many, with many topics.
        if self.is_known() { self.views.clone() } else { views(members) }
    }

    /// Whether a look now could find something else.
    pub(super) fn is_stale(&self, topics: &dyn Topics, now: Timestamp) -> bool {
        self.looked
            .is_none_or(|look| look.version != topics.version() || (look.missing && now.0 - look.at.0 >= MISSING_MS))
    }

    /// Looks up what `members` subscribe to.
    pub(super) fn look<'a>(
        &mut self,
        members: impl Iterator<Item = &'a Member> + Clone,
        topics: &dyn Topics,
        now: Timestamp,
    ) {
        self.match_patterns(members.clone(), topics);
        self.views = views(members.clone());
        let named = members.flat_map(|member| member.topics.iter());
        let wanted: BTreeSet<&str> = named.chain(self.matches.values().flatten()).map(String::as_str).collect();
        let found: BTreeMap<String, Topic> =
            wanted.iter().filter_map(|name| Some(((*name).to_owned(), topics.find(name)?))).collect();
        self.looked = Some(Look { version: topics.version(), at: now, missing: found.len() < wanted.len() });
        self.names = found.iter().map(|(name, topic)| (topic.id, name.clone())).collect();
        self.topics = found;
    }

    fn match_patterns<'a>(&mut self, members: impl Iterator<Item = &'a Member>, topics: &dyn Topics) {
        let wanted: BTreeSet<&str> = members.filter_map(Member::pattern).collect();
        self.patterns.retain(|text, _| wanted.contains(text.as_str()));
        for text in wanted {
            if !self.patterns.contains_key(text)
                // It was checked when it came; one that this program no longer takes matches nothing.
                && let Ok(pattern) = Pattern::new(text)
            {
                self.patterns.insert(text.to_owned(), pattern);
            }
        }
        self.matches = self.patterns.keys().map(|text| (text.clone(), BTreeSet::new())).collect();
        if self.patterns.is_empty() {
            return;
        }
        let (patterns, matches) = (&self.patterns, &mut self.matches);
        topics.each_name(&mut |name| {
            for (pattern, matched) in patterns.values().zip(matches.values_mut()) {
                if pattern.matches(name) {
                    matched.insert(name.to_owned());
                }
            }
        });
    }

    /// The id of a subscribed topic.
    pub(super) fn id(&self, name: &str) -> Option<Uuid> {
        self.topics.get(name).map(|topic| topic.id)
    }

    pub(super) fn partitions(&self, topic: &Uuid) -> u32 {
        self.names.get(topic).map_or(0, |name| self.topics[name].partitions)
    }

    /// Whether the member subscribes to that topic, by name or by pattern.
    pub(super) fn subscribes(&self, member: &Member, topic: &Uuid) -> bool {
        self.names.get(topic).is_some_and(|name| {
            member.topics.contains(name) || self.matched_by(member).is_some_and(|matched| matched.contains(name))
        })
    }

    /// The topics that the member subscribes to, those that are there.
    pub(super) fn topics_of(&self, member: &Member) -> BTreeSet<Uuid> {
        let matched = self.matched_by(member).into_iter().flatten();
        member.topics.iter().chain(matched).filter_map(|name| Some(self.topics.get(name)?.id)).collect()
    }

    /// Whether the member's pattern matches that name.
    pub(super) fn matches_name(&self, member: &Member, name: &str) -> bool {
        self.matched_by(member).is_some_and(|matched| matched.contains(name))
    }

    fn matched_by(&self, member: &Member) -> Option<&BTreeSet<String>> {
        self.matches.get(member.pattern()?)
    }

    /// The same number for the same topics with the same partitions, on every machine and in every version.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        for (name, topic) in &self.topics {
            hash.take(&(name.len() as u32).to_be_bytes());
            hash.take(name.as_bytes());
            hash.take(topic.id.as_bytes());
            hash.take(&topic.partitions.to_be_bytes());
        }
        hash.0
    }
}

fn views<'a>(members: impl Iterator<Item = &'a Member>) -> BTreeSet<String> {
    members.flat_map(|member| &member.topics).filter(|topic| split_feed(topic).is_some()).cloned().collect()
}

/// FNV-1a. It is kept with the group, and so must never change.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

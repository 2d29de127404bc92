//! What members may tell of themselves, all together. All of it is kept, and looked at whenever topics change.

use std::collections::BTreeSet;

use super::super::classic::GROUP_BYTES_MAX;
use super::ConsumerGroup;
use super::fault::Fault;
use super::member::{Classic, Member};

/// Different regular expressions that the members of a group may subscribe by: each takes memory for its automaton, and is
/// matched against all topics when one comes or goes.
pub const PATTERNS_MAX: usize = 32;

/// About what a text takes beside its bytes.
const TEXT_BYTES: usize = 24;

impl ConsumerGroup {
    /// Whether there is room for what `said` tells, in place of what the member of id `replaces` told. Whoever tells no more
    /// than before is not refused.
    pub(super) fn check_room(&self, id: &str, replaces: Option<&str>, said: &Member) -> Result<(), Fault> {
        let before = self.members.get(replaces.unwrap_or(id));
        let (had, wanted) = (before.map_or(0, |member| member.size(id)), said.size(id));
        let bytes = self.bytes.saturating_sub(had) + wanted;
        if wanted > had && bytes > GROUP_BYTES_MAX {
            return Err(Fault::TooLarge { bytes, max: GROUP_BYTES_MAX });
        }
        match said.pattern().filter(|pattern| before.and_then(Member::pattern) != Some(*pattern)) {
            Some(pattern) => self.check_pattern(replaces.unwrap_or(id), pattern),
            None => Ok(()),
        }
    }

    fn check_pattern(&self, id: &str, pattern: &str) -> Result<(), Fault> {
        let others = self.members.iter().filter(|(other, _)| *other != id);
        let known: BTreeSet<&str> = others.filter_map(|(_, member)| member.pattern()).collect();
        match known.len() >= PATTERNS_MAX && !known.contains(pattern) {
            true => Err(Fault::TooManyPatterns { max: PATTERNS_MAX }),
            false => Ok(()),
        }
    }
}

impl Member {
    /// About the bytes that keeping it takes, with its id, but for its partitions: no two members have the same.
    pub(super) fn size(&self, id: &str) -> usize {
        let optional = [&self.instance, &self.rack, &self.regex, &self.assignor];
        let optional = optional.into_iter().flatten().map(|text| TEXT_BYTES + text.len());
        let topics = self.topics.iter().map(|topic| TEXT_BYTES + topic.len());
        let classic = self.classic.as_ref().map_or(0, Classic::size);
        let said: usize = optional.chain(topics).sum();
        id.len() + self.client_id.len() + self.client_host.len() + said + classic
    }
}

impl Classic {
    fn size(&self) -> usize {
        self.protocols.iter().map(|(name, metadata)| TEXT_BYTES + name.len() + metadata.len()).sum()
    }
}

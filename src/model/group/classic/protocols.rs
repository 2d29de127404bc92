//! How many members know each protocol, and which one they agree on.

use std::collections::BTreeMap;

use super::super::Protocol;
use super::ClassicGroup;
use super::member::Member;

/// The number of members that know each protocol.
#[derive(Debug, Default)]
pub(super) struct Protocols {
    known_by: BTreeMap<String, usize>,
}

impl Protocols {
    pub fn add(&mut self, protocols: &[Protocol]) {
        for protocol in protocols {
            match self.known_by.get_mut(&protocol.name) {
                Some(known_by) => *known_by += 1,
                None => drop(self.known_by.insert(protocol.name.clone(), 1)),
            }
        }
    }

    pub fn remove(&mut self, protocols: &[Protocol]) {
        for protocol in protocols {
            let known_by = self.known_by.get_mut(&protocol.name).expect("a member's protocols are counted");
            *known_by -= 1;
            if *known_by == 0 {
                self.known_by.remove(&protocol.name);
            }
        }
    }

    fn is_known_by(&self, num_members: usize, protocol: &str) -> bool {
        self.known_by.get(protocol) == Some(&num_members)
    }
}

impl ClassicGroup {
    /// True when a member of these could be in the group.
    pub(super) fn speaks(&self, protocol_type: &str, protocols: &[Protocol]) -> bool {
        if self.members.is_empty() {
            return !protocol_type.is_empty() && !protocols.is_empty();
        }
        let known = |protocol: &Protocol| self.protocols.is_known_by(self.members.len(), &protocol.name);
        self.protocol_type.as_deref() == Some(protocol_type) && protocols.iter().any(known)
    }

    /// The protocol that most members prefer, of those that all know.
    pub(super) fn preferred_protocol(&self) -> Option<String> {
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for vote in self.members.values().filter_map(|member| self.vote_of(member)) {
            *votes.entry(vote).or_default() += 1;
        }
        votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(protocol, _)| protocol.to_owned())
    }

    fn vote_of<'a>(&self, member: &'a Member) -> Option<&'a str> {
        let num_members = self.members.len();
        let known = |protocol: &&Protocol| self.protocols.is_known_by(num_members, &protocol.name);
        member.protocols.iter().find(known).map(|protocol| protocol.name.as_str())
    }
}

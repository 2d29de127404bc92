//! A member of a group.

use bytes::Bytes;

use super::super::crossing::Crosser;
use super::super::{Client, Join, MemberDescription, Protocol, Ticket};
use crate::model::Timestamp;

#[derive(Debug)]
pub(super) struct Member {
    pub instance_id: Option<String>,
    pub client: Client,
    pub session_ms: i64,
    pub rebalance_ms: i64,
    pub protocols: Vec<Protocol>,
    /// The last one given.
    pub assignment: Bytes,
    /// It waits for the next generation.
    pub joining: Option<Ticket>,
    /// It waits for its assignment.
    pub syncing: Option<Ticket>,
    /// It has not been in a generation yet.
    pub is_new: bool,
    /// Without a sign of life by then it is out. None while it waits itself, which may take long.
    pub expires: Option<Timestamp>,
}

impl Member {
    pub fn new(join: Join) -> Member {
        Member {
            instance_id: join.instance_id,
            client: join.client,
            session_ms: join.session_ms,
            rebalance_ms: join.rebalance_ms,
            protocols: join.protocols,
            assignment: Bytes::new(),
            joining: None,
            syncing: None,
            is_new: true,
            expires: None,
        }
    }

    /// The member as it comes back from the consumer protocol.
    pub fn taken_back(crosser: Crosser) -> Member {
        Member {
            instance_id: crosser.instance,
            client: crosser.client,
            session_ms: crosser.session_ms,
            rebalance_ms: crosser.rebalance_ms,
            protocols: crosser.protocols,
            assignment: crosser.assignment,
            joining: None,
            syncing: None,
            is_new: false,
            expires: None,
        }
    }

    /// The metadata that it gave for a protocol.
    pub fn metadata(&self, protocol: Option<&str>) -> Bytes {
        let found = self.protocols.iter().find(|known| Some(known.name.as_str()) == protocol);
        found.map(|known| known.metadata.clone()).unwrap_or_default()
    }

    pub fn is_static(&self) -> bool {
        self.instance_id.is_some()
    }

    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        size_of(self.instance_id.as_deref(), &self.client, &self.protocols)
    }

    pub fn describe(&self, id: &str, protocol: Option<&str>) -> MemberDescription {
        MemberDescription {
            member_id: id.to_owned(),
            instance_id: self.instance_id.clone(),
            client_id: self.client.id.clone(),
            client_host: self.client.host.clone(),
            metadata: self.metadata(protocol),
            assignment: self.assignment.clone(),
        }
    }
}

/// Bytes that a member of these takes. Its assignment is bounded where it is given.
pub(super) fn size_of(instance_id: Option<&str>, client: &Client, protocols: &[Protocol]) -> usize {
    const MEMBER: usize = 512;
    const PROTOCOL: usize = 64;
    let protocols = protocols.iter().map(|known| PROTOCOL + known.name.len() + known.metadata.len());
    MEMBER + instance_id.map_or(0, str::len) + client.id.len() + client.host.len() + protocols.sum::<usize>()
}

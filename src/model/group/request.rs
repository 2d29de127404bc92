//! Requests of the classic protocol. Members of a consumer group may speak it too.

use std::collections::BTreeSet;

use bytes::Bytes;

/// A client's name in its member id is cut there: ids are kept, and clients choose their names.
const NAME_BYTES_MAX: usize = 255;

/// What a client asks of a group.
#[derive(Clone, Debug)]
pub enum Request {
    Join(Join),
    Sync(Sync),
    Heartbeat(Heartbeat),
    Leave(Vec<Leaving>),
}

/// A wish to be a member of the next generation.
#[derive(Clone, Debug)]
pub struct Join {
    /// Empty: it has none yet.
    pub member_id: String,
    /// Of a static member, which comes back under this name.
    pub instance_id: Option<String>,
    pub client: Client,
    /// What to make a member id of; nobody else ever gets the same.
    pub unique: String,
    pub protocol_type: String,
    /// By preference.
    pub protocols: Vec<Protocol>,
    pub session_ms: i64,
    pub rebalance_ms: i64,
    pub reason: Option<String>,
    /// The client understands that it has to ask again with the id that it is given (version 4 on).
    pub asks_twice: bool,
    /// The client understands that it leads without making an assignment (version 9 on).
    pub may_skip_assignment: bool,
}

impl Join {
    /// An id for a member that has none, as Kafka's: the instance's or the client's name, and what makes it unique.
    pub(super) fn new_id(&self) -> String {
        let name = self.instance_id.as_deref().unwrap_or(&self.client.id);
        let fits = (0..=name.len().min(NAME_BYTES_MAX)).rev().find(|len| name.is_char_boundary(*len));
        format!("{}-{}", &name[..fits.unwrap_or_default()], self.unique)
    }

    /// A protocol that is named twice would count for two members.
    pub(super) fn name_once(&mut self) {
        let mut seen = BTreeSet::new();
        self.protocols.retain(|protocol| seen.insert(protocol.name.clone()));
    }
}

/// Who connects, for operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    pub id: String,
    pub host: String,
}

/// A way to assign that a member knows, and what it tells the leader for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    pub name: String,
    pub metadata: Bytes,
}

/// A member asks for its assignment; the leader brings everybody's.
#[derive(Clone, Debug)]
pub struct Sync {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub generation: i32,
    /// Told by version 5 on.
    pub protocol_type: Option<String>,
    pub protocol: Option<String>,
    pub assignments: Vec<(String, Bytes)>,
}

/// A sign of life.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub generation: i32,
}

/// A member that leaves, or is removed by an operator who names its instance alone.
#[derive(Clone, Debug)]
pub struct Leaving {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub reason: Option<String>,
}

//! A group as operators see it.

use bytes::Bytes;

/// A group in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// By Kafka's name.
    pub state: &'static str,
    /// Empty: it never had members.
    pub protocol_type: String,
}

/// A group in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub state: &'static str,
    pub protocol_type: String,
    /// Empty while members have yet to agree.
    pub protocol: String,
    pub members: Vec<MemberDescription>,
}

/// A member in full.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberDescription {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub client_id: String,
    pub client_host: String,
    pub metadata: Bytes,
    pub assignment: Bytes,
}

//! Consumer groups: who is a member, in which generation, with which assignment. Pure machines, one for each group.
//!
//! ```text
//! Group::handle(&mut self, input, .., &mut effects)     takes what comes, answers by ticket
//! Group::heartbeat(&mut self, beat, .., &mut effects)   takes what comes by the consumer protocol, answers at once
//! Group::deadline(&self)                                when it wants Input::Due
//! Group::restore(kept, ..)                              after a restart: the same generation and members, no rebalance
//! ```
//!
//! A group is of one of two kinds, and goes from one to the other with its members: see `migration`.
//!
//! Time is an input and never goes back. What must outlive a restart leaves as [`Effect::Keep`]; `broker/groups` journals
//! it, runs the timers and carries the answers.

mod answer;
pub mod classic;
mod committer;
pub mod consumer;
mod crossing;
mod description;
mod embedded;
mod error;
mod machine;
mod migration;
mod request;
#[cfg(test)]
mod tests;

use std::fmt;

use bytes::Bytes;

use crate::model::GroupKind;

pub use answer::{Answer, JoinRefused, Joined, JoinedMember, LeftMember, Synced};
pub use committer::Committer;
pub use crossing::NoUpgrade;
pub use description::{Description, MemberDescription, Summary};
pub use error::GroupError;
pub use machine::{Group, GroupSettings};
pub use request::{Client, Heartbeat, Join, Leaving, Protocol, Request, Sync};

/// Names a request whose answer is still to come; unique in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What comes to a group.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack, and nearly always the large one")]
pub enum Input {
    /// A request, to be answered once under this ticket.
    Asked { ticket: Ticket, request: Request },
    /// Whoever waited for that answer is gone.
    Gone(Ticket),
    /// The deadline has come.
    Due,
}

/// What a group wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Reply {
        to: Ticket,
        answer: Answer,
    },
    /// This has to survive a restart. Answers that come after it wait until it does.
    Keep {
        head: Bytes,
        members: Vec<(String, Option<Bytes>)>,
    },
    /// Told to operators.
    Event(Event),
}

/// What operators may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Members have to join again.
    Rebalancing { reason: Reason },
    /// The members of this generation know what they read.
    Stable { generation: i32, num_members: usize },
    /// Nobody is left.
    Emptied { generation: i32 },
    /// With its members it is of that kind now.
    Migrated { to: GroupKind },
}

/// Why members have to join again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `client` is the reason that the client gave.
    NewMember {
        member: String,
        client: Option<String>,
    },
    Rejoined {
        member: String,
        client: Option<String>,
    },
    /// A static member came back under a new id, and with protocols that change what the group speaks.
    Replaced {
        member: String,
    },
    Left {
        members: Vec<String>,
        client: Option<String>,
    },
    Expired {
        members: Vec<String>,
    },
    NotSynced {
        members: Vec<String>,
    },
    /// A member of a consumer group subscribes to something else.
    Resubscribed {
        member: String,
    },
    /// Of the topics that members subscribe to some came, went or grew.
    Topics,
    /// The group came back from the consumer protocol.
    Downgraded,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let client = match self {
            Reason::NewMember { member, client } => {
                write!(f, "member {member} is new")?;
                client
            }
            Reason::Rejoined { member, client } => {
                write!(f, "member {member} joined again")?;
                client
            }
            Reason::Left { members, client } => {
                write!(f, "{} left", members.join(", "))?;
                client
            }
            Reason::Replaced { member } => {
                return write!(f, "a static member came back as {member} with other protocols");
            }
            Reason::Expired { members } => return write!(f, "the session of {} expired", members.join(", ")),
            Reason::NotSynced { members } => return write!(f, "{} did not sync in time", members.join(", ")),
            Reason::Resubscribed { member } => return write!(f, "member {member} subscribes to something else"),
            Reason::Topics => return f.write_str("topics that members subscribe to changed"),
            Reason::Downgraded => return f.write_str("the last member of the consumer protocol is gone"),
        };
        match client {
            Some(client) => write!(f, ": {client}"),
            None => Ok(()),
        }
    }
}

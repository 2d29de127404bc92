//! Consumer groups: who is a member, in which generation, with which assignment. Pure machines, one for each group.
//!
//! ```text
//! Group::handle(&mut self, input, now, &mut effects)   takes what comes, answers by ticket
//! Group::deadline(&self)                               when it wants Input::Due
//! Group::restore(kept, ..)                             after a restart: the same generation and members, no rebalance
//! ```
//!
//! Time is an input and never goes back. What must outlive a restart leaves as [`Effect::Keep`]; `broker/groups` journals
//! it, runs the timers and carries the answers.

mod answer;
pub mod classic;
mod committer;
pub mod consumer;
mod description;
mod error;
mod machine;
mod request;

use std::fmt;

use bytes::Bytes;

pub use answer::{Answer, JoinRefused, Joined, JoinedMember, LeftMember, Synced};
pub use committer::Committer;
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
        };
        match client {
            Some(client) => write!(f, ": {client}"),
            None => Ok(()),
        }
    }
}

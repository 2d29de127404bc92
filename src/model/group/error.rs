//! Why a group refuses something.

use super::consumer::Fault;
use super::crossing::NoUpgrade;

/// See each; `wire/error.rs` has Kafka's codes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    #[error("the group's name is empty")]
    NoName,
    #[error("Group {group} not found.")]
    UnknownGroup { group: String },
    #[error("the group still has members; stop them first")]
    NotEmpty,
    #[error("there are {max} consumer groups, and that is the most; delete some that are not needed")]
    TooManyGroups { max: usize },
    #[error("the group has no member {member:?}")]
    UnknownMember { member: String },
    #[error("a member has to ask again with the id that it is given now")]
    MemberIdRequired,
    #[error("member {member:?} is fenced: instance {instance:?} is member {current:?} now")]
    Fenced { instance: String, member: String, current: String },
    #[error("generation {given} is not the group's, which is {current}")]
    IllegalGeneration { given: i32, current: i32 },
    #[error("the group rebalances; join again")]
    RebalanceInProgress,
    #[error("no protocol of the member is known to all members, or it is of another type than the group's")]
    InconsistentProtocol,
    #[error(
        "a session of {ms} ms is not between {min} (group.min.session.timeout.ms) and {max} (group.max.session.timeout.ms)"
    )]
    SessionTimeout { ms: i64, min: i64, max: i64 },
    #[error("the group has {max} members, and that is the most (group.max.size)")]
    Full { max: usize },
    #[error("what members tell of themselves takes {bytes} bytes, and {max} is the most for a group")]
    TooLarge { bytes: usize, max: usize },
    #[error(transparent)]
    Consumer(#[from] Fault),
    #[error("group {group:?} is not a consumer group")]
    NotConsumer { group: String },
    #[error("group {group:?} has members of the classic protocol and cannot become a consumer group, for {why}")]
    NoUpgrade { group: String, why: NoUpgrade },
    #[error("what the member subscribes to cannot be read: members of a consumer group are Kafka's consumers")]
    NoSubscription,
}

impl GroupError {
    /// The group has no member of that id.
    pub fn unknown_group(group: &str) -> GroupError {
        GroupError::UnknownGroup { group: group.to_owned() }
    }

    pub fn unknown_member(member: &str) -> GroupError {
        GroupError::UnknownMember { member: member.to_owned() }
    }
}

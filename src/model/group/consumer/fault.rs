//! Why a request of a member is refused.

/// A refusal. Nothing of the group was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Invalid(String),
    #[error("member {member:?} is not a member of the group")]
    UnknownMember { member: String },
    #[error("instance id {instance:?} is unknown")]
    UnknownInstance { instance: String },
    #[error("the member is at epoch {found} and the group knows it at {expected}: let go of all partitions and rejoin")]
    FencedEpoch { found: i32, expected: i32 },
    #[error("member {member:?} with instance id {instance:?} was fenced by member {by:?}")]
    FencedInstance { member: String, instance: String, by: String },
    #[error("member {member:?} cannot join, for instance id {instance:?} is still held by member {by:?}")]
    UnreleasedInstance { member: String, instance: String, by: String },
    #[error("the assignor {found:?} is not there; write one of {known}")]
    UnsupportedAssignor { found: String, known: String },
    #[error("the regular expression {regex:?} is not valid: {reason}")]
    InvalidRegex { regex: String, reason: String },
    #[error("the group has reached its maximum of {max} members")]
    Full { max: usize },
    #[error(
        "what members tell of themselves takes {bytes} bytes, and {max} is the most for a group: subscribe to fewer topics"
    )]
    TooLarge { bytes: usize, max: usize },
    #[error("the group's members subscribe by {max} different regular expressions, and that is the most: share one")]
    TooManyPatterns { max: usize },
    #[error("the member epoch {found} is not the member's, which is {expected}")]
    StaleEpoch { found: i32, expected: i32 },
    #[error("members of the consumer protocol move positions with OffsetCommit version 9 or above: upgrade the client")]
    OldCommit,
    #[error("the generation {found} is not the member's, which is {expected}")]
    Generation { found: i32, expected: i32 },
}

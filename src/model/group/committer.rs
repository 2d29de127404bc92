//! Who asks for a group's positions to be moved.

/// A member in a generation (or member epoch), or nobody in particular.
#[derive(Clone, Copy, Debug)]
pub struct Committer<'a> {
    /// Empty: a client that is not a member, such as an operator's tool.
    pub member: &'a str,
    pub instance: Option<&'a str>,
    /// -1 without membership.
    pub generation: i32,
    /// The client speaks of member epochs (OffsetCommit from version 9 on), as members of the consumer protocol must.
    pub knows_epochs: bool,
}

//! The group as operators see it.

use super::super::{Description, Summary};
use super::ClassicGroup;
use super::phase::Phase;

impl ClassicGroup {
    pub fn summary(&self) -> Summary {
        Summary { state: self.phase.name(), protocol_type: self.protocol_type.clone().unwrap_or_default() }
    }

    /// Metadata is told when all members agree on whose it is.
    pub fn describe(&self) -> Description {
        let stable = matches!(self.phase, Phase::Stable(_));
        let protocol = self.protocol.as_deref().filter(|_| stable);
        let Summary { state, protocol_type } = self.summary();
        Description {
            state,
            protocol_type,
            protocol: protocol.unwrap_or_default().to_owned(),
            members: self.members.iter().map(|(id, member)| member.describe(id, protocol)).collect(),
        }
    }
}

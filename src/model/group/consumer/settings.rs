//! What the operator sets for groups of this protocol.

use super::assignor::Assignor;
use crate::model::ids::Timestamp;

/// The settings in force for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub session_timeout_ms: i32,
    pub heartbeat_interval_ms: i32,
    pub members_max: usize,
    /// Those that members may name; the first is taken where none does.
    pub assignors: Vec<Assignor>,
    pub migration: Migration,
}

/// Which way groups with members may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// From the classic to the consumer protocol.
    pub upgrade: bool,
    /// Back.
    pub downgrade: bool,
}

impl Settings {
    /// The assignor where no member names one.
    pub(super) fn default_assignor(&self) -> Assignor {
        self.assignors.first().copied().unwrap_or(Assignor::Uniform)
    }

    pub(super) fn session_end(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0 + i64::from(self.session_timeout_ms))
    }

    pub(super) fn assignor(&self, name: &str) -> Option<Assignor> {
        self.assignors.iter().copied().find(|assignor| assignor.name() == name)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 5_000,
            members_max: i32::MAX as usize,
            assignors: vec![Assignor::Uniform, Assignor::Range],
            migration: Migration { upgrade: true, downgrade: true },
        }
    }
}

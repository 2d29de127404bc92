//! Positions that are forgotten by themselves: those that nobody used for `offsets.retention.minutes`, and those on names
//! whose commits were deleted.

use super::{Broker, ResolveError};
use crate::model::PartitionId;
use crate::view::ViewError;
use crate::view::name::{TopicName, parse_topic};

impl Broker {
    /// Looks through all groups. Waits for the disk where a name's commits are looked up.
    pub fn forget_old_positions(&self) {
        let groups =
            self.core.look(|state| state.subscriptions().map(|(group, _)| group.to_owned()).collect::<Vec<_>>());
        let retention_ms = i64::try_from(self.settings.typed().offsets_retention.as_millis()).unwrap_or(i64::MAX);
        for group in groups.value {
            let num_unused = self.forget_unused(&group, retention_ms).unwrap_or_else(|error| {
                tracing::warn!(group, %error, "the group's positions cannot be looked at");
                0
            });
            let num_forgotten = num_unused + self.forget_deleted(&group);
            if num_forgotten > 0 {
                tracing::info!(group, num_forgotten, "old positions forgotten");
            }
        }
        self.kick();
    }

    /// What was deleted stays so: the names can be looked at before it is decided.
    fn forget_deleted(&self, group: &str) -> usize {
        let positions = self.look_at_positions(group, |subscription| {
            let positions = subscription.into_iter().flat_map(|subscription| subscription.positions());
            positions.map(|(topic, partition, _)| (topic.to_owned(), partition)).collect::<Vec<_>>()
        });
        let mut deleted: Vec<(String, PartitionId)> = Vec::new();
        let mut last: Option<(String, bool)> = None;
        for (topic, partition) in positions.value {
            let is_deleted = match &last {
                Some((known, is_deleted)) if *known == topic => *is_deleted,
                _ => self.is_deleted(&topic),
            };
            last = Some((topic.clone(), is_deleted));
            if is_deleted {
                deleted.push((topic, partition));
            }
        }
        if deleted.is_empty() {
            return 0;
        }
        self.decide(|state| state.decide_forget_positions(group, deleted)).value
    }

    /// True for the name of commits of which some are gone: it will never be read again.
    fn is_deleted(&self, topic: &str) -> bool {
        let Ok(TopicName::View(name)) = parse_topic(topic) else { return false };
        matches!(
            self.resolve_view(&name).err(),
            Some(ResolveError::View(
                ViewError::CommitsDropped { .. } | ViewError::RecordsDeleted { .. } | ViewError::StreamGone { .. }
            ))
        )
    }
}

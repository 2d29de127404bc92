//! What entries about subscriptions change.

use super::super::entry::{GroupKept, PositionsMoved};
use super::super::ids::PartitionId;
use super::super::state::State;
use super::super::subscription::Subscription;

impl State {
    pub(super) fn move_positions(&mut self, moved: &PositionsMoved) {
        self.change_subscription(&moved.group, |subscription| {
            moved.positions.iter().for_each(|position| subscription.move_to(moved.at, position));
        });
    }

    pub(super) fn forget_positions(&mut self, group: &str, positions: &[(String, PartitionId)]) {
        self.change_subscription(group, |subscription| {
            positions.iter().for_each(|(topic, partition)| subscription.forget(topic, *partition));
        });
    }

    pub(super) fn keep_group(&mut self, kept: &GroupKept) {
        self.change_subscription(&kept.group, |subscription| subscription.keep(kept));
    }

    pub(super) fn delete_group(&mut self, group: &str) {
        let subscription = self.subscriptions.remove(group);
        let subscription = subscription.unwrap_or_else(|| panic!("group {group:?} is deleted and does not exist"));
        self.num_positions -= subscription.num_positions;
        self.metadata_bytes -= subscription.metadata_bytes;
    }

    /// A deleted topic's positions would point into another history if the name is given again.
    pub(super) fn forget_positions_on(&mut self, feed: &str) {
        let (mut num_forgotten, mut bytes_forgotten) = (0, 0);
        self.subscriptions.retain(|_, subscription| {
            let (num, bytes) = (subscription.num_positions, subscription.metadata_bytes);
            subscription.forget_feed(feed);
            num_forgotten += num - subscription.num_positions;
            bytes_forgotten += bytes - subscription.metadata_bytes;
            !subscription.is_empty()
        });
        self.num_positions -= num_forgotten;
        self.metadata_bytes -= bytes_forgotten;
    }

    /// A subscription is there as long as it holds anything.
    pub(super) fn change_subscription(&mut self, group: &str, change: impl FnOnce(&mut Subscription)) {
        let subscription = match self.subscriptions.get_mut(group) {
            Some(known) => known,
            None => self.subscriptions.entry(group.to_owned()).or_default(),
        };
        let (num, bytes) = (subscription.num_positions, subscription.metadata_bytes);
        change(subscription);
        self.num_positions = self.num_positions + subscription.num_positions - num;
        self.metadata_bytes = self.metadata_bytes + subscription.metadata_bytes - bytes;
        if subscription.is_empty() {
            self.subscriptions.remove(group);
        }
    }
}

//! The groups' clock: sessions that expire, rebalances whose time is over.

use std::sync::Arc;
use std::time::Duration;

use super::super::Broker;
use crate::model::Timestamp;

/// Runs until the broker stops.
pub(in super::super) async fn run(broker: Arc<Broker>) {
    while !broker.is_stopping() {
        tokio::select! {
            () = until_due(&broker) => {}
            () = broker.stop_requested() => return,
        }
        while let Some(group) = broker.groups.deadlines.take_due(broker.now()) {
            broker.wake_group(&group);
            // One group after the other, and others' requests between them.
            tokio::task::yield_now().await;
        }
    }
}

async fn until_due(broker: &Broker) {
    loop {
        let moved = broker.groups.deadlines.moved();
        match broker.groups.deadlines.next() {
            None => moved.await,
            Some(deadline) => {
                let left = left_until(deadline, broker.now());
                if left.is_zero() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = moved => {}
                }
            }
        }
    }
}

fn left_until(deadline: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(deadline.0 - now.0).unwrap_or(0))
}

impl Broker {
    fn wake_group(&self, group: &str) {
        let Some(slot) = self.groups.running(group) else { return };
        slot.with(|running| {
            if !running.is_gone() {
                running.due(self.now());
                self.groups.finish(self, &slot, running);
            }
        });
        self.kick();
    }
}

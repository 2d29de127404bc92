//! What the broker does by itself: seals that are due, checkpoints, the watch on free space.

use std::sync::Arc;
use std::time::Duration;

use super::Broker;
use crate::model::Timestamp;

/// The longest wait for the first look at what retention lets go.
const RETENTION_DELAY_MAX: Duration = Duration::from_secs(30);

/// How often free space and the journal's length are looked at.
const TICK: Duration = Duration::from_secs(1);

/// Runs until the broker stops.
pub(super) async fn run(broker: Arc<Broker>) {
    tokio::select! {
        () = keep_sealing(&broker) => {}
        () = keep_the_disk(&broker) => {}
        () = forget_positions(&broker) => {}
        () = forget_transactional_ids(&broker) => {}
        () = broker.stop_requested() => {}
    }
}

async fn keep_sealing(broker: &Broker) {
    let mut tick = ticks(Duration::ZERO, TICK);
    while !broker.is_stopping() {
        tokio::select! {
            () = until_due(broker) => {}
            _ = tick.tick() => broker.clock.follow_wall(),
        }
        broker.seal_what_is_due();
        // More may be due already.
        tokio::task::yield_now().await;
    }
}

/// Beside the seals, which a slow disk must not hold up.
async fn keep_the_disk(broker: &Arc<Broker>) {
    let mut tick = ticks(Duration::ZERO, TICK);
    while !broker.is_stopping() {
        let by_time = tokio::select! {
            _ = tick.tick() => true,
            // A disk may fill within a tick, by others too.
            () = broker.flush.grown() => false,
        };
        look_after_the_disk(broker, by_time).await;
    }
}

/// Forgets the positions of groups that nobody uses any more.
async fn forget_positions(broker: &Arc<Broker>) {
    let period = broker.settings().typed().offsets_check_interval;
    let mut tick = ticks(period, period);
    while !broker.is_stopping() {
        tick.tick().await;
        let broker = broker.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || broker.forget_old_positions()).await {
            tracing::error!(%error, "the look at old positions ended unexpectedly");
        }
    }
}

async fn forget_transactional_ids(broker: &Broker) {
    let period = broker.settings().typed().transactional_ids_check_interval;
    let mut tick = ticks(period, period);
    while !broker.is_stopping() {
        tick.tick().await;
        broker.forget_old_transactional_ids();
    }
}

/// Ticks every `period`, the first time after `delay`; after a late one the next is as far away as ever.
fn ticks(delay: Duration, period: Duration) -> tokio::time::Interval {
    let mut tick = tokio::time::interval_at(tokio::time::Instant::now() + delay, period);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tick
}

/// Looks after retention, beside the rest: it may take long, and seals are not held up by it.
pub(super) async fn retain(broker: Arc<Broker>) {
    let period = broker.settings().typed().retention_check_interval;
    let mut tick = ticks(period.min(RETENTION_DELAY_MAX), period);
    while !broker.is_stopping() {
        tick.tick().await;
        let broker = broker.clone();
        match tokio::task::spawn_blocking(move || broker.enforce_retention()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "files of deleted history stay until a checkpoint succeeds"),
            Err(error) => tracing::error!(%error, "retention ended unexpectedly"),
        }
    }
}

/// Completes when a stream has to be sealed by its age.
async fn until_due(broker: &Broker) {
    loop {
        let changed = broker.deadline_changed();
        match broker.deadline() {
            None => changed.await,
            Some(deadline) => {
                let left = left_until(deadline, broker.now());
                if left.is_zero() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = changed => {}
                }
            }
        }
    }
}

pub(super) fn left_until(deadline: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(deadline.0 - now.0).unwrap_or(0))
}

/// What may wait for the disk runs on no async worker.
async fn look_after_the_disk(broker: &Arc<Broker>, by_time: bool) {
    let looking = broker.clone();
    let look = move || {
        looking.watch_free_space();
        if by_time {
            looking.mark_idle_journal();
        }
        looking.checkpoint_if_due();
    };
    if let Err(error) = tokio::task::spawn_blocking(look).await {
        // It may have held the journal: what it left half done must not be built upon.
        broker.flush.fail(format!("upkeep of the disk panicked: {error}"));
    }
}

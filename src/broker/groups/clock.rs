//! The groups' clock: sessions that expire, rebalances whose time is over.
//!
//! Time in which the whole process stood still (a stopped process, a paused virtual machine) is nobody's fault and does
//! not count: the heartbeats of the members wait in their sockets meanwhile, and would find their sessions expired.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::super::Broker;
use super::super::upkeep::left_until;
use super::subscribable::Subscribable;
use crate::model::Timestamp;

/// How often the clock is looked at, at least, so that a pause is noticed.
const TICK: Duration = Duration::from_secs(1);

/// A longer time without a look was a pause.
const PAUSE_MIN: Duration = Duration::from_secs(3);

/// Time that passes while the process runs.
#[derive(Default)]
pub(super) struct RunningTime(Mutex<Passed>);

#[derive(Default)]
struct Passed {
    /// Never, at first: the start may have taken long.
    looked: Option<Duration>,
    paused: Duration,
}

impl RunningTime {
    /// The time, when the monotonic clock says `elapsed`. Never goes back.
    pub fn at(&self, elapsed: Duration) -> Timestamp {
        let mut passed = self.0.lock().expect("no code panics while it holds the time");
        let before = passed.looked.unwrap_or(elapsed);
        let since = elapsed.saturating_sub(before);
        if since > PAUSE_MIN {
            passed.paused += since - TICK;
            tracing::warn!(ms = since.as_millis(), "the process stood still; sessions of groups go on from here");
        }
        let looked = before.max(elapsed);
        passed.looked = Some(looked);
        let running = looked - passed.paused;
        Timestamp(i64::try_from(running.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Runs until the broker stops.
pub(in super::super) async fn run(broker: Arc<Broker>) {
    while !broker.is_stopping() {
        tokio::select! {
            () = until_due(&broker) => {}
            () = broker.stop_requested() => return,
        }
        while broker.wake_due_group() {
            // One group after the other, and others' requests between them.
            tokio::task::yield_now().await;
        }
    }
}

async fn until_due(broker: &Broker) {
    loop {
        let moved = broker.groups.deadlines.moved();
        let now = broker.group_time();
        let left = broker.groups.deadlines.next().map_or(TICK, |deadline| left_until(deadline, now));
        if left.is_zero() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(left.min(TICK)) => {}
            () = moved => {}
        }
    }
}

impl Broker {
    /// The time by which groups go, in ms: monotonic, and without the pauses of the process.
    pub(super) fn group_time(&self) -> Timestamp {
        self.groups.time.at(self.clock.elapsed())
    }

    /// Tells a group that its deadline has come. False when none is due.
    pub(crate) fn wake_due_group(&self) -> bool {
        let due = self.groups.deadlines.take_due(self.group_time());
        due.inspect(|group| self.wake_group(group)).is_some()
    }

    fn wake_group(&self, group: &str) {
        let Some(slot) = self.groups.running(group) else { return };
        let (topics, settings) = (Subscribable::now(self), self.groups.settings_of(group));
        let around = settings.around(&topics);
        slot.with(|running| {
            if !running.is_gone() {
                running.due(&around, self.group_time(), self.durable.lsn());
                self.groups.finish(self, &slot, running);
            }
        });
        self.kick();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_the_process_does_not_count_and_time_never_goes_back() {
        let time = RunningTime::default();
        let at = |ms| time.at(Duration::from_millis(ms)).0;
        assert_eq!([at(0), at(900), at(3_900), at(3_800)], [0, 900, 3_900, 3_900]);
        // A minute's pause counts as a tick.
        assert_eq!([at(63_900), at(64_000), at(66_000)], [4_900, 5_000, 7_000]);
    }
}

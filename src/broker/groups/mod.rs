//! Consumer groups as they run: a machine for each behind its own lock, its clock, its answers, and what of it lasts.
//!
//! The machines are in [`crate::model::group`]. Here each has a [`Running`] as long as it has members or is expected to;
//! a group without members is in the state alone, and is restored when somebody asks for it. What a machine wants kept
//! is journaled under its lock, so that whoever looks next, and whatever is answered next, rests on it.

mod ask;
mod clock;
mod commit;
mod consumer;
mod deadlines;
mod delete;
mod forget;
mod list;
mod pending;
mod running;
mod stage;
mod subscribable;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

pub use self::ask::Asked;
use self::clock::RunningTime;
pub(super) use self::clock::run;
pub use self::commit::CommitError;
use self::deadlines::Deadlines;
pub use self::list::ListedGroup;
use self::pending::PendingIds;
use self::running::{Running, Slot};
pub use self::stage::StageError;
pub use self::subscribable::{Subscribable, topic_name_of};
use super::core::Core;
use super::settings::LiveSettings;
use super::{Broker, Gated};
use crate::config::{GroupTimes, Settings};
use crate::metrics;
use crate::model::codec::CodecError;
pub use crate::model::group::Committer;
use crate::model::group::classic::ClassicSettings;
use crate::model::group::consumer::{self as consumer_group, Assignor, Migration};
use crate::model::group::{Group, GroupError, GroupSettings};
use crate::model::{Kept, Lsn, SUBSCRIPTIONS_MAX, Timestamp};

/// The groups that run.
pub(super) struct Groups {
    /// What holds for a group on which nothing is set.
    settings: GroupSettings,
    live: Arc<LiveSettings>,
    slots: RwLock<HashMap<Arc<str>, Arc<Slot>>>,
    deadlines: Deadlines,
    pending: PendingIds,
    time: RunningTime,
}

/// A group whose members cannot be read from the data folder.
#[derive(Debug, thiserror::Error)]
#[error("group {group:?} cannot be read: {error}")]
pub struct UnreadableGroup {
    group: String,
    error: CodecError,
}

impl Groups {
    /// The groups as they were kept; those with members run from now on.
    pub fn restore(core: &Core, live: Arc<LiveSettings>, elapsed: Duration) -> Result<Groups, UnreadableGroup> {
        let groups = Groups {
            settings: settings_of(live.typed()),
            live,
            slots: RwLock::default(),
            deadlines: Deadlines::default(),
            pending: PendingIds::default(),
            time: RunningTime::default(),
        };
        let now = groups.time.at(elapsed);
        let kept: Vec<(String, Kept)> = core
            .look(|state| {
                let kept = state.subscriptions().filter_map(|(name, s)| Some((name.to_owned(), s.kept()?.clone())));
                kept.collect()
            })
            .value;
        for (name, kept) in kept {
            let restored = Group::restore(&kept, &groups.settings_of(&name), now);
            let group = restored.map_err(|error| UnreadableGroup { group: name.clone(), error })?;
            if !group.is_at_rest() {
                groups.insert(Slot::new(&name, group, Lsn(0)));
            }
        }
        Ok(groups)
    }

    fn insert(&self, slot: Arc<Slot>) {
        slot.with(|running| self.settle(&slot, running));
        insert(&mut self.slots.write().expect("no code panics while it holds the groups"), slot);
    }

    /// Works on a group, whether it runs or not, under its lock.
    fn with<T>(
        &self,
        broker: &Broker,
        group: &str,
        work: impl FnOnce(&Arc<Slot>, &mut Running) -> T,
    ) -> Result<T, GroupError> {
        let mut work = Some(work);
        loop {
            let slot = self.slot(broker, group)?;
            let worked = slot.with(|running| {
                // Put to rest between the look and the lock: it has another slot by now.
                if running.is_gone() {
                    return None;
                }
                let work = work.take().expect("it is done once");
                let result = work(&slot, running);
                self.finish(broker, &slot, running);
                Some(result)
            });
            if let Some(result) = worked {
                return Ok(result);
            }
        }
    }

    /// The same for an answer; that the group cannot be worked on is one too.
    fn answer<T, E: From<GroupError>>(
        &self,
        broker: &Broker,
        group: &str,
        work: impl FnOnce(&mut Running) -> Gated<Result<T, E>>,
    ) -> Gated<Result<T, E>> {
        let worked = self.with(broker, group, |_, running| work(running));
        worked.unwrap_or_else(|error| Gated { value: Err(error.into()), durable_at: broker.core.next() })
    }

    /// Carries out what the machine wants, and puts it to rest if it holds nothing.
    fn finish(&self, broker: &Broker, slot: &Slot, running: &mut Running) {
        running.carry_out(broker, &slot.name);
        let rests = running.try_rest();
        self.settle(slot, running);
        if rests {
            let mut slots = self.slots.write().expect("no code panics while it holds the groups");
            slots.remove(&slot.name);
            count(&slots);
        }
    }

    /// What holds for a group.
    fn settings_of(&self, group: &str) -> Cow<'_, GroupSettings> {
        let Some(own) = self.live.group(group) else { return Cow::Borrowed(&self.settings) };
        let GroupTimes { session_timeout_ms, heartbeat_interval_ms } = own.times;
        let consumer =
            consumer_group::Settings { session_timeout_ms, heartbeat_interval_ms, ..self.settings.consumer.clone() };
        Cow::Owned(GroupSettings { consumer, ..self.settings.clone() })
    }

    /// Brings the clock and the counts up to date.
    fn settle(&self, slot: &Slot, running: &mut Running) {
        running.settle(&slot.name, &self.deadlines, &self.pending);
    }

    /// A group as it was kept, if anything was.
    fn machine_of(&self, group: &str, kept: Option<&Kept>, now: Timestamp) -> Group {
        match kept {
            Some(kept) => Group::restore(kept, &self.settings_of(group), now)
                .expect("what this process wrote, or read at its start, it can read"),
            None => Group::new(&self.settings),
        }
    }

    /// The group is as if nobody had ever joined it.
    fn begin_anew(&self, running: &mut Running) {
        running.replace(Group::new(&self.settings));
    }

    fn running(&self, group: &str) -> Option<Arc<Slot>> {
        self.slots.read().expect("no code panics while it holds the groups").get(group).cloned()
    }

    fn slot(&self, broker: &Broker, group: &str) -> Result<Arc<Slot>, GroupError> {
        if let Some(slot) = self.running(group) {
            return Ok(slot);
        }
        let mut slots = self.slots.write().expect("no code panics while it holds the groups");
        if let Some(slot) = slots.get(group) {
            return Ok(slot.clone());
        }
        let max = SUBSCRIPTIONS_MAX;
        let known = broker.core.look(|state| match state.subscription(group) {
            Some(subscription) => Some(subscription.kept().cloned()),
            None => (slots.len() < max && state.subscriptions().len() < max).then_some(None),
        });
        let kept = known.value.ok_or(GroupError::TooManyGroups { max })?;
        let slot = Slot::new(group, self.machine_of(group, kept.as_ref(), broker.group_time()), known.durable_at);
        insert(&mut slots, slot.clone());
        Ok(slot)
    }
}

fn insert(slots: &mut HashMap<Arc<str>, Arc<Slot>>, slot: Arc<Slot>) {
    slots.insert(slot.name.clone(), slot);
    count(slots);
}

fn count(slots: &HashMap<Arc<str>, Arc<Slot>>) {
    metrics::all().groups.set(i64::try_from(slots.len()).unwrap_or(i64::MAX));
}

fn settings_of(settings: &Settings) -> GroupSettings {
    GroupSettings {
        classic: ClassicSettings {
            session_ms_min: settings.group_session_ms_min,
            session_ms_max: settings.group_session_ms_max,
            initial_delay_ms: settings.group_initial_rebalance_delay_ms,
            num_members_max: settings.group_members_max,
        },
        consumer: consumer_group::Settings {
            session_timeout_ms: settings.consumer_groups.session_timeout_ms,
            heartbeat_interval_ms: settings.consumer_groups.heartbeat_interval_ms,
            members_max: settings.consumer_groups.members_max,
            assignors: settings.consumer_groups.assignors.iter().filter_map(|name| Assignor::named(name)).collect(),
            migration: Migration {
                upgrade: settings.consumer_groups.upgrade,
                downgrade: settings.consumer_groups.downgrade,
            },
        },
    }
}

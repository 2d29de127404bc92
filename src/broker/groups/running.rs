//! One group that runs: its machine, who waits for answers, and the lock around both.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use super::super::{Broker, Gated};
use super::deadlines::Deadlines;
use super::pending::PendingIds;
use crate::metrics;
use crate::model::group::consumer::{Around, Heartbeat, Told};
use crate::model::group::{Answer, Effect, Event, Group, GroupError, Input, Request, Ticket};
use crate::model::{GroupKept, Lsn, Timestamp};

/// No session is shorter, in ms.
const LONG_MS: i64 = 1_000;

/// How soon it is looked at again whether a group's answers have left.
const HOLD_MS: i64 = 500;

/// What members have then to be heard: their heartbeat interval, as most clients have it.
const GRACE_MS: i64 = 3_000;

/// A group's place.
pub(super) struct Slot {
    pub name: Arc<str>,
    running: Mutex<Running>,
}

/// A group's machine and what is around it.
pub(super) struct Running {
    pub machine: Group,
    waiting: HashMap<Ticket, oneshot::Sender<Gated<Answer>>>,
    last_ticket: u64,
    /// Everything the machine wanted kept is below.
    pub kept_at: Lsn,
    /// When it last wanted something kept.
    kept_time: Timestamp,
    /// As the clock knows it.
    deadline: Option<Timestamp>,
    /// The clock has no say before.
    not_before: Timestamp,
    /// Answers did not leave in time, for the disk was slow.
    held: bool,
    num_members: usize,
    num_pending: usize,
    effects: Vec<Effect>,
    gone: bool,
}

impl Slot {
    /// What the machine was restored from is below `kept_at`.
    pub fn new(name: &str, machine: Group, kept_at: Lsn) -> Arc<Slot> {
        let running = Running {
            machine,
            waiting: HashMap::new(),
            last_ticket: 0,
            kept_at,
            kept_time: Timestamp(i64::MAX),
            deadline: None,
            not_before: Timestamp(i64::MIN),
            held: false,
            num_members: 0,
            num_pending: 0,
            effects: Vec::new(),
            gone: false,
        };
        Arc::new(Slot { name: name.into(), running: Mutex::new(running) })
    }

    /// Works on the group. Nothing else does meanwhile.
    pub fn with<T>(&self, work: impl FnOnce(&mut Running) -> T) -> T {
        // After a panic the machine's rules cannot be relied on, and it decides who reads what.
        let mut running = self.running.lock().unwrap_or_else(|_| {
            tracing::error!(group = %self.name, "a group's machine panicked; a restart recovers it from the journal");
            std::process::abort()
        });
        work(&mut running)
    }
}

impl Running {
    /// Asks the machine; the answer comes through the channel.
    pub fn ask(
        &mut self,
        request: Request,
        around: &Around<'_>,
        now: Timestamp,
    ) -> (Ticket, oneshot::Receiver<Gated<Answer>>) {
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(ticket, answer);
        self.machine.handle(Input::Asked { ticket, request }, around, now, &mut self.effects);
        (ticket, answered)
    }

    /// Takes a heartbeat of the consumer protocol.
    pub fn heartbeat(
        &mut self,
        name: &str,
        beat: &Heartbeat,
        around: &Around<'_>,
        now: Timestamp,
    ) -> Result<Told, GroupError> {
        self.machine.heartbeat(name, beat, around, now, &mut self.effects)
    }

    /// Nobody waits for that answer any more.
    pub fn forget(&mut self, ticket: Ticket, around: &Around<'_>, now: Timestamp) {
        if self.waiting.remove(&ticket).is_some() {
            self.machine.handle(Input::Gone(ticket), around, now, &mut self.effects);
        }
    }

    /// The clock has come to the group's deadline. While what was decided waits long for the disk, members have no answers
    /// and cannot say that they are alive; nobody's time runs out meanwhile, nor just after.
    pub fn due(&mut self, around: &Around<'_>, now: Timestamp, durable: Lsn) {
        self.deadline = None;
        let waits_long = self.kept_at > durable && now.0.saturating_sub(self.kept_time.0) >= LONG_MS;
        if waits_long {
            self.not_before = Timestamp(now.0 + HOLD_MS);
        } else if self.held {
            self.not_before = Timestamp(now.0 + GRACE_MS);
        } else {
            self.machine.handle(Input::Due, around, now, &mut self.effects);
        }
        self.held = waits_long;
    }

    /// Does what the machine wants, in its order.
    pub fn carry_out(&mut self, broker: &Broker, name: &str) {
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Reply { to, answer } => {
                    if let Some(waiting) = self.waiting.remove(&to) {
                        // Whoever is gone by now is gone as if the answer were on its way.
                        let _ = waiting.send(Gated { value: answer, durable_at: self.kept_at });
                    }
                }
                Effect::Keep { head, members } => {
                    let (group, kind, at) = (name.to_owned(), self.machine.kind(), broker.now());
                    let kept = GroupKept { group, kind, at, head, members };
                    self.kept_at = broker.decide(|state| state.decide_keep_group(kept)).durable_at;
                    self.kept_time = broker.group_time();
                }
                Effect::Event(event) => tell(name, event),
            }
        }
    }

    /// Brings the clock and the counts up to date.
    pub fn settle(&mut self, name: &Arc<str>, deadlines: &Deadlines, pending: &PendingIds) {
        let deadline = self.machine.deadline().filter(|_| !self.gone);
        let deadline = deadline.map(|deadline| deadline.max(self.not_before));
        deadlines.change(name, self.deadline, deadline);
        self.deadline = deadline;
        let num_pending = self.machine.num_pending();
        pending.change(name, self.num_pending, num_pending);
        self.num_pending = num_pending;
        let num_members = self.machine.num_members();
        let more = i64::try_from(num_members).unwrap_or(i64::MAX) - i64::try_from(self.num_members).unwrap_or(i64::MAX);
        metrics::all().group_members.add(more);
        self.num_members = num_members;
    }

    /// Forgets the oldest id that was given to a client and not used yet.
    pub fn drop_oldest_pending(&mut self) {
        self.machine.drop_oldest_pending();
    }

    /// Goes on with another machine; this one has no members.
    pub fn replace(&mut self, machine: Group) {
        self.machine = machine;
    }

    /// True when the machine holds nothing that is not kept; it must not be used after that.
    pub fn try_rest(&mut self) -> bool {
        self.gone = self.machine.is_at_rest();
        self.gone
    }

    pub fn is_gone(&self) -> bool {
        self.gone
    }
}

fn tell(group: &str, event: Event) {
    match event {
        Event::Rebalancing { reason } => {
            metrics::all().group_rebalances.increment();
            tracing::debug!(group, %reason, "group rebalances");
        }
        Event::Stable { generation, num_members } => {
            tracing::debug!(group, generation, num_members, "group is stable");
        }
        Event::Emptied { generation } => tracing::debug!(group, generation, "group is empty"),
        Event::Migrated { to } => tracing::info!(group, ?to, "group and its members go on by the other protocol"),
    }
}

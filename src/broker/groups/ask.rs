//! Requests to a group, and their answers, which may come much later.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::super::{Broker, BrokerError, Gated};
use super::Slot;
use super::subscribable::Subscribable;
use crate::metrics;
use crate::model::group::{Answer, GroupError, Request, Ticket};

/// A request that was put to a group. Dropped before its answer, the group is told that nobody waits for it.
pub struct Asked {
    broker: Arc<Broker>,
    slot: Arc<Slot>,
    ticket: Ticket,
    answer: oneshot::Receiver<Gated<Answer>>,
    answered: bool,
}

impl Broker {
    /// Puts a request to a group.
    pub fn ask_group(self: &Arc<Broker>, group: &str, request: Request) -> Result<Asked, GroupError> {
        if group.is_empty() {
            return Err(GroupError::NoName);
        }
        let joins = matches!(request, Request::Join(_));
        let (topics, settings) = (Subscribable::now(&**self), self.groups.settings_of(group));
        let around = settings.around(&topics);
        let asked = self.groups.with(self, group, |slot, running| {
            let (ticket, answer) = running.ask(request, &around, self.group_time());
            Asked { broker: self.clone(), slot: slot.clone(), ticket, answer, answered: false }
        });
        if joins {
            self.bound_pending();
        }
        asked
    }
}

impl Asked {
    /// The answer, if it came at once.
    pub fn now(&mut self) -> Option<Gated<Answer>> {
        let answer = self.answer.try_recv().ok();
        self.answered |= answer.is_some();
        answer
    }

    /// The answer, when it has come and what it rests on is durable.
    pub async fn answer(mut self) -> Result<Answer, BrokerError> {
        let _waiting = metrics::all().group_requests_waiting.hold(1);
        let answer = (&mut self.answer).await;
        self.answered = true;
        let Gated { value, durable_at } = answer.expect("a group answers every request that is waited for");
        self.broker.durable(durable_at).await?;
        Ok(value)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let (topics, settings) = (Subscribable::now(&*self.broker), self.broker.groups.settings_of(&self.slot.name));
        let around = settings.around(&topics);
        self.slot.with(|running| {
            if !running.is_gone() {
                running.forget(self.ticket, &around, self.broker.group_time());
                self.broker.groups.finish(&self.broker, &self.slot, running);
            }
        });
    }
}

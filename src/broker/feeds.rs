//! Feeds made, changed and deleted by clients.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::Broker;
use super::core::Gated;
use super::handles::FeedHandle;
use crate::config::value::list;
use crate::model::{
    AddPartitionsError, ConfigureError, CreateFeedError, Decision, DeleteFeedError, FeedId, Overrides, ProducerId,
    State,
};

/// A feed to be made.
#[derive(Clone, Debug)]
pub struct CreateFeed {
    pub name: String,
    pub partitions: u32,
    pub overrides: BTreeMap<String, String>,
}

/// A feed that was made, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedFeed {
    pub feed: FeedId,
    pub topic_id: Uuid,
    pub partitions: u32,
}

impl Broker {
    /// Makes a feed, or says what would be made.
    pub fn create_feed(&self, wanted: CreateFeed, validate_only: bool) -> Gated<Result<CreatedFeed, CreateFeedError>> {
        let (topic_id, now) = (new_topic_id(), self.now());
        let (name, partitions) = (wanted.name, wanted.partitions);
        let mut missing = Vec::new();
        let created = self.change(validate_only, |state| {
            missing = missing_retainers(state, &Overrides::new(), &wanted.overrides);
            state.decide_create(&name, topic_id, partitions, wanted.overrides, now)
        });
        if created.value.is_ok() && !validate_only {
            tell_missing_retainers(&name, &missing);
        }
        created.map(|result| result.map(|feed| CreatedFeed { feed, topic_id, partitions }))
    }

    /// Deletes a feed with its whole history.
    pub fn delete_feed(&self, feed: &FeedHandle) -> Gated<Result<(), DeleteFeedError>> {
        let now = self.now();
        self.change(false, |state| state.decide_delete(feed.id, now))
    }

    /// Gives a feed more partitions.
    pub fn add_partitions(
        &self,
        feed: &FeedHandle,
        total: u32,
        validate_only: bool,
    ) -> Gated<Result<(), AddPartitionsError>> {
        let now = self.now();
        self.change(validate_only, |state| state.decide_add_partitions(feed.id, total, now))
    }

    /// Changes what is set on a feed. `alter` is given what is set by then, so that of two changes at a time none is lost.
    pub fn configure_feed<E: From<ConfigureError>>(
        &self,
        feed: &FeedHandle,
        validate_only: bool,
        alter: impl FnOnce(&Overrides) -> Result<Overrides, E>,
    ) -> Gated<Result<(), E>> {
        let mut missing = Vec::new();
        let configured = self.change(validate_only, |state| {
            let known = state.feed(feed.id).ok_or(ConfigureError::UnknownFeed { feed: feed.id })?;
            let altered = alter(known.overrides())?;
            missing = missing_retainers(state, known.overrides(), &altered);
            Ok(state.decide_configure(feed.id, altered)?)
        });
        if configured.value.is_ok() && !validate_only {
            tell_missing_retainers(&feed.name, &missing);
        }
        configured
    }

    /// Changes the dynamic configs of this broker, or of the cluster (None), likewise.
    pub fn configure_broker<E: From<ConfigureError>>(
        &self,
        broker: Option<i32>,
        validate_only: bool,
        alter: impl FnOnce(&Overrides) -> Result<Overrides, E>,
    ) -> Gated<Result<(), E>> {
        self.change(validate_only, |state| {
            let overrides = alter(state.broker_overrides(broker))?;
            Ok(state.decide_configure_broker(broker, overrides)?)
        })
    }

    /// Changes what is set on a consumer group, likewise.
    pub fn configure_group<E: From<ConfigureError>>(
        &self,
        group: &str,
        validate_only: bool,
        alter: impl FnOnce(&Overrides) -> Result<Overrides, E>,
    ) -> Gated<Result<(), E>> {
        self.change(validate_only, |state| {
            let overrides = alter(state.group_overrides(group))?;
            Ok(state.decide_configure_group(group, overrides)?)
        })
    }

    /// A producer id that nobody was given before.
    pub fn open_producer(&self) -> Gated<ProducerId> {
        self.decide(|state| state.decide_open_producer())
    }

    fn change<T, E>(
        &self,
        validate_only: bool,
        decide: impl FnOnce(&State) -> Result<Decision<T>, E>,
    ) -> Gated<Result<T, E>> {
        self.submit(|state| {
            let mut decision = decide(state)?;
            if validate_only {
                decision.entries.clear();
            }
            Ok(decision)
        })
    }
}

/// Groups that are to keep history from now on, and that are not there.
fn missing_retainers(state: &State, before: &Overrides, after: &Overrides) -> Vec<String> {
    const RETAIN: &str = "streamstack.retain";
    let groups = after.get(RETAIN).filter(|groups| before.get(RETAIN) != Some(groups));
    let groups = groups.map(|groups| list(groups)).unwrap_or_default();
    groups.into_iter().filter(|group| state.subscription(group).is_none()).map(str::to_owned).collect()
}

/// A name that is spelled wrong keeps nothing, and the answer to the client has no room to say so.
fn tell_missing_retainers(feed: &str, groups: &[String]) {
    for group in groups {
        tracing::warn!(
            feed,
            group,
            "streamstack.retain names a subscription that does not exist yet; nothing is kept for it until it has a position"
        );
    }
}

/// Never zero, which clients take for none.
fn new_topic_id() -> Uuid {
    crate::disk::entropy::uuid().expect("the kernel gives random bytes once it has started")
}

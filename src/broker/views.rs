//! Views by name, and by the topic ids under which clients know them.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use uuid::Uuid;

use super::Broker;
use super::handles::FeedHandle;
use crate::model::Timestamp;
use crate::view::{SealClock, View, ViewError, ViewName};

/// Views whose ids are remembered. Past it all are forgotten; clients then ask for metadata again.
const IDS_MAX: usize = 65_536;

/// Topic ids given out for views. They are derived from feed and name, one way, so the names are remembered here.
#[derive(Default)]
pub struct ViewIds {
    names: RwLock<HashMap<Uuid, Arc<ViewName>>>,
}

impl ViewIds {
    pub(super) fn remember(&self, id: Uuid, name: &ViewName) {
        if self.name(&id).is_some() {
            return;
        }
        let mut names = self.names.write().expect("no code panics while it holds the view ids");
        if names.len() >= IDS_MAX {
            names.clear();
        }
        names.insert(id, Arc::new(name.clone()));
    }

    /// The view with that topic id, if this broker gave it out.
    pub fn name(&self, id: &Uuid) -> Option<Arc<ViewName>> {
        self.names.read().expect("no code panics while it holds the view ids").get(id).cloned()
    }
}

/// Why a name gives no view.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("no feed {feed:?}")]
    UnknownFeed { feed: String },
    #[error("{feed} is itself but a name of {view}: name the view on that one's feed")]
    OfAlias { feed: String, view: Arc<ViewName> },
    #[error(transparent)]
    View(#[from] ViewError),
}

/// A view as a topic.
pub struct ViewHandle {
    pub feed: Arc<FeedHandle>,
    pub view: View,
    pub topic_id: Uuid,
}

impl Broker {
    /// The view of that name.
    pub fn resolve_view(&self, name: &ViewName) -> Result<ViewHandle, ResolveError> {
        let feed = self.catalog().by_name(&name.feed);
        let feed = feed.ok_or_else(|| ResolveError::UnknownFeed { feed: name.feed.clone() })?;
        if let Some(view) = feed.alias() {
            return Err(ResolveError::OfAlias { feed: name.feed.clone(), view });
        }
        let clock = SealClock { now: self.now(), floor: self.time_floor() };
        let view = View::open(feed.clone(), name, clock, &self.selections).inspect_err(|error| match error {
            ViewError::FloorNeeded { at } => self.raise_time_floor(*at),
            ViewError::IndexNeeded | ViewError::IndexFailed { .. } => self.indexer.ask(feed.id),
            _ => {}
        })?;
        let topic_id = name.topic_id(&feed.topic_id);
        self.view_ids.remember(topic_id, name);
        Ok(ViewHandle { feed, view, topic_id })
    }

    /// The view with that topic id, if this broker gave it out.
    pub fn view_name(&self, id: &Uuid) -> Option<Arc<ViewName>> {
        self.view_ids.name(id)
    }

    /// Journals that no later seal carries a time below `at`; the view can be answered once that is durable.
    pub(super) fn raise_time_floor(&self, at: Timestamp) {
        self.decide(|state| state.decide_time_floor(at));
        self.kick();
    }
}

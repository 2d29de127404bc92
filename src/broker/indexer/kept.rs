//! One feed's index at work.

use std::sync::Arc;
use std::time::Duration;

use super::super::Broker;
use super::super::handles::FeedHandle;
use crate::config::Identity;
use crate::model::CommitNumber;
use crate::view::links::{self, FeedLinks, LinksError, Memory};
use crate::view::{Index, Published};

/// Records that are indexed in one step.
const STEP_RECORDS_MAX: usize = 65_536;

/// What was indexed is stored after so many records, or so much time.
const UNSAVED_RECORDS_MAX: usize = 4_000_000;
const UNSAVED_TIME_MAX: Duration = Duration::from_secs(30);

/// But not more often, whatever fails.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct Kept {
    broker: Arc<Broker>,
    feed: Arc<FeedHandle>,
    identity: Identity,
    links: Arc<FeedLinks>,
    /// Commits that following views wait for.
    wanted: CommitNumber,
    unsaved: usize,
    /// When it was last stored.
    stored_at: Duration,
    /// Where it begins is not stored.
    is_trimmed: bool,
    /// Stored once more at rest, it gives memory back.
    holds_memory: bool,
}

/// Whether a feed has more to be indexed.
pub(super) enum Step {
    More,
    Done,
}

impl Kept {
    /// Goes on with what is stored, or begins anew, and shows it to readers. None when the feed was deleted.
    pub fn open(
        broker: &Arc<Broker>,
        feed: &Arc<FeedHandle>,
        memory: &Arc<Memory>,
    ) -> Result<Option<Kept>, LinksError> {
        if !feed.files.make_folder(links::FOLDER)? {
            return Ok(None);
        }
        let identity = feed.config().settings.dedup_identity.clone();
        let links = Arc::new(FeedLinks::open(&**feed, identity.clone(), memory.clone())?);
        let (inbox, id) = (broker.indexer.clone(), feed.id);
        links.on_damage(move || inbox.look_at(id));
        let wanted = Published::commits(&**feed);
        let stored_at = broker.clock.elapsed();
        let kept = Kept {
            broker: broker.clone(),
            feed: feed.clone(),
            identity,
            links,
            wanted,
            unsaved: 0,
            stored_at,
            is_trimmed: false,
            holds_memory: false,
        };
        kept.show(None);
        Ok(Some(kept))
    }

    /// Shows it to readers, and why it does not go on, if so.
    pub fn show(&self, failure: Option<Arc<str>>) {
        let (links, losses) = (self.links.clone(), self.links.losses());
        self.feed.publish_index(Index::Kept { links, wanted: self.wanted, losses, failure });
    }

    /// It is the index that the feed is to have.
    pub fn is_of(&self, feed: &FeedHandle) -> bool {
        self.identity == feed.config().settings.dedup_identity
    }

    /// Indexes some more records and wakes whoever waits for them.
    pub fn step(&mut self) -> Result<Step, LinksError> {
        let advance = self.links.advance(&*self.feed, STEP_RECORDS_MAX)?;
        self.unsaved += advance.records;
        if advance.records > 0 || advance.caught_up {
            self.feed.wake_indexed();
        }
        Ok(if advance.caught_up { Step::Done } else { Step::More })
    }

    /// Lets go of what was deleted from the feed.
    pub fn trim(&mut self) {
        self.links.trim(&*self.feed);
        self.is_trimmed = true;
    }

    /// It is to be begun anew, of what is left.
    pub fn leads_through_what_is_gone(&self) -> bool {
        self.links.losses() != self.feed.losses()
    }

    /// It waits for its time to be stored.
    pub fn is_unsaved(&self) -> bool {
        self.unsaved > 0 || self.is_trimmed || self.holds_memory
    }

    pub fn is_to_be_stored(&self, now: Duration) -> bool {
        let is_much = self.unsaved >= UNSAVED_RECORDS_MAX;
        self.is_unsaved() && now >= self.stored_at + if is_much { STORE_PAUSE } else { UNSAVED_TIME_MAX }
    }

    /// What is not stored is indexed again after a restart: a failure costs time only.
    pub fn store(&mut self) {
        if !self.is_unsaved() {
            return;
        }
        self.stored_at = self.broker.clock.elapsed();
        match self.links.checkpoint(&*self.feed) {
            Ok(()) => {
                self.holds_memory = self.unsaved > 0 || self.is_trimmed;
                self.unsaved = 0;
                self.is_trimmed = false;
            }
            // The next step begins it anew.
            Err(LinksError::Outdated | LinksError::Lost(_)) => self.broker.indexer.look_at(self.feed.id),
            // Those of a deleted feed are gone.
            Err(_) if self.broker.catalog.by_id(self.feed.id).is_none() => {}
            Err(error) => {
                tracing::warn!(feed = self.feed.name, %error, "the feed's index is not stored; it is tried again")
            }
        }
    }
}

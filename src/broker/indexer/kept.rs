//! One feed's index at work.

use std::sync::Arc;
use std::time::Duration;

use super::super::Broker;
use super::super::handles::FeedHandle;
use crate::config::Identity;
use crate::model::{FeedOffset, PartitionId};
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
    /// Where the partitions began when it was opened.
    starts: Vec<FeedOffset>,
    unsaved: usize,
    /// When it was last stored.
    stored_at: Duration,
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
        // Before it is asked whether they lost any: what goes meanwhile is seen as news.
        let starts = starts_of(feed);
        if lost_in_part(feed) {
            FeedLinks::give_up(&**feed)?;
        }
        let identity = feed.config().settings.dedup_identity.clone();
        let links = Arc::new(FeedLinks::open(&**feed, identity.clone(), memory.clone())?);
        let wanted = Published::commits(&**feed);
        feed.publish_index(Index::Kept { links: links.clone(), wanted });
        let stored_at = broker.clock.elapsed();
        Ok(Some(Kept {
            broker: broker.clone(),
            feed: feed.clone(),
            identity,
            links,
            starts,
            unsaved: 0,
            stored_at,
            holds_memory: false,
        }))
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
    pub fn trim(&self) {
        self.links.trim(&*self.feed);
    }

    /// It is to be begun anew, of what is left.
    pub fn leads_through_what_is_gone(&self) -> bool {
        lost_in_part(&self.feed) && self.starts != starts_of(&self.feed)
    }

    /// It waits for its time to be stored.
    pub fn is_unsaved(&self) -> bool {
        self.unsaved > 0 || self.holds_memory
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
                self.holds_memory = self.unsaved > 0;
                self.unsaved = 0;
            }
            // Those of a deleted feed are gone.
            Err(_) if self.broker.catalog.by_id(self.feed.id).is_none() => {}
            Err(error) => {
                tracing::warn!(feed = self.feed.name, %error, "the feed's index is not stored; it is tried again")
            }
        }
    }
}

/// Some partitions lost records of a commit that others still hold. Deleted records then stand between those that are left, and
/// what had a key before them is not to be known: the index is made of what is left.
fn lost_in_part(feed: &FeedHandle) -> bool {
    let start = feed.history();
    feed.partitions() > 1 && start.whole > start.commit
}

fn starts_of(feed: &FeedHandle) -> Vec<FeedOffset> {
    let start = |partition| Published::partition(feed, partition).map_or(FeedOffset(0), |ends| ends.feed_start);
    (0..feed.partitions()).map(PartitionId).map(start).collect()
}

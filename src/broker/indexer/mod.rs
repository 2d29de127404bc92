//! The indexer: one thread that builds the indexes of the feeds whose views are asked for, and keeps them up at each seal.
//!
//! It goes by steps of a bounded number of records, feed by feed in turn, so that a small feed does not wait for a large one.
//! What it does can be done again: records are indexed from the published history, and what was indexed since the last
//! checkpoint is indexed anew after a crash. A feed whose index fails has no views until it can be had; the others go on.

mod failures;
mod inbox;
mod kept;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use self::failures::{Failures, WorkError, guarded};
pub(super) use self::inbox::Inbox;
use self::inbox::News;
use self::kept::{Kept, Step};
use super::Broker;
use super::handles::FeedHandle;
use crate::model::FeedId;
use crate::view::Index;
use crate::view::links::{self, LinksError, Memory};

/// How often those are looked at that wait for time: to be stored, or for room on the disk.
const TICK: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct Indexer {
    broker: Arc<Broker>,
    memory: Arc<Memory>,
    kept: BTreeMap<FeedId, Kept>,
    failures: Failures,
    /// Feeds that have something to be indexed, in turn.
    due: VecDeque<FeedId>,
    /// It was told that the disk has no room.
    stands_still: bool,
}

impl Indexer {
    pub fn new(broker: Arc<Broker>) -> Indexer {
        let memory = Memory::new(broker.settings.typed().views_memory_bytes);
        let (kept, failures, due) = (BTreeMap::new(), Failures::default(), VecDeque::new());
        Indexer { broker, memory, kept, failures, due, stands_still: false }
    }

    /// Until the broker stops.
    pub fn run(mut self) {
        self.take_up();
        loop {
            let news = self.broker.indexer.take(self.wait_max());
            if news.is_stopping {
                return self.store(|_| true);
            }
            self.hear(news);
            self.step();
            self.store_what_is_due();
        }
    }

    fn store_what_is_due(&mut self) {
        let now = self.broker.clock.elapsed();
        if !self.stands_still {
            self.store(|kept| kept.is_to_be_stored(now));
        }
    }

    fn store(&mut self, is_due: impl Fn(&Kept) -> bool) {
        let due: Vec<FeedId> = self.kept.iter().filter(|(_, kept)| is_due(kept)).map(|(id, _)| *id).collect();
        for id in due {
            let Some(kept) = self.kept.get_mut(&id) else { continue };
            let stored = guarded(|| {
                kept.store();
                Ok(())
            });
            if let Err(error) = stored {
                self.give_up(id, &error);
            }
        }
    }

    /// Goes on with the indexes that an earlier process kept.
    fn take_up(&mut self) {
        for feed in self.broker.catalog.all() {
            match feed.files.has_folder(links::FOLDER) {
                Ok(true) => self.open(&feed),
                Ok(false) => {}
                Err(error) => self.fail(&feed, &error),
            }
        }
    }

    fn wait_max(&self) -> Option<Duration> {
        match self.due.is_empty() || self.stands_still {
            false => Some(Duration::ZERO),
            true if self.stands_still || self.kept.values().any(Kept::is_unsaved) => Some(TICK),
            true => None,
        }
    }

    fn hear(&mut self, news: News) {
        for id in news.asked {
            let now = self.broker.clock.elapsed();
            match self.broker.catalog.by_id(id).filter(|_| !self.failures.is_resting(id, now)) {
                Some(_) if self.kept.contains_key(&id) => self.is_due(id),
                Some(feed) => self.open(&feed),
                None => {}
            }
        }
        for id in news.trimmed {
            self.trim(id);
        }
        for id in news.changed {
            self.look_at(id);
        }
    }

    fn trim(&mut self, id: FeedId) {
        match self.kept.get_mut(&id) {
            Some(kept) if kept.leads_through_what_is_gone() => self.open_again(id),
            Some(kept) => kept.trim(),
            None => {}
        }
    }

    fn look_at(&mut self, id: FeedId) {
        let Some(feed) = self.broker.catalog.by_id(id) else {
            self.kept.remove(&id);
            self.failures.forget(id);
            return;
        };
        match self.kept.get(&id) {
            Some(kept) if kept.is_of(&feed) => self.is_due(id),
            // Its identity is another one now.
            Some(_) => self.open_again(id),
            None => {}
        }
    }

    fn open_again(&mut self, id: FeedId) {
        self.kept.remove(&id);
        if let Some(feed) = self.broker.catalog.by_id(id) {
            self.open(&feed);
        }
    }

    fn is_due(&mut self, id: FeedId) {
        if !self.failures.is_resting(id, self.broker.clock.elapsed()) {
            self.take_turn(id);
        }
    }

    fn take_turn(&mut self, id: FeedId) {
        if !self.due.contains(&id) {
            self.due.push_back(id);
        }
    }

    fn open(&mut self, feed: &Arc<FeedHandle>) {
        match guarded(|| Kept::open(&self.broker, feed, &self.memory)) {
            Ok(Some(kept)) => {
                self.kept.insert(feed.id, kept);
                // Though it failed before: nobody asks for what seems to be built.
                self.take_turn(feed.id);
                // What came before it was published was no news yet.
                self.broker.indexer.look_at(feed.id);
                self.broker.indexer.trim(feed.id);
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => self.fail(feed, &error),
        }
    }

    /// One step of the feed whose turn it is.
    fn step(&mut self) {
        if !self.has_room() {
            return;
        }
        let Some(id) = self.due.pop_front() else { return };
        let Some(kept) = self.kept.get_mut(&id) else { return };
        let outcome = guarded(|| kept.step());
        if outcome.is_ok() && self.failures.forget(id) {
            kept.show(None);
        }
        match outcome {
            Ok(Step::More) => self.due.push_back(id),
            Ok(Step::Done) => {}
            // What was stored is damaged, and nothing of it will be used again.
            Err(WorkError::Links(LinksError::Lost(_) | LinksError::Outdated)) => self.open_again(id),
            // As it was before: what it knows is shown until it goes on.
            Err(WorkError::Links(error)) => self.stand(id, &error),
            Err(error) => self.give_up(id, &error),
        }
    }

    /// The index must not take the last bytes of the disk.
    fn has_room(&mut self) -> bool {
        let has_room = self.broker.has_space();
        if has_room == self.stands_still {
            match has_room {
                true => tracing::info!("indexes of views are kept up again"),
                false => {
                    tracing::warn!("indexes of views stand still: less is free than streamstack.disk.free.min.bytes")
                }
            }
            self.stands_still = !has_room;
        }
        has_room
    }

    fn stand(&mut self, id: FeedId, error: &LinksError) {
        let (Some(kept), Some(feed)) = (self.kept.get(&id), self.broker.catalog.by_id(id)) else { return };
        let pause = self.failures.add(id, self.broker.clock.elapsed()).as_secs();
        let (feed, index) =
            (&feed.name, "the feed's index stands still, and views that need more of it are not answered");
        tracing::error!(feed, %error, "{index}; it is tried again after {pause} s");
        kept.show(Some(error.to_string().into()));
    }

    fn give_up(&mut self, id: FeedId, error: &WorkError) {
        self.kept.remove(&id);
        if let Some(feed) = self.broker.catalog.by_id(id) {
            self.fail(&feed, error);
        }
    }

    /// Its views answer with an error.
    fn fail(&mut self, feed: &FeedHandle, error: &dyn Display) {
        // A deleted feed's files are gone.
        if self.broker.catalog.by_id(feed.id).is_none() {
            return;
        }
        let pause = self.failures.add(feed.id, self.broker.clock.elapsed()).as_secs();
        let index = "the feed's index cannot be kept, and its views but raw ones are not answered";
        tracing::error!(feed = feed.name, %error, "{index}; it is tried again after {pause} s");
        feed.publish_index(Index::Failed { reason: error.to_string().into() });
    }
}

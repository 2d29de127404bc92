//! What the indexer is told: feeds that have to be looked at. What there is to do it sees from the feed itself.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::model::FeedId;

/// See the module.
#[derive(Default)]
pub struct Inbox {
    news: Mutex<News>,
    came: Condvar,
}

/// What came since it was last taken.
#[derive(Default)]
pub struct News {
    /// Somebody asks for a view that needs the index.
    pub asked: BTreeSet<FeedId>,
    /// Sealed, configured or deleted.
    pub changed: BTreeSet<FeedId>,
    /// Older records were deleted.
    pub trimmed: BTreeSet<FeedId>,
    pub is_stopping: bool,
}

impl Inbox {
    /// The feed's index is needed.
    pub fn ask(&self, feed: FeedId) {
        self.tell(|news| news.asked.insert(feed));
    }

    /// There is something new about a feed that has an index.
    pub fn look_at(&self, feed: FeedId) {
        self.tell(|news| news.changed.insert(feed));
    }

    /// Records of a feed that has an index were deleted.
    pub fn trim(&self, feed: FeedId) {
        self.tell(|news| news.trimmed.insert(feed));
    }

    /// The indexer is to end.
    pub fn stop(&self) {
        self.tell(|news| !std::mem::replace(&mut news.is_stopping, true));
    }

    /// What came; waits for something for so long, or without end.
    pub fn take(&self, wait_max: Option<Duration>) -> News {
        let mut news = self.lock();
        let is_empty = |news: &mut News| {
            news.asked.is_empty() && news.changed.is_empty() && news.trimmed.is_empty() && !news.is_stopping
        };
        news = match wait_max {
            Some(wait_max) => {
                let waited = self.came.wait_timeout_while(news, wait_max, is_empty);
                waited.expect("no code panics while it holds the indexer's news").0
            }
            None => self.came.wait_while(news, is_empty).expect("no code panics while it holds the indexer's news"),
        };
        let none = News { is_stopping: news.is_stopping, ..News::default() };
        std::mem::replace(&mut *news, none)
    }

    /// Wakes the indexer if it is news.
    fn tell(&self, add: impl FnOnce(&mut News) -> bool) {
        if add(&mut self.lock()) {
            self.came.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        self.news.lock().expect("no code panics while it holds the indexer's news")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_twice_is_looked_at_once_and_a_stop_stays() {
        let inbox = Inbox::default();
        assert!(inbox.take(Some(Duration::ZERO)).changed.is_empty());
        inbox.look_at(FeedId(3));
        inbox.look_at(FeedId(3));
        inbox.ask(FeedId(4));
        let news = inbox.take(None);
        assert_eq!((news.changed, news.asked, news.is_stopping), ([FeedId(3)].into(), [FeedId(4)].into(), false));
        inbox.stop();
        assert!(inbox.take(None).is_stopping && inbox.take(None).is_stopping);
    }
}

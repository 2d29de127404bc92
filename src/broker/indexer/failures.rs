//! Feeds whose index failed: they are tried again when somebody asks for them or they change, after longer and longer pauses.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::model::FeedId;
use crate::view::links::LinksError;

/// The pause after the first failure. It doubles at each one that follows.
const PAUSE: Duration = Duration::from_secs(10);
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// See the module.
#[derive(Default)]
pub(super) struct Failures {
    feeds: BTreeMap<FeedId, Failure>,
}

struct Failure {
    pause: Duration,
    until: Duration,
}

impl Failures {
    /// It failed now, and how long it is let be.
    pub fn add(&mut self, id: FeedId, now: Duration) -> Duration {
        let pause = self.feeds.get(&id).map_or(PAUSE, |failure| (failure.pause * 2).min(PAUSE_MAX));
        self.feeds.insert(id, Failure { pause, until: now + pause });
        pause
    }

    /// It is let be for now.
    pub fn is_resting(&self, id: FeedId, now: Duration) -> bool {
        self.feeds.get(&id).is_some_and(|failure| now < failure.until)
    }

    /// It works, or is gone. True if it had failed.
    pub fn forget(&mut self, id: FeedId) -> bool {
        self.feeds.remove(&id).is_some()
    }
}

/// Why there is nothing to go on with.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkError {
    #[error(transparent)]
    Links(#[from] LinksError),
    #[error("an error of this program's own: {0}; it is worth a report")]
    Panic(String),
}

/// A panic over one feed does not take the others' indexes down.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, LinksError>) -> Result<T, WorkError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => Ok(outcome?),
        Err(panic) => Err(WorkError::Panic(text_of(&*panic))),
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEED: FeedId = FeedId(7);

    #[test]
    fn a_feed_that_fails_again_is_let_be_for_longer() {
        let mut failures = Failures::default();
        let mut now = Duration::from_secs(5);
        assert!(!failures.is_resting(FEED, now));
        for expected in [10, 20, 40, 80, 160, 320, 600, 600] {
            let pause = failures.add(FEED, now);
            assert_eq!(pause.as_secs(), expected);
            assert!(failures.is_resting(FEED, now + pause - Duration::from_millis(1)));
            now += pause;
            assert!(!failures.is_resting(FEED, now));
        }
        assert!(failures.forget(FEED) && !failures.forget(FEED));
        assert_eq!(failures.add(FEED, now), PAUSE);
    }

    #[test]
    fn a_panic_is_an_error_that_says_what_it_was() {
        let error = guarded::<()>(|| panic!("row {} is put behind row 9", 4)).unwrap_err();
        assert!(error.to_string().contains("row 4 is put behind row 9"), "{error}");
        assert_eq!(guarded(|| Ok(3)).unwrap(), 3);
        assert!(matches!(guarded::<()>(|| Err(LinksError::Gone)), Err(WorkError::Links(LinksError::Gone))));
    }
}

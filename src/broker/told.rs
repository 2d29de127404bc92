//! What clients can have told to the operator again and again: once a minute, and not without end.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// The same is told once in so long.
const AGAIN: Duration = Duration::from_secs(60);

/// Different things told in that time.
const TOLD_MAX: usize = 256;

/// What was told last, and when.
#[derive(Default)]
pub(super) struct Told(Mutex<BTreeMap<String, Duration>>);

impl Told {
    /// Whether `what` is to be told at `now`, counted from any fixed moment.
    pub fn is_news(&self, what: &str, now: Duration) -> bool {
        let mut told = self.0.lock().expect("no code panics while it holds what was told");
        if told.get(what).is_some_and(|at| now < *at + AGAIN) {
            return false;
        }
        if told.len() >= TOLD_MAX {
            told.retain(|_, at| now < *at + AGAIN);
        }
        let has_room = told.len() < TOLD_MAX;
        if has_room {
            told.insert(what.to_owned(), now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_told_once_a_minute_and_a_flood_of_others_is_not() {
        let told = Told::default();
        let at = |what: &str, seconds| told.is_news(what, Duration::from_secs(seconds));
        assert!(at("a", 0) && at("b", 1));
        assert!(!at("a", 59));
        assert!(at("a", 60));
        let flood = (0..1_000).filter(|n| at(&n.to_string(), 61)).count();
        assert_eq!(flood, TOLD_MAX - 1, "room of what is old is taken, and that of a is not");
        assert!(at("late", 121));
    }
}

//! Whether the work on this thread may wait for the disk.
//!
//! An async worker that waits for a slow disk holds up every connection that it serves. So it looks for an answer with
//! [`without`]: whoever would have to read from the disk asks here first and is refused, and the answer is then made once
//! more, by a thread that may wait. Whoever never heard of this may wait, as ever.

use std::cell::Cell;
use std::io;

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Allowed) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Allowed,
    Forbidden,
    /// Forbidden, and somebody asked.
    Refused,
}

/// Back to what it was, on whatever way out.
struct Restore(State);

impl Drop for Restore {
    fn drop(&mut self) {
        STATE.set(self.0);
    }
}

/// What `work` gives without waiting for the disk; none when it would have had to. It is then to be done again where it may,
/// so it must be such that twice is no harm.
pub fn without<T>(work: impl FnOnce() -> T) -> Option<T> {
    let _restore = Restore(STATE.replace(State::Forbidden));
    let made = work();
    (!was_refused()).then_some(made)
}

/// Asked before the disk is waited for. An error when the work has to be done elsewhere.
pub fn ask() -> io::Result<()> {
    if STATE.get() == State::Allowed {
        return Ok(());
    }
    Err(refuse())
}

/// True when nothing forbids to wait.
pub fn is_allowed() -> bool {
    STATE.get() == State::Allowed
}

/// True when the work under way is for nothing, and what it says is not to be told to anybody.
pub fn was_refused() -> bool {
    STATE.get() == State::Refused
}

/// For one who may not wait and would have to.
pub(crate) fn refuse() -> io::Error {
    STATE.set(State::Refused);
    io::Error::new(io::ErrorKind::WouldBlock, "it is not in memory, and this thread may not wait for the disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_that_may_not_wait_is_refused_and_only_then_is_it_for_nothing() {
        ask().unwrap();
        assert_eq!(without(|| 7), Some(7));
        assert_eq!(without(|| ask().map_err(|error| error.kind())), None);
        assert!(!was_refused());
        ask().unwrap();
    }

    #[test]
    fn a_panic_leaves_the_thread_as_it_was() {
        let panicked = std::panic::catch_unwind(|| without(|| panic!("as the test wants it")));
        assert!(panicked.is_err());
        ask().unwrap();
    }
}

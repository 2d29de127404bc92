//! How far long work has come, on standard error when that is a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::output::human_bytes;
use super::paint::{counted, grouped};
use crate::disk::{Clock, OsClock};

/// Work shorter than this needs none, and none is shown more often.
const PERIOD: Duration = Duration::from_millis(250);
/// To the start of the line, and clear it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// A line that is written over and over. It goes when dropped.
pub(super) struct Progress {
    clock: OsClock,
    is_wanted: bool,
    is_shown: bool,
    next_at: Duration,
}

impl Progress {
    /// None where standard output goes to the same terminal line by line, or nobody looks on.
    pub fn new(output_is_busy: bool) -> Progress {
        let is_wanted = io::stderr().is_terminal() && !(output_is_busy && io::stdout().is_terminal());
        Progress { clock: OsClock::new(), is_wanted, is_shown: false, next_at: PERIOD }
    }

    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Records and bytes so far.
    pub fn counted(&mut self, verb: &str, records: u64, bytes: u64) {
        let elapsed = self.elapsed();
        self.say(|| {
            let rate = rate(records, elapsed);
            format!("{verb} {}, {}, {} records/s", counted(records, "record"), human_bytes(bytes), grouped(rate))
        });
    }

    /// `text` is made when it is time to show it.
    pub fn say<T: Display>(&mut self, text: impl FnOnce() -> T) {
        if self.is_wanted && self.elapsed() >= self.next_at {
            self.next_at = self.elapsed() + PERIOD;
            self.is_shown = true;
            let mut err = io::stderr().lock();
            // A terminal that has gone takes the command with it soon enough.
            let _ = write!(err, "{CLEAR_LINE}{}", text()).and_then(|()| err.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr().lock(), "{CLEAR_LINE}");
        }
    }
}

/// Records a second.
pub(super) fn rate(records: u64, elapsed: Duration) -> u64 {
    (records as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

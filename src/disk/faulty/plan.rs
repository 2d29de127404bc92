//! What goes wrong and when, and the trace of what was done.

use std::io;
use std::path::Path;
use std::sync::Arc;

/// A kind of operation. All but `Read` change the disk and are numbered and traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Read,
    Write,
    Sync,
    /// A change of a file's size.
    Truncate,
    Allocate,
    /// A new file or folder.
    Create,
    Rename,
    Unlink,
    SyncDir,
}

/// One thing that goes wrong: the `nth` operation of its kind from now (1 is the next) fails.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub op: Op,
    pub nth: u64,
    /// The errno: `libc::EIO`, `libc::ENOSPC` ...
    pub errno: i32,
    /// Every later operation of the kind fails too.
    pub for_ever: bool,
}

/// An operation that was done, or in flight at the crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// From 1.
    pub number: u64,
    pub op: Op,
    pub path: Arc<Path>,
    /// Bytes written, the new size, or 0.
    pub bytes: u64,
}

/// What becomes of an operation.
pub(super) enum Verdict {
    Done,
    /// It fails with this error.
    Failed(io::Error),
    /// The process dies in it.
    InFlight,
}

#[derive(Default)]
pub(super) struct Plan {
    crash_at: Option<u64>,
    dead: bool,
    failures: Vec<Failure>,
    trace: Vec<Traced>,
}

impl Plan {
    pub(super) fn crash_at(&mut self, number: u64) {
        self.crash_at = Some(number);
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    pub(super) fn heal(&mut self) {
        self.failures.clear();
    }

    pub(super) fn num_ops(&self) -> u64 {
        self.trace.len() as u64
    }

    pub(super) fn trace(&self) -> &[Traced] {
        &self.trace
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Fails when the process is dead.
    pub(super) fn alive(&self) -> io::Result<()> {
        if self.dead { Err(dead()) } else { Ok(()) }
    }

    /// Decides on an operation that changes the disk.
    pub(super) fn change(&mut self, op: Op, path: &Path, bytes: u64) -> io::Result<Verdict> {
        self.alive()?;
        let number = self.num_ops() + 1;
        self.trace.push(Traced { number, op, path: path.into(), bytes });
        if self.crash_at == Some(number) {
            self.dead = true;
            return Ok(Verdict::InFlight);
        }
        Ok(self.failure(op).map_or(Verdict::Done, Verdict::Failed))
    }

    /// Decides on a read.
    pub(super) fn read(&mut self) -> io::Result<()> {
        self.alive()?;
        self.failure(Op::Read).map_or(Ok(()), Err)
    }

    fn failure(&mut self, op: Op) -> Option<io::Error> {
        let mut errno = None;
        self.failures.retain_mut(|failure| {
            if failure.op != op {
                return true;
            }
            failure.nth = failure.nth.saturating_sub(1);
            if failure.nth > 0 {
                return true;
            }
            errno = Some(failure.errno);
            failure.for_ever
        });
        errno.map(io::Error::from_raw_os_error)
    }
}

/// The answer to every call after the crash.
pub(super) fn dead() -> io::Error {
    io::Error::other("the process is dead: the crash point of this disk is reached")
}

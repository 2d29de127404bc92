//! The real process under real faults: syscalls that fail or take long, a full disk, signals, a wrong clock. A client with
//! a ledger writes all the while; at the end nothing acknowledged is lost, doubled or reordered.
//!
//! Needs strace, libfaketime and root. Without them a test says SKIPPED and passes, unless `FAULT_TOOLS=required`.
#![allow(clippy::disallowed_methods, reason = "the tests keep time and folders of their own")]

#[path = "../common/broker.rs"]
mod broker;
mod cache;
mod ceiling;
mod copies;
mod disk;
mod groups;
mod ledger;
mod room;
mod signals;
mod slow;
mod soak;
mod starts;
#[path = "../common/tools.rs"]
mod tools;

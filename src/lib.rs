//! StreamStack: a Kafka-protocol broker whose topics are feeds with a commit history.
//!
//! The house, top to bottom; an arrow (`use crate::x`) may only point down:
//!
//! ```text
//! cli        commands of the operator
//! server     sockets: Kafka over TCP
//! api        one file per Kafka API key; api/mod.rs is the table (key, versions, handler)
//! wire       frames, the length guard, names, error codes, the Fetch response writer
//! broker     the running machine: the core and its lock, flusher, handles, waiters, upkeep
//! view       readings of a feed: raw feed space, commits, ranges, streams, the history topics
//! store      journal, segments, tail files, manifest, recovery
//! model      pure: ids, Entry, State::apply, feeds, streams, seals, producers
//! batch      Kafka record batch v2: header, records, bounded codecs
//! disk       trait Disk; os, mapping (the only unsafe code), clock; faulty (for tests)
//! metrics, config   leaves
//! ```
//!
//! One idea carries all of it: one journal, one order, one fsync. State changes only by applying a
//! journal [`model::Entry`]; live and at recovery it is the same `apply`.

// Only the library: tests may unwrap (see .clippy.toml), and `cli` speaks to the operator.
#![deny(clippy::unwrap_used, clippy::print_stdout)]

pub mod api;
pub mod batch;
pub mod broker;
pub mod cli;
pub mod config;
pub mod disk;
pub mod metrics;
pub mod model;
pub mod server;
pub mod store;
pub mod view;
pub mod wire;

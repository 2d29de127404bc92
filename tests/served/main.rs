//! A broker behind real sockets on a disk that fails when told: what clients are told of each fault, row by row of
//! `tests/faults.md`.
#![allow(clippy::disallowed_methods, reason = "the tests measure how long answers take")]

mod aliases;
mod broker;
mod cold;
mod counted;
mod damage;
mod deleted;
mod disk;
mod expiry;
mod fetch;
mod groups;
mod migration;
mod network;
mod panics;
mod peer;
mod produce;
mod producers;
mod requests;
mod sizes;
mod slow_views;
mod stop;
mod tables;
#[path = "../common/transactional.rs"]
mod transactional;
mod transactions;
mod watched_disk;

//! The command line for people, over a served broker: what each command prints, as table and as JSON, and how it refuses.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library")]

#[path = "../common/serving.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod serving;

mod commits;
mod completion;
mod doctor;
mod feeds;
mod produce;
mod read;
mod restart;
mod streams;
mod subscriptions;
mod terminal;
mod views;

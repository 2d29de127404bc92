//! Transactions on the real process: whatever happens to clients and broker, a run shows none of the fourteen faults that
//! `checker` looks for; a seal that is killed at any write or sync is there as a whole or not at all.
//!
//! `TRANSACTION_SEEDS` and `TRANSACTION_SECONDS` make the seeded runs more and longer, `TRANSACTION_SEED` runs one again.
#![allow(clippy::disallowed_methods, reason = "the tests keep time and folders of their own")]

#[path = "../common/broker.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod broker;
mod checker;
mod huge;
#[path = "../common/member.rs"]
mod member;
mod producer;
mod reading;
mod run;
mod seal_kills;
#[path = "../common/seed.rs"]
mod seed;
#[path = "../common/tools.rs"]
#[allow(dead_code, reason = "shared by several tests")]
mod tools;
#[path = "../common/transactional.rs"]
mod transactional;
mod wire;

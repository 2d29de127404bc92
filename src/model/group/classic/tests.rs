//! The machine's rules, one test each; and the walk, which lets clients and faults loose on it.

mod joining;
mod keeping;
mod leaving;
mod limits;
mod reading;
mod rig;
mod statics;
mod syncing;
mod walk;

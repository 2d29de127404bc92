//! Readings of a feed.

pub mod selector;

pub use selector::{Mode, Selector, ViewName};

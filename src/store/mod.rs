//! Journal, segments, tail files, manifest, recovery.

pub mod journal;

//! The stored files on a faulty disk.

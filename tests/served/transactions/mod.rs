//! Transactions on the wire, in the forms of both protocols: ends that are asked for twice, late messages, zombies, timeouts,
//! positions, and what readers are shown meanwhile.

mod ending;
mod fencing;
mod full_disk;
mod late;
mod positions;
mod reading;
mod streams;
mod timeouts;
mod writer;

pub const COORDINATOR_NOT_AVAILABLE: i16 = 15;
pub const INVALID_EPOCH: i16 = 47;
pub const INVALID_STATE: i16 = 48;
pub const INVALID_TIMEOUT: i16 = 50;
pub const UNSTABLE_OFFSET: i16 = 88;
pub const FENCED: i16 = 90;

pub const LATEST: i64 = -1;
pub const EARLIEST: i64 = -2;

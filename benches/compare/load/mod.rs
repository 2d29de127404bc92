//! The loads. Each runs for a time and gives a [`Sample`](crate::sample::Sample).

mod each;
mod echo;
mod fetch;
mod produce;
mod ready;
mod tail;
mod topic;

pub use each::{each, median};
pub use echo::echo;
pub use fetch::fetch;
pub use produce::{Shape, produce};
pub use ready::ready;
pub use tail::tail;
pub use topic::{create, end_of, prepare};

/// A broker, one topic on it, and for how long to load it.
pub struct Aim<'a> {
    pub address: &'a str,
    pub topic: &'a str,
    pub pid: Option<u32>,
    pub seconds: f64,
}

impl Aim<'_> {
    pub fn meter(&self) -> crate::sample::Meter {
        crate::sample::Meter::start(self.pid, self.seconds)
    }
}

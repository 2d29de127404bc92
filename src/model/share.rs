//! How much of what is due is decided in one go. The core's lock is held for all of it, so that nobody waits for long: what
//! is left is asked for again at once.

/// Streams or transactions that are ended at once.
pub(super) const ENDED_MAX: usize = 256;

/// Partitions and positions that these touch together. One that touches more is ended alone.
const TOUCHED_MAX: usize = 1_000;

/// What is left of one go.
pub(super) struct Share {
    ended: usize,
    touched: usize,
}

impl Share {
    pub fn new() -> Share {
        Share { ended: 0, touched: 0 }
    }

    /// True when one more that touches so much still fits; then it counts.
    pub fn takes(&mut self, touched: usize) -> bool {
        let fits = self.ended == 0 || (self.ended < ENDED_MAX && self.touched + touched <= TOUCHED_MAX);
        self.ended += 1;
        self.touched += touched;
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_goes_alone_and_the_small_go_together() {
        let mut share = Share::new();
        assert!(share.takes(TOUCHED_MAX * 100));
        assert!(!share.takes(1));
        let mut share = Share::new();
        assert_eq!((0..10_000).take_while(|_| share.takes(0)).count(), ENDED_MAX);
        let mut share = Share::new();
        assert_eq!((0..10_000).take_while(|_| share.takes(300)).count(), 3);
    }
}

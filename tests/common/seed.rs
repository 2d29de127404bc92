//! A failure names the seed of its run.

use std::thread;

/// Says, when a thread of the run has failed, how to run it again.
pub struct SayWhenItFails {
    /// Of the environment, that takes the seed.
    pub variable: &'static str,
    pub seed: u64,
}

impl Drop for SayWhenItFails {
    fn drop(&mut self) {
        if thread::panicking() {
            let SayWhenItFails { variable, seed } = self;
            eprintln!("\n*** this was seed {seed}; {variable}={seed} runs it again ***\n");
        }
    }
}

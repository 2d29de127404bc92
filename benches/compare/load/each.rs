//! The same load from many threads, and again and again.

use std::thread;

use crate::Fault;
use crate::options::Options;
use crate::sample::Sample;

/// The work on a thread each, at once.
pub fn each<T: Send>(num: usize, work: impl Fn(usize) -> Result<T, Fault> + Sync) -> Result<Vec<T>, Fault> {
    thread::scope(|scope| {
        let running: Vec<_> = (0..num)
            .map(|number| {
                let work = &work;
                scope.spawn(move || work(number).map_err(|fault| fault.to_string()))
            })
            .collect();
        running.into_iter().map(|one| Ok(one.join().map_err(|_| "a load panicked")??)).collect()
    })
}

/// The medians of as many rounds as are asked for.
pub fn median(options: &Options, mut once: impl FnMut() -> Result<Sample, Fault>) -> Result<Sample, Fault> {
    let samples: Vec<Sample> = (0..options.rounds()).map(|_| once()).collect::<Result<_, _>>()?;
    Ok(Sample::median(&samples))
}

//! The process says nothing of trouble and stays small, and its clients go on when the faults are over.

use super::history::History;
use super::index::Index;
use super::{Fault, Kind};

/// What the log may not hold.
const TROUBLE: [&str; 2] = [" ERROR ", "panicked at"];

pub fn check(history: &History, _: &Index) -> Vec<Fault> {
    let process = &history.process;
    let stuck = process.progress.iter().filter(|(_, went_on)| !**went_on);
    let mut faults: Vec<Fault> =
        stuck.map(|(client, _)| Fault::new(Kind::Liveness, format!("{client} commits nothing any more"))).collect();
    let trouble = process.log.iter().filter(|line| TROUBLE.iter().any(|word| line.contains(word)));
    faults.extend(trouble.map(|line| Fault::new(Kind::Process, line.clone())));
    let (peak, max) = (process.rss_peak_mb, process.rss_max_mb);
    if peak > max {
        faults.push(Fault::new(Kind::Process, format!("{peak} MB of memory at the peak, and {max} MB is the bound")));
    }
    faults
}

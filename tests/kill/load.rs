//! A broker under load until it is killed.

use std::thread;
use std::time::Duration;

use super::broker::Broker;
use super::committer::Committer;
use super::watcher::{self, Shown};
use super::writer::Writer;

/// All writers, a group and a reader at once; after `time` the process is killed.
pub fn until_killed(
    broker: Broker,
    writers: &mut [Writer],
    committer: &mut Committer,
    shown: &mut Shown,
    time: Duration,
) {
    let address = broker.address.clone();
    thread::scope(|scope| {
        for writer in writers {
            scope.spawn(|| writer.run(&address));
        }
        scope.spawn(|| committer.run(&address));
        scope.spawn(|| watcher::run(&address, shown));
        thread::sleep(time);
        broker.kill();
    });
}

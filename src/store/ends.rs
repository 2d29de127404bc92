//! Where every tail file ends at a state: what the store must know to go on from a manifest.

use std::collections::BTreeMap;

use crate::model::{Feed, FeedId, Partition, State};

use super::feed::{FeedEnds, PartitionEnds};
use super::log::LogEnd;

/// The ends of all feeds' files.
pub fn ends_of(state: &State) -> BTreeMap<FeedId, FeedEnds> {
    state.feeds().map(|feed| (feed.id(), ends_of_feed(feed))).collect()
}

fn ends_of_feed(feed: &Feed) -> FeedEnds {
    FeedEnds {
        start: feed.history(),
        num_commits: feed.next_commit().0 as u64,
        commits_bytes: feed.commits_bytes(),
        num_events: feed.stream_events().next as u64,
        streams_bytes: feed.stream_events().bytes,
        partitions: feed.partitions().iter().map(ends_of_partition).collect(),
    }
}

fn ends_of_partition(partition: &Partition) -> PartitionEnds {
    let segment = partition.segment();
    PartitionEnds {
        start: partition.log_start(),
        log: LogEnd { segment: segment.base, position: segment.bytes },
        first_run: partition.first_run(),
        num_runs: partition.num_runs(),
        num_aborted: partition.num_aborted(),
    }
}

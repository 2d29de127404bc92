//! Transactions, written down a second time: lists of what each one touched.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// A transaction that is open.
pub struct OracleTransaction {
    pub due: i64,
    pub partitions: BTreeSet<(FeedId, u32)>,
    /// Offsets by topic, all of one group and in partition 0.
    pub staged: BTreeMap<String, i64>,
}

impl Oracle {
    /// The transaction touches a partition, or nothing but a group.
    pub fn enlist(&mut self, id: &str, partition: Option<(FeedId, u32)>, now: i64, timeout_ms: i64) {
        let new = OracleTransaction { due: now + timeout_ms, partitions: BTreeSet::new(), staged: BTreeMap::new() };
        let open = self.open.entry(id.to_owned()).or_insert(new);
        let Some((feed, partition)) = partition else { return };
        open.partitions.insert((feed, partition));
        let feed = self.feeds.get_mut(&feed).unwrap();
        if !feed.transactions.contains_key(id) {
            let stream = feed.new_stream(now, None);
            feed.transactions.insert(id.to_owned(), stream);
        }
    }

    /// Appends to the transaction's stream; returns the base offset.
    pub fn append_in(&mut self, id: &str, feed: FeedId, batch: Produced<'_>, now: i64) -> i64 {
        let feed = self.feeds.get_mut(&feed).unwrap();
        let base = feed.partitions[batch.partition as usize].push(batch.values);
        let stream = feed.transactions.get_mut(id).unwrap();
        if stream.records == 0 {
            stream.label = batch.label;
        }
        stream.add(batch.partition, base, batch.values, batch.bytes, now);
        base
    }

    pub fn end(&mut self, id: &str, producer: ProducerId, commit: bool, now: i64) {
        let Some(ended) = self.open.remove(id) else { return };
        let mut feeds: BTreeSet<FeedId> = ended.partitions.iter().map(|(feed, _)| *feed).collect();
        let last = feeds.iter().map(|feed| self.feeds[feed].last_sealed()).max().unwrap_or_default();
        let at = now.max(self.floor).max(last);
        for (feed, partition) in &ended.partitions {
            self.feeds.get_mut(feed).unwrap().mark(id, *partition, producer, commit);
        }
        while let Some(feed) = feeds.pop_first() {
            let feed = self.feeds.get_mut(&feed).unwrap();
            let mut stream = feed.transactions.remove(id).unwrap();
            if !commit || stream.records == 0 {
                feed.aborted += 1;
                continue;
            }
            if feed.open.is_some() {
                feed.seal(SealReason::Cut, None, at, at);
            }
            stream.label.get_or_insert(id.to_owned());
            feed.publish(stream, SealReason::Transaction, at);
        }
        if commit {
            self.positions.extend(ended.staged);
        }
    }

    /// Ids whose transactions are due, in the order in which they were.
    pub fn due(&self, now: i64) -> Vec<String> {
        let due: BTreeSet<_> = self.open.iter().map(|(id, open)| (open.due, id.clone())).collect();
        due.into_iter().take_while(|(at, _)| *at <= now).map(|(_, id)| id).collect()
    }

    pub fn delete(&mut self, feed: FeedId) {
        let name = self.feeds.remove(&feed).unwrap().name;
        self.positions.retain(|topic, _| feed_of_topic(topic) != name);
        for open in self.open.values_mut() {
            open.partitions.retain(|(other, _)| *other != feed);
            open.staged.retain(|topic, _| feed_of_topic(topic) != name);
        }
    }
}

impl OracleFeed {
    fn mark(&mut self, id: &str, partition: u32, producer: ProducerId, commit: bool) {
        let number = partition as usize;
        let last = self.partitions[number].push(&[if commit { "Commit" } else { "Abort" }.to_owned()]);
        let first = self.transactions[id].first_in(partition);
        if let Some(first) = first.filter(|_| !commit) {
            let others = self.transactions.iter().filter(|(other, _)| *other != id);
            // Those of this one that are marked already hold nothing back any more.
            let stable = others.filter_map(|(_, stream)| stream.first_in(partition)).min().unwrap_or(last + 1);
            let (first, last, last_stable) = (Offset(first), Offset(last), Offset(stable));
            self.partitions[number].aborted.push(AbortedRow { producer, first, last, last_stable });
        }
    }

    /// Where the first open transaction begins, or the log ends.
    pub fn stable(&self, partition: u32) -> i64 {
        let end = self.partitions[partition as usize].log.len() as i64;
        self.transactions.values().filter_map(|stream| stream.first_in(partition)).min().unwrap_or(end)
    }
}

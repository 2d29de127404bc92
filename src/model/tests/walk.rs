//! A seeded walk: tens of thousands of random steps, after each of which the machine must agree with the oracle, with
//! a second machine that applies what was decoded, and with itself after a restart.

mod transactions;

use std::collections::{BTreeSet, HashMap};

use super::files::{Files, placed};
use super::oracle::{Clients, Oracle, OracleFeed, Produced, Sent};
use super::trim::{drop_below, place_of};
use super::*;
use crate::disk::SplitMix;

const EXPIRATION_MS: i64 = 60_000;
const SEQUENCES: i64 = 1 << 31;

/// Producers without transactions; those with are given the ids below.
const PLAIN_IDS: i64 = 1_000_000;

/// Where a producer's sequences count: a partition of a feed, or its control topic.
type Target = (FeedId, Option<u32>);

struct Walk {
    random: SplitMix,
    now: i64,
    settings: FeedSettings,
    state: State,
    group: Vec<Entry>,
    group_writes: Vec<TailWrite>,
    follower: State,
    files: Files,
    oracle: Oracle,
    clients: HashMap<Target, Clients>,
    transactors: HashMap<String, transactions::Transactor>,
    next_value: u64,
    /// What came of the batches of idempotent producers, so that no case is missed by all walks.
    seen: BTreeSet<String>,
}

/// What a producer sends, and what must come of it.
struct Sending {
    epoch: i16,
    /// Not wrapped.
    first: i64,
    count: i64,
    expected: Expected,
}

#[derive(Debug, PartialEq)]
enum Expected {
    Taken,
    Duplicate { base: i64 },
    Gap,
    Forgotten,
    NewEpoch,
    OlderEpoch,
}

impl Walk {
    fn new(seed: u64) -> Walk {
        Walk {
            random: SplitMix::new(seed),
            now: 1_000_000,
            settings: FeedSettings { producer_expiration_ms: EXPIRATION_MS, segment_bytes: 2_000, ..QUIET },
            state: State::default(),
            group: Vec::new(),
            group_writes: Vec::new(),
            follower: State::default(),
            files: Files::default(),
            oracle: Oracle::default(),
            clients: HashMap::new(),
            transactors: HashMap::new(),
            next_value: 0,
            seen: BTreeSet::new(),
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..=19 => self.append_by_client(),
            20..=34 => self.append_plain(),
            35..=59 => self.transact(),
            60..=67 => self.seal_by_client(),
            68..=71 => self.seal_by_operator(),
            72..=84 => self.pass_time(),
            85..=86 => self.create(),
            87 => self.delete(),
            88..=89 => self.add_partitions(),
            90 => self.configure(),
            91 => self.raise_floor(),
            92 => self.change_settings(),
            93 => self.restart(),
            94 => self.drop_commits(),
            95 => self.delete_records(),
            _ => self.flush(),
        }
    }

    fn append_plain(&mut self) {
        let Some((feed, partition)) = self.any_partition() else { return };
        let values = self.values();
        let (label, seal) = (self.maybe_label(10), self.random.chance(1, 25).then(|| self.maybe_label(2)));
        let batch = batch_of(Producer::NONE, &values, label.as_deref(), seal.as_ref());
        let bytes = batch.bytes.len() as u64;
        let outcome = self.append(feed, partition, batch).unwrap();
        let produced = Produced { partition, values: &values, bytes, label, seal };
        let base = self.oracle.append(feed, produced, &self.settings, self.now);
        assert_eq!((outcome.base_offset, outcome.duplicate), (Offset(base), false));
    }

    fn delete_records(&mut self) {
        let Some((feed, partition)) = self.any_partition() else { return };
        let runs = &self.files.feed(feed).partitions[partition as usize].runs;
        let end = self.oracle.feeds[&feed].partitions[partition as usize].log.len() as i64;
        let below = self.random.below(end as u64 + 2) as i64;
        let looked = self.random.chance(3, 4);
        let open = self.oracle.feeds[&feed].open.as_ref().and_then(|stream| stream.first_in(partition));
        let open_start = self.state.feed(feed).unwrap().open_start(PartitionId(partition));
        let sealed = place_of(runs, open_start, Offset(below)).filter(|_| looked);
        let stable = self.oracle.feeds[&feed].stable(partition);
        let wish = DeleteRecords {
            feed,
            partition: PartitionId(partition),
            below: Offset(below),
            sealed,
            now: Timestamp(self.now),
        };
        match self.state.decide_delete_records(wish) {
            Ok(decision) => {
                let expected = &mut self.oracle.feeds.get_mut(&feed).unwrap().partitions[partition as usize];
                if below > expected.start {
                    expected.start = below;
                    let lost = expected.feed.iter().rposition(|(_, offset)| *offset < below).map_or(0, |last| last + 1);
                    let has_open = open.is_some_and(|open| open < below);
                    let gone = if has_open { expected.feed.len() } else { lost };
                    expected.feed_start = expected.feed_start.max(gone as i64);
                }
                let start = expected.start;
                assert_eq!(self.take(decision), Offset(start));
            }
            Err(TrimError::Behind) => assert!(!looked && open.is_none_or(|open| open >= below)),
            Err(TrimError::InTransaction { first, .. }) => assert!(first == Offset(stable) && below > stable),
            Err(error) => {
                assert_eq!(error, TrimError::AboveEnd { below: Offset(below), end: Offset(end) });
                assert!(below > end);
            }
        }
    }

    fn drop_commits(&mut self) {
        let Some((feed, _)) = self.any_partition() else { return };
        let commits = self.oracle.feeds[&feed].commits.len() as u64;
        let commit = self.random.below(commits + 1) as i64;
        let manifest = self.random.below(commit as u64 + 1) as i64;
        let wish = drop_below(
            self.state.feed(feed).unwrap(),
            self.files.feed(feed),
            CommitNumber(commit),
            CommitNumber(manifest),
        );
        let decision = self.state.decide_drop_commits(wish).unwrap();
        self.take(decision);
        self.oracle.drop_commits(feed, commit, manifest);
    }

    fn append_by_client(&mut self) {
        let Some((feed, partition)) = self.any_partition() else { return };
        let (target, id) = ((feed, Some(partition)), PLAIN_IDS + self.random.below(4) as i64);
        let mut values = self.values();
        let sending = self.sending(target, id, values.len() as i64);
        values.resize(sending.count as usize, "more".to_owned());
        let base_sequence = (sending.first % SEQUENCES) as i32;
        self.see(&sending.expected);
        let batch = batch_of(Producer { id, epoch: sending.epoch, base_sequence }, &values, None, None);
        let bytes = batch.bytes.len() as u64;
        let result = self.append(feed, partition, batch);
        assert_eq!(told_append(&result), sending.expected);
        if sending.expected == Expected::Taken {
            let produced = Produced { partition, values: &values, bytes, label: None, seal: None };
            let base = self.oracle.append(feed, produced, &self.settings, self.now);
            assert_eq!(result.unwrap().base_offset, Offset(base));
            self.taken(target, id, sending, base, self.now);
        }
    }

    fn seal_by_client(&mut self) {
        let Some((feed, _)) = self.any_partition() else { return };
        let (target, id) = ((feed, None), PLAIN_IDS + self.random.below(3) as i64);
        let count = 1 + self.random.below(3) as i64;
        let sending = self.sending(target, id, count);
        self.see(&sending.expected);
        let label = |index| Some(format!("label {index}"));
        let wishes = (0..sending.count).map(|i| SealWish { label: label(i), metadata: Some("{\"a\": 1}".into()) });
        let sequence = (sending.first % SEQUENCES) as i32;
        let producer = Some(SealingProducer { producer: ProducerId(id), epoch: sending.epoch, sequence });
        let result = self.seal(feed, wishes.collect(), producer, SealReason::Control);
        assert_eq!(told_seal(&result), sending.expected);
        if sending.expected == Expected::Taken {
            let seal = |i| self.oracle.seal(feed, SealReason::Control, label(i), self.now);
            let commits: Vec<i64> = (0..sending.count).map(seal).collect();
            let outcome = result.unwrap();
            assert_eq!((outcome.first.0, i64::from(outcome.count)), (commits[0], sending.count));
            // A wish is as old as its seal, whose time does not go back with the clock.
            let sealed = self.oracle.feeds[&feed].last_sealed();
            self.taken(target, id, sending, commits[0], sealed);
        }
    }

    fn seal_by_operator(&mut self) {
        let Some((feed, _)) = self.any_partition() else { return };
        let outcome = self.seal(feed, vec![SealWish::default()], None, SealReason::Operator).unwrap();
        let commit = self.oracle.seal(feed, SealReason::Operator, None, self.now);
        assert_eq!(outcome.first, CommitNumber(commit));
    }

    /// What a producer sends next: mostly what it should.
    fn sending(&mut self, target: Target, id: i64, count: i64) -> Sending {
        let expired = self.now - EXPIRATION_MS;
        let known = self.clients.entry(target).or_default().known(id, expired).cloned();
        let Some(client) = known else {
            // Near the wrap, so that walks pass it.
            let first = SEQUENCES - 40 + self.random.below(60) as i64;
            return Sending { epoch: self.random.below(3) as i16, first, count, expected: Expected::Taken };
        };
        let epoch = client.epoch;
        let recent = client.sent.len().saturating_sub(5);
        let sending = |epoch, first, count, expected| Sending { epoch, first, count, expected };
        match self.random.below(20) {
            0..=2 => {
                let index = recent + self.random.below((client.sent.len() - recent) as u64) as usize;
                let sent = &client.sent[index];
                sending(epoch, sent.first, sent.count, Expected::Duplicate { base: sent.base })
            }
            3 if recent > 0 => {
                let sent = &client.sent[self.random.below(recent as u64) as usize];
                sending(epoch, sent.first, sent.count, Expected::Forgotten)
            }
            4 => sending(epoch, client.next + 1 + self.random.below(50) as i64, count, Expected::Gap),
            5 => sending(epoch + 1, 0, count, Expected::Taken),
            6 => sending(epoch + 1, 1 + self.random.below(9) as i64, count, Expected::NewEpoch),
            7 if epoch > 0 => sending(epoch - 1, client.next, count, Expected::OlderEpoch),
            _ => sending(epoch, client.next, count, Expected::Taken),
        }
    }

    fn taken(&mut self, target: Target, id: i64, sending: Sending, base: i64, at: i64) {
        let sent = Sent { first: sending.first, count: sending.count, base };
        let clients = self.clients.get_mut(&target).unwrap();
        clients.taken(id, sending.epoch, sent, at, self.now - EXPIRATION_MS);
    }

    fn pass_time(&mut self) {
        self.now += match self.random.below(40) {
            0 => -20_000,
            1 => 70_000,
            _ => self.random.below(2_000) as i64,
        };
        let decision = self.state.decide_due(Timestamp(self.now));
        self.take(decision);
        self.oracle.seal_due(self.now);
        self.time_out();
        assert!(self.state.deadline().is_none_or(|at| at.0 > self.now));
    }

    fn create(&mut self) {
        let name = ["a", "b.c", "b_c", "d", "e.", "e_"][self.random.below(6) as usize];
        let partitions = 1 + self.random.below(3) as u32;
        let topic_id = Uuid::from_u128(u128::from(self.random.draw()));
        let taken = self.oracle.feeds.values().any(|feed| feed.name.replace('.', "_") == name.replace('.', "_"));
        match self.state.decide_create(name, topic_id, partitions, Overrides::new(), Timestamp(self.now)) {
            Ok(decision) => {
                assert!(!taken);
                let feed = self.take(decision);
                self.oracle.feeds.insert(feed, OracleFeed::new(name, partitions));
            }
            Err(error) => assert!(taken, "{error}"),
        }
    }

    fn delete(&mut self) {
        let Some((feed, _)) = self.any_partition() else { return };
        let decision = self.state.decide_delete(feed, Timestamp(self.now)).unwrap();
        self.take(decision);
        self.oracle.delete(feed);
        assert!(self.state.decide_delete(feed, Timestamp(self.now)).is_err());
    }

    fn add_partitions(&mut self) {
        let Some((feed, _)) = self.any_partition() else { return };
        let partitions = &mut self.oracle.feeds.get_mut(&feed).unwrap().partitions;
        let total = partitions.len() as u32 + self.random.below(3) as u32;
        match self.state.decide_add_partitions(feed, total, Timestamp(self.now)) {
            Ok(decision) => {
                partitions.resize_with(total as usize, Default::default);
                self.take(decision);
            }
            Err(error) => assert_eq!(error, AddPartitionsError::NotMore { current: total, wanted: total }),
        }
    }

    fn configure(&mut self) {
        let overrides = Overrides::from([("segment.ms".to_owned(), self.random.below(3).to_string())]);
        let broker = self.random.chance(1, 2).then_some(1);
        let decision = self.state.decide_configure_broker(broker, overrides.clone()).unwrap();
        self.take(decision);
        let Some((feed, _)) = self.any_partition() else { return };
        let decision = self.state.decide_configure(feed, overrides).unwrap();
        self.take(decision);
        let decision = self.state.decide_open_producer();
        self.take(decision);
    }

    fn raise_floor(&mut self) {
        let at = self.now - self.random.below(5_000) as i64;
        let decision = self.state.decide_time_floor(Timestamp(at));
        self.take(decision);
        self.oracle.floor = self.oracle.floor.max(at);
    }

    fn change_settings(&mut self) {
        self.settings.seal_records = [5, 20, i64::MAX][self.random.below(3) as usize];
        self.settings.seal_bytes = [400, 4_000, i64::MAX][self.random.below(3) as usize];
        self.settings.seal_ms = [500, 5_000][self.random.below(2) as usize];
        self.settings.segment_bytes = [1, 300, 5_000][self.random.below(3) as usize];
    }

    /// The state as a manifest keeps it is the state.
    fn restart(&mut self) {
        let restarted = State::decode(&self.state.encode()).unwrap();
        assert_eq!(restarted, self.state);
        self.state = restarted;
    }

    /// Sends the open group to the second machine, through bytes. It must ask for the same writes.
    fn flush(&mut self) {
        let bytes: Vec<u8> = codec::encode_group(&self.group).concat();
        let entries = decode(bytes.into()).unwrap();
        assert_eq!(entries.len(), self.group.len());
        let mut writes = Vec::new();
        for entry in &entries {
            self.follower.apply(entry, &mut writes);
        }
        let expected: Vec<TailWrite> = self.group_writes.iter().map(placed).collect();
        assert_eq!(writes.iter().map(placed).collect::<Vec<_>>(), expected);
        assert_eq!(self.follower, self.state);
        self.group.clear();
        self.group_writes.clear();
    }

    fn append(&mut self, feed: FeedId, partition: u32, batch: Batch) -> Result<AppendOutcome, AppendError> {
        let (settings, now) = (self.settings, Timestamp(self.now));
        let append =
            Append { feed, partition: PartitionId(partition), batch, settings: &settings, transaction: None, now };
        self.state.decide_append(append).map(|decision| self.take(decision))
    }

    fn seal(
        &mut self,
        feed: FeedId,
        wishes: Vec<SealWish>,
        producer: Option<SealingProducer>,
        reason: SealReason,
    ) -> Result<SealOutcome, SealError> {
        let now = Timestamp(self.now);
        let seal = Seal { feed, wishes, producer, reason, producer_expiration_ms: EXPIRATION_MS, now };
        self.state.decide_seal(seal).map(|decision| self.take(decision))
    }

    fn take<T>(&mut self, decision: Decision<T>) -> T {
        let from = self.group_writes.len();
        for entry in decision.entries {
            self.state.apply(&entry, &mut self.group_writes);
            self.group.push(entry);
        }
        self.group_writes[from..].iter().for_each(|write| self.files.write(write));
        self.state.check();
        decision.outcome
    }

    fn any_partition(&mut self) -> Option<(FeedId, u32)> {
        let feeds: Vec<FeedId> = self.oracle.feeds.keys().copied().collect();
        if feeds.is_empty() {
            return None;
        }
        let feed = feeds[self.random.below(feeds.len() as u64) as usize];
        let partitions = self.oracle.feeds[&feed].partitions.len() as u64;
        Some((feed, self.random.below(partitions) as u32))
    }

    fn values(&mut self) -> Vec<String> {
        let count = 1 + self.random.below(4);
        self.next_value += count;
        (self.next_value - count..self.next_value).map(|value| value.to_string()).collect()
    }

    fn see(&mut self, what: &impl std::fmt::Debug) {
        let name = format!("{what:?}");
        self.seen.insert(name.split(' ').next().unwrap().to_owned());
    }

    fn see_commits(&mut self) {
        for feed in self.files.ids() {
            let reasons: Vec<SealReason> = self.files.feed(feed).commits.iter().map(|(_, m)| m.reason).collect();
            reasons.iter().for_each(|reason| self.see(reason));
        }
    }

    fn maybe_label(&mut self, out_of: u64) -> Option<String> {
        self.random.chance(1, out_of).then(|| format!("poll {}", self.random.below(9)))
    }
}

fn batch_of(producer: Producer, values: &[String], label: Option<&str>, seal: Option<&Option<String>>) -> Batch {
    let mut builder = BatchBuilder::new(0).producer(producer);
    for (index, value) in values.iter().enumerate() {
        let mut headers = Vec::new();
        if let Some(label) = label.filter(|_| index == 0) {
            headers.push(Header { key: b"streamstack-stream", value: Some(label.as_bytes()) });
        }
        if let Some(label) = seal.filter(|_| index == values.len() - 1) {
            headers.push(Header { key: b"streamstack-seal", value: label.as_ref().map(String::as_bytes) });
        }
        builder.push(NewRecord { timestamp: 5, key: None, value: Some(value.as_bytes()), headers: &headers });
    }
    checked(builder.build())
}

fn told_append(result: &Result<AppendOutcome, AppendError>) -> Expected {
    match result {
        Ok(outcome) if outcome.duplicate => Expected::Duplicate { base: outcome.base_offset.0 },
        Ok(_) => Expected::Taken,
        Err(AppendError::Sequence(error)) => told(error),
        Err(error) => panic!("{error}"),
    }
}

fn told_seal(result: &Result<SealOutcome, SealError>) -> Expected {
    match result {
        Ok(outcome) if outcome.duplicate => Expected::Duplicate { base: outcome.first.0 },
        Ok(_) => Expected::Taken,
        Err(SealError::Sequence(error)) => told(error),
        Err(error) => panic!("{error}"),
    }
}

fn told(error: &SequenceError) -> Expected {
    match error {
        SequenceError::OlderEpoch { .. } => Expected::OlderEpoch,
        SequenceError::NewEpoch { .. } => Expected::NewEpoch,
        SequenceError::Gap { .. } => Expected::Gap,
        SequenceError::Forgotten { .. } => Expected::Forgotten,
    }
}

/// Prints the seed, so that a failure can be walked again.
fn walk(seed: u64, num_steps: usize) -> BTreeSet<String> {
    println!("seed {seed}");
    let mut walk = Walk::new(seed);
    for step in 0..num_steps {
        walk.step();
        if step % 500 == 0 {
            walk.oracle.compare(&walk.state, &walk.files);
        }
    }
    walk.flush();
    walk.oracle.compare(&walk.state, &walk.files);
    walk.see_commits();
    walk.seen
}

#[test]
fn walks_agree_with_the_oracle() {
    let mut seen = BTreeSet::new();
    for seed in 1..=24 {
        seen.append(&mut walk(seed, 2_000));
    }
    let all = "Aborted Bound Bytes Committed Control Cut Duplicate Fenced Forgotten Gap Header InTransaction NewEpoch OlderEpoch Operator Records RepeatedInTransaction Taken Time TimedOut Transaction";
    assert_eq!(seen.into_iter().collect::<Vec<_>>().join(" "), all);
}

//! Deletions from the front: records of a log, and whole commits.

use super::files::{FeedFiles, Files};
use super::*;

/// Where a log offset lies in feed space, looked up in all runs there are. None when a stream is open that begins below.
pub fn place_of(runs: &[RunRow], open: Option<Offset>, below: Offset) -> Option<SealedPlace> {
    if open.is_some_and(|open| open < below) {
        return None;
    }
    let run = runs.iter().rfind(|run| run.log_base < below);
    let feed = run.map_or(FeedOffset(0), |run| run.feed_base.plus(run.count.min(below.0 - run.log_base.0)));
    Some(SealedPlace { feed, last_before: run.map(|run| run.commit) })
}

/// The wish to drop the commits below one, and their manifests below another, as the files say it.
pub fn drop_below(feed: &Feed, files: &FeedFiles, commit: CommitNumber, manifest: CommitNumber) -> DropCommits {
    let dropped = manifest.0.checked_sub(1).and_then(|last| files.commits.get(last as usize));
    let start = HistoryStart {
        commit,
        manifest,
        manifest_sealed: dropped.map_or(Timestamp(0), |(row, _)| row.sealed),
        event: 0,
        whole: commit,
    };
    let partitions = files.partitions.iter().enumerate().filter_map(|(index, files)| {
        let run = files.runs.partition_point(|run| run.commit < commit);
        let last = files.runs[..run].last()?;
        let partition = PartitionId(index as u32);
        let kept = files.runs[run..].iter().map(|run| run.log_base);
        let log = kept.chain(feed.open_start(partition)).min().unwrap_or(Offset(files.log.len() as i64));
        Some(PartitionStart { partition, log, feed: last.feed_base.plus(last.count), run: run as u64 })
    });
    DropCommits { feed: feed.id(), start, partitions: partitions.collect(), now: Timestamp(7) }
}

impl Machine {
    /// Deletes from partition 0 of feed 0.
    fn delete_records(&mut self, below: i64) -> Result<Offset, TrimError> {
        let below = Offset(below);
        let sealed =
            place_of(&self.files().feed(FeedId(0)).partitions[0].runs, self.feed().open_start(PartitionId(0)), below);
        let wish = DeleteRecords { feed: FeedId(0), partition: PartitionId(0), below, sealed, now: self.now };
        let decision = self.state.decide_delete_records(wish)?;
        Ok(self.take(decision))
    }

    fn drop_commits(&mut self, below: i64) -> Result<HistoryStart, TrimError> {
        let wish = drop_below(self.feed(), self.files().feed(FeedId(0)), CommitNumber(below), CommitNumber(below));
        let decision = self.state.decide_drop_commits(wish)?;
        Ok(self.take(decision))
    }

    fn files(&self) -> Files {
        let mut files = Files::default();
        self.writes.iter().for_each(|write| files.write(write));
        files
    }

    fn log(&self) -> &Partition {
        &self.feed().partitions()[0]
    }
}

#[test]
fn a_deletion_moves_the_start_and_never_back() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b", "c"])).unwrap();
    assert_eq!(machine.delete_records(2), Ok(Offset(2)));
    assert_eq!(machine.delete_records(1), Ok(Offset(2)), "as in Kafka, the start is told");
    let above = TrimError::AboveEnd { below: Offset(4), end: Offset(3) };
    assert_eq!(machine.delete_records(4), Err(above));
    assert_eq!(machine.append(plain(&["d"])).unwrap().log_start, Offset(2));
}

#[test]
fn a_log_that_was_emptied_goes_on_in_a_new_segment() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b"])).unwrap();
    machine.delete_records(2).unwrap();
    assert_eq!(machine.log().segment(), Segment { base: Offset(2), bytes: 0, first_at: Timestamp(0) });
    machine.append(plain(&["c"])).unwrap();
    assert_eq!((machine.log().segment().base, machine.log().log_end()), (Offset(2), Offset(3)));
}

#[test]
fn what_is_deleted_of_an_open_stream_is_gone_from_its_commit() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b"])).unwrap();
    machine.append_to(FeedId(0), PartitionId(1), plain(&["x"])).unwrap();
    machine.delete_records(1).unwrap();
    assert_eq!(machine.log().feed_start(), FeedOffset(0));
    machine.seal(vec![SealWish::default()], None).unwrap();
    assert_eq!((machine.log().feed_start(), machine.log().feed_end()), (FeedOffset(1), FeedOffset(2)));
    assert_eq!(machine.feed().history().whole, CommitNumber(1), "commit 0 has lost a record");
    machine.append(plain(&["c"])).unwrap();
    machine.seal(vec![SealWish::default()], None).unwrap();
    assert_eq!(machine.feed().history().whole, CommitNumber(1), "commit 1 has not");
}

#[test]
fn an_offset_inside_sealed_records_must_have_been_looked_up() {
    let mut machine = Machine::new();
    machine.append(plain(&["a", "b"])).unwrap();
    machine.seal(vec![SealWish::default()], None).unwrap();
    machine.append(plain(&["c"])).unwrap();
    let wish = |below| DeleteRecords {
        feed: FeedId(0),
        partition: PartitionId(0),
        below: Offset(below),
        sealed: None,
        now: Timestamp(9),
    };
    assert_eq!(machine.state.decide_delete_records(wish(1)), Err(TrimError::Behind));
    assert_eq!(machine.state.decide_delete_records(wish(2)), Err(TrimError::Behind));
    let decision = machine.state.decide_delete_records(wish(3)).unwrap();
    machine.take(decision);
    assert_eq!(machine.log().feed_start(), FeedOffset(2));
    assert_eq!(machine.feed().history().whole, CommitNumber(1));
}

#[test]
fn dropped_commits_take_their_records_along() {
    let mut machine = Machine::new();
    for value in ["a", "b", "c"] {
        machine.append(plain(&[value])).unwrap();
        machine.seal(vec![SealWish::default()], None).unwrap();
    }
    let start = machine.drop_commits(2).unwrap();
    assert_eq!((start.commit, start.whole), (CommitNumber(2), CommitNumber(2)));
    let log = machine.log();
    assert_eq!((log.log_start(), log.feed_start(), log.first_run()), (Offset(2), FeedOffset(2), 2));
    assert_eq!(machine.drop_commits(1), Ok(start), "a history does not begin earlier again");
    let above = TrimError::AboveCommits { below: CommitNumber(4), commits: CommitNumber(3) };
    assert_eq!(machine.drop_commits(4), Err(above));
    machine.drop_commits(3).unwrap();
    assert_eq!(machine.log().segment().bytes, 0, "nothing is left");
}

#[test]
fn a_repeated_batch_is_known_though_its_records_were_deleted() {
    let mut machine = Machine::new();
    machine.append(by(1, 0, 0, &["a"])).unwrap();
    machine.append(by(1, 0, 1, &["b"])).unwrap();
    machine.delete_records(2).unwrap();
    let again = machine.append(by(1, 0, 1, &["b"])).unwrap();
    assert_eq!((again.base_offset, again.duplicate, again.log_start), (Offset(1), true, Offset(2)));
    machine.append(by(1, 0, 2, &["c"])).unwrap();
}

#[test]
fn a_deletion_into_the_open_stream_takes_what_lies_below_and_nothing_else() {
    let mut machine = Machine::new();
    let producer = machine.bind("loader", None).unwrap();
    let within = |sequence, values| super::transaction::within(producer, sequence, values);
    machine.append_in(super::transaction::TV2, (FeedId(0), PartitionId(0)), within(0, &["a"])).unwrap();
    machine.append(plain(&["p"])).unwrap();
    machine.append_in(super::transaction::TV2, (FeedId(0), PartitionId(0)), within(1, &["b"])).unwrap();
    machine.append_to(FeedId(0), PartitionId(1), plain(&["elsewhere"])).unwrap();
    machine.end("loader", producer, true, true).unwrap();
    // Each commit cuts the plain stream, so that all that is sealed lies below one that is open.
    machine.append(plain(&["q", "r"])).unwrap();
    machine.append(plain(&["s"])).unwrap();
    machine.delete_records(6).unwrap();
    assert_eq!((machine.log().log_start(), machine.log().feed_start()), (Offset(6), FeedOffset(3)));
    let partition = machine.feed().partition(PartitionId(1)).unwrap();
    assert_eq!(partition.feed_start(), FeedOffset(0), "other partitions keep what they have");
    machine.seal(vec![SealWish::default()], None).unwrap();
    let space = machine.files().feed(FeedId(0)).partitions[0].feed_space();
    assert_eq!(space, ["p", "a", "b", "q", "r", "s"]);
    assert_eq!(machine.log().feed_start(), FeedOffset(5), "of the stream that was open, s is left");
}

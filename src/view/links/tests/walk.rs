//! Random walks: commits, indexing in steps of any size, checkpoints, restarts, retention.

use super::history::{History, Shape, TestRecord};
use super::*;
use crate::disk::SplitMix;
use crate::model::CommitNumber;

const IDENTITIES: [&str; 4] = ["key+value", "key", "value", "header:id"];

/// Memory in which tables never grow.
const TINY: usize = 1 << 10;

fn walk(seed: u64, steps: usize, memory_bytes: usize) {
    let mut random = SplitMix::new(seed);
    let identity = IDENTITIES[(seed % 4) as usize];
    let keys = [3, 200, 1_000_000][random.below(3) as usize];
    let shape = Shape { keys, values: [2, 1_000_000][random.below(2) as usize], records_max: 60 };
    let mut fixture = Fixture::new(History::new(1 + random.below(4) as usize), identity, SMALL, memory_bytes);
    for _ in 0..steps {
        match random.below(20) {
            0..9 => fixture.history.commit(&mut random, shape),
            9..14 => {
                let _ = fixture.links.advance_over(&fixture.history, random.below(200) as usize).unwrap();
            }
            14 | 15 => fixture.links.checkpoint_over(&fixture.history).unwrap(),
            16 => fixture.reopen().unwrap(),
            17 => fixture.links.trim_below(&fixture.history),
            18 => {
                let (first, end) = (fixture.history.first_commit(), fixture.history.num_commits());
                fixture.history.drop_commits(first + random.below((end - first) as u64 / 3 + 1) as i64);
            }
            _ if fixture.history.num_partitions() < 6 => fixture.history.add_partition(),
            _ => fixture.check().unwrap(),
        }
    }
    fixture.links.trim_below(&fixture.history);
    fixture.catch_up().unwrap();
    assert_eq!(fixture.links.indexed().0, fixture.history.num_commits());
    fixture.check().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    let indexed = fixture.links.indexed();
    fixture.reopen().unwrap();
    assert_eq!(fixture.links.indexed(), indexed, "nothing is done again after a checkpoint");
    fixture.check().unwrap();
}

#[test]
fn an_index_says_what_the_model_says() {
    (0..40).for_each(|seed| walk(seed, 120, 1 << 22));
}

#[test]
fn an_index_that_lives_on_disk_says_the_same() {
    (100..112).for_each(|seed| walk(seed, 250, TINY));
}

#[test]
fn counts_are_those_of_the_model() {
    for (seed, identity) in (0..).zip(IDENTITIES) {
        let mut random = SplitMix::new(seed);
        let mut history = History::new(3);
        let shape = Shape { keys: 30, values: 3, records_max: 40 };
        (0..30).for_each(|_| history.commit(&mut random, shape));
        let fixture = Fixture::new(history, identity, SMALL, 1 << 20);
        fixture.catch_up().unwrap();
        let expected = model::links(&fixture.history, &fixture.identity).counts;
        let found: Vec<_> =
            (0..30).map(|commit| fixture.links.counts(CommitNumber(commit)).unwrap().unwrap()).collect();
        assert_eq!(found, expected, "{identity}");
    }
}

fn record(key: &str, value: &str) -> TestRecord {
    let (key, value) = (Some(key.as_bytes().to_vec()), Some(value.as_bytes().to_vec()));
    TestRecord { commit: 0, key, value, headers: Vec::new() }
}

#[test]
fn a_value_that_comes_back_is_no_repetition_of_the_one_before() {
    let mut history = History::new(1);
    history.commit_of(["a", "b", "a", "a"].map(|value| record("k", value)).to_vec());
    let fixture = Fixture::new(history, "key+value", SMALL, 1 << 20);
    fixture.catch_up().unwrap();
    let links = fixture.links.read(PartitionId(0), FeedOffset(0), FeedOffset(4)).unwrap();
    let before = |offset: i64| Some(Place { partition: PartitionId(0), offset: FeedOffset(offset) });
    assert_eq!(links.iter().map(|link| link.repeats_value).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(links.iter().map(|link| link.identity_before).collect::<Vec<_>>(), [None, None, before(0), before(2)]);
    assert_eq!(links.iter().map(|link| link.key_before).collect::<Vec<_>>(), [None, before(0), before(1), before(2)]);
}

#[test]
fn a_commit_larger_than_a_lot_is_seen_when_all_of_it_is_indexed() {
    let mut history = History::new(1);
    history.commit_of(vec![record("a", "1")]);
    history.commit_of((0..1_000).map(|number| record(&format!("{}", number % 300), "v")).collect());
    let mut fixture = Fixture::new(history, "key", SMALL, TINY);
    let first = fixture.links.advance_over(&fixture.history, 500).unwrap();
    assert_eq!((first.indexed, first.records, first.caught_up), (CommitNumber(1), 500, false));
    assert_eq!(fixture.links.end(PartitionId(0)), FeedOffset(1));
    // A restart in the midst of it goes on there.
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    fixture.reopen().unwrap();
    assert_eq!(fixture.links.indexed(), CommitNumber(1));
    let second = fixture.links.advance_over(&fixture.history, 10_000).unwrap();
    assert_eq!((second.indexed, second.records, second.caught_up), (CommitNumber(2), 501, true));
    fixture.check().unwrap();
    let progress = fixture.links.progress_over(&fixture.history);
    assert_eq!((progress.records_indexed, progress.records), (1_001, 1_001));
    let counts = fixture.links.counts(CommitNumber(1)).unwrap().unwrap();
    assert_eq!((counts.duplicates, counts.new_keys), (700, 300));
}

#[test]
fn files_of_what_was_dropped_are_removed() {
    let mut random = SplitMix::new(3);
    let shape = Shape { keys: 50, values: 9, records_max: 60 };
    let mut history = History::new(2);
    (0..40).for_each(|_| history.commit(&mut random, shape));
    let mut fixture = Fixture::new(history, "key+value", SMALL, TINY);
    fixture.catch_up().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    let names = |fixture: &Fixture| fixture.disk.list(FOLDER.as_ref()).unwrap();
    let num_before = names(&fixture).iter().filter(|name| name.ends_with(".rows")).count();
    fixture.history.drop_commits(50);
    fixture.links.trim_below(&fixture.history);
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    let num_after = names(&fixture).iter().filter(|name| name.ends_with(".rows")).count();
    assert!(num_after < num_before, "{num_before} files, then {num_after}");
    let gone = fixture.links.read(PartitionId(0), FeedOffset(0), FeedOffset(1)).unwrap_err();
    assert!(gone.is_absence(), "{gone}");
    fixture.check().unwrap();
    fixture.reopen().unwrap();
    fixture.check().unwrap();
}

#[test]
fn records_that_were_deleted_before_they_were_indexed_have_no_row() {
    let mut random = SplitMix::new(8);
    let mut history = History::new(1);
    (0..20).for_each(|_| history.commit(&mut random, Shape { keys: 5, values: 2, records_max: 30 }));
    // In the midst of a batch.
    let (_, end) = history.kept(0);
    history.drop_records(0, end / 2);
    let fixture = Fixture::new(history, "key+value", SMALL, 1 << 20);
    fixture.catch_up().unwrap();
    fixture.check().unwrap();
    assert_eq!(fixture.links.indexed(), CommitNumber(20));
}

#[test]
fn another_identity_and_another_history_make_it_anew() {
    let mut random = SplitMix::new(8);
    let mut history = History::new(2);
    (0..20).for_each(|_| history.commit(&mut random, Shape { keys: 5, values: 2, records_max: 30 }));
    let mut fixture = Fixture::new(history, "key+value", SMALL, 1 << 20);
    fixture.catch_up().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    fixture.reopen().unwrap();
    assert_eq!(fixture.links.indexed(), CommitNumber(20));
    fixture.identity = Identity::Value;
    fixture.reopen().unwrap();
    assert_eq!(fixture.links.indexed(), CommitNumber(0));
    fixture.catch_up().unwrap();
    fixture.check().unwrap();
    fixture.links.checkpoint_over(&fixture.history).unwrap();
    // Commits that a crash took back, and others with their numbers.
    fixture.history.name = 1;
    fixture.reopen().unwrap();
    assert_eq!(fixture.links.indexed(), CommitNumber(0));
}

#[test]
fn too_many_partitions_are_refused() {
    let fixture = Fixture::new(History::new(65_536), "key+value", SMALL, 1 << 20);
    let refused = fixture.links.advance_over(&fixture.history, 1).unwrap_err();
    assert!(matches!(refused, LinksError::Partitions { num: 65_536 }), "{refused}");
}

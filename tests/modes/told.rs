//! A history as it is told, and its views held against the model.

use streamstack::model::{PartitionId, Timestamp};
use streamstack::view::{Isolation, Mode, Published, View, ViewError};

use crate::followers::Followers;
use crate::index::Index;
use crate::model::{self, Range};
use crate::reading::{Expected, check_view};
use crate::teller::{START_MS, Teller};

const MODES: [Mode; 4] = [Mode::Dedup, Mode::Latest, Mode::Changed, Mode::Live];

/// A history, with an index that goes on behind it, and readers that follow it.
pub struct Told {
    pub teller: Teller,
    index: Index,
    followers: Followers,
    deletes: bool,
}

impl Told {
    pub fn new(mut teller: Teller, index: Index) -> Told {
        let followers = Followers::new(teller.model.num_partitions);
        Told { deletes: teller.random.chance(1, 2), index, followers, teller }
    }

    /// Some steps, with looks at the views in between.
    pub async fn go_on(&mut self, num_steps: u64) {
        for _ in 0..num_steps {
            self.teller.step().await;
            match self.teller.random.below(12) {
                0 => self.index.go_on(&mut self.teller).await,
                1 => self.check_following().await,
                2 => self.check_bounded().await,
                3 if self.deletes => self.delete().await,
                4 | 5 => self.followers.read(&self.teller, &self.index, false),
                _ => {}
            }
        }
    }

    /// All that is open is ended and all is indexed.
    pub async fn finish(&mut self) {
        self.teller.finish().await;
        self.index.go_on_to_the_end(&self.teller).await;
        self.check_following().await;
        for _ in 0..3 {
            self.check_bounded().await;
        }
        self.followers.read(&self.teller, &self.index, true);
        if !self.deletes {
            self.followers.check(&self.teller.model);
        }
    }

    /// Where one partition lost records of a commit and others did not, links among the rest lead through what is gone: the
    /// index is begun anew, of what is left.
    async fn delete(&mut self) {
        let (before, losses) = (self.index.of(&self.teller), self.teller.feed.losses());
        self.teller.delete().await;
        if self.teller.feed.losses() != losses {
            self.index.begun_anew(&self.teller, &before, self.starts(0)).await;
        }
    }

    /// Where each partition begins now, no earlier than commit `first`.
    fn starts(&self, first: usize) -> Vec<i64> {
        let model = &self.teller.model;
        let start = |partition| self.kept_from(partition).max(base_of(model, first, partition));
        (0..model.num_partitions).map(start).collect()
    }

    fn kept_from(&self, partition: usize) -> i64 {
        self.teller.kept_from(partition)
    }

    fn view(&self, name: &str) -> Result<View, ViewError> {
        self.index.view(&self.teller, name)
    }

    async fn check_following(&mut self) {
        self.index.be_known(&self.teller).await;
        let first = self.teller.random.below(self.teller.model.commits.len() as u64 + 1) as usize;
        let feed = self.teller.feed.name.clone();
        for mode in [Mode::Dedup, Mode::Latest, Mode::Changed] {
            let names = [(0, format!("{feed}..{mode}")), (first, format!("{feed}..since-{first}..{mode}"))];
            for (first, name) in names {
                let view = self.view(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                let model = &self.teller.model;
                let starts = self.starts(first);
                let range = Range { first, end: self.index.num_indexed(&self.teller), starts: starts.clone() };
                let valid_ends = (0..model.num_partitions).map(|p| model.feed_end(p)).collect();
                let expected = Expected { emitted: model.emitted(mode, &range), starts, valid_ends };
                check_view(&name, &view, &expected, &mut self.teller.random.clone());
                self.check_times(&name, &view, &expected);
            }
        }
        self.teller.random.draw();
    }

    async fn check_bounded(&mut self) {
        self.index.be_known(&self.teller).await;
        let num_commits = self.teller.model.commits.len() as u64;
        if num_commits == 0 {
            return;
        }
        let first = self.teller.random.below(num_commits) as usize;
        let last = first + self.teller.random.below(num_commits - first as u64) as usize;
        let feed = self.teller.feed.name.clone();
        for mode in MODES {
            self.check_range(&format!("{feed}..commits-{first}-{last}..{mode}"), mode, first, last);
            self.check_range(&format!("{feed}..commit-{first}..{mode}"), mode, first, first);
            self.check_range(&format!("{feed}..upto-{last}..{mode}"), mode, 0, last);
        }
        self.teller.random.draw();
    }

    /// All of it, or a refusal that says why.
    fn check_range(&self, name: &str, mode: Mode, first: usize, last: usize) {
        let model = &self.teller.model;
        let starts: Vec<i64> = (0..model.num_partitions).map(|p| base_of(model, first, p)).collect();
        let valid_ends: Vec<i64> = (0..model.num_partitions).map(|p| base_of(model, last + 1, p)).collect();
        let holes = |p: usize| starts[p] < valid_ends[p] && self.kept_from(p) > starts[p];
        let is_gone = first < self.teller.feed.history().commit.0 as usize || (0..model.num_partitions).any(holes);
        match self.view(name) {
            Ok(view) => {
                assert!(!is_gone && last < self.index.num_indexed(&self.teller), "{name} is answered");
                let range = Range { first, end: last + 1, starts: starts.clone() };
                let expected = Expected { emitted: model.emitted(mode, &range), starts, valid_ends };
                check_view(name, &view, &expected, &mut self.teller.random.clone());
                self.check_times(name, &view, &expected);
            }
            Err(ViewError::NotIndexed { indexed, wanted }) => {
                assert_eq!(
                    (indexed.0 as usize, wanted.0 as usize),
                    (self.index.num_indexed(&self.teller), last + 1),
                    "{name}"
                );
                assert!(!is_gone && last >= self.index.num_indexed(&self.teller), "{name}");
            }
            Err(ViewError::CommitsDropped { .. } | ViewError::RecordsDeleted { .. }) => assert!(is_gone, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }

    /// ListOffsets by time: the first emitted record of a commit that was sealed then or later.
    fn check_times(&self, name: &str, view: &View, expected: &Expected<'_>) {
        let mut random = self.teller.random.clone();
        let sealed = |sealed: &model::Sealed| self.teller.model.commits[sealed.commit];
        for partition in 0..self.teller.model.num_partitions {
            let id = PartitionId(partition as u32);
            let of_partition = || expected.emitted.iter().filter(move |sealed| sealed.partition == partition);
            let time = START_MS + random.below(200_000) as i64;
            let first = of_partition().find(|record| sealed(record) >= time);
            let found = view.find_time(id, Timestamp(time), Isolation::ReadUncommitted).unwrap();
            let found = found.map(|found| (found.offset, found.timestamp.0));
            assert_eq!(found, first.map(|record| (record.offset, sealed(record))), "{name} at {time}");
            let newest = of_partition().map(|record| sealed(record)).max();
            let first = of_partition().find(|record| Some(sealed(record)) == newest);
            let found = view.newest(id, Isolation::ReadUncommitted).unwrap();
            let found = found.map(|found| (found.offset, found.timestamp.0));
            assert_eq!(found, first.map(|record| (record.offset, sealed(record))), "{name}, newest");
        }
    }
}

/// Where a commit's records begin in a partition, or would.
fn base_of(model: &model::Model, commit: usize, partition: usize) -> i64 {
    let of_partition = model.records.iter().filter(|sealed| sealed.partition == partition);
    of_partition.filter(|sealed| sealed.commit < commit).count() as i64
}

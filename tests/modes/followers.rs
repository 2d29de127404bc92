//! Readers that follow a feed in each mode, fetch by fetch, while its history goes on.

use streamstack::view::Mode;

use crate::index::Index;
use crate::model::{Model, Range, Record, state_of};
use crate::reading::{any_budget, fetch};
use crate::teller::Teller;

pub struct Followers(Vec<Follower>);

/// Reads on where it stopped.
struct Follower {
    mode: Mode,
    positions: Vec<i64>,
    shown: Vec<Vec<(i64, Record)>>,
}

impl Followers {
    pub fn new(num_partitions: usize) -> Followers {
        let (positions, shown) = (vec![0; num_partitions], vec![Vec::new(); num_partitions]);
        let follower = |mode| Follower { mode, positions: positions.clone(), shown: shown.clone() };
        Followers([Mode::Dedup, Mode::Latest, Mode::Changed].map(follower).into())
    }

    /// A fetch of each, or as many as there is something for.
    pub fn read(&mut self, teller: &Teller, index: &Index, to_the_end: bool) {
        let mut random = teller.random.clone();
        for follower in &mut self.0 {
            let Ok(view) = index.view(teller, &format!("{}..{}", teller.feed.name, follower.mode)) else {
                assert!(!to_the_end, "it is indexed by now");
                continue;
            };
            for partition in 0..teller.model.num_partitions {
                loop {
                    let from = follower.positions[partition].max(teller.kept_from(partition));
                    let answer = fetch(&view, partition, from, any_budget(&mut random)).unwrap();
                    let is_end = answer.records.is_empty();
                    follower.shown[partition].extend(answer.records);
                    follower.positions[partition] = answer.next;
                    if is_end || !to_the_end {
                        break;
                    }
                }
            }
        }
    }

    /// Where nothing was deleted, whoever followed from the start got what is emitted, however it was cut; and what they got
    /// last of each key is the table.
    pub fn check(&self, model: &Model) {
        let all = Range { first: 0, end: model.commits.len(), starts: vec![0; model.num_partitions] };
        for Follower { mode, shown, .. } in &self.0 {
            if *mode != Mode::Latest {
                let mut expected = vec![Vec::new(); model.num_partitions];
                for sealed in model.emitted(*mode, &all) {
                    expected[sealed.partition].push((sealed.offset, sealed.record.clone()));
                }
                assert_eq!(*shown, expected, "whoever followed {mode}");
            }
            // Between partitions a client knows no order.
            if *mode != Mode::Dedup && model.num_partitions == 1 {
                let shown = shown[0].iter().map(|(_, record)| record);
                assert_eq!(state_of(shown), model.state(), "whoever followed {mode}");
            }
        }
    }
}

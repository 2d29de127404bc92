//! Where views get their links from: looked up in the model, so that views are tested alone, or from the broker's own index.

use std::sync::Arc;

use streamstack::broker::{ResolveError, Sleeper};
use streamstack::model::{CommitNumber, Timestamp};
use streamstack::view::link::Links;
use streamstack::view::name::{self, TopicName};
use streamstack::view::{self, Published, SealClock, Selections, View, ViewError, ViewName};

use crate::links::{Linked, NaiveLinks};
use crate::teller::Teller;

pub enum Index {
    /// It goes on when it is told to.
    Naive { links: Arc<NaiveLinks>, num_indexed: usize, selections: Arc<Selections> },
    /// It goes on by itself.
    Kept,
}

/// An index, to be told from the one that comes after it.
pub type Known = Option<Arc<dyn Links>>;

impl Index {
    pub fn naive(num_partitions: usize, selections: Selections) -> Index {
        let links = Arc::new(NaiveLinks::new(vec![0; num_partitions]));
        Index::Naive { links, num_indexed: 0, selections: Arc::new(selections) }
    }

    pub fn view(&self, teller: &Teller, name: &str) -> Result<View, ViewError> {
        let name = view_name(name);
        match self {
            Index::Naive { links, selections, .. } => {
                let feed = Linked { feed: teller.feed.clone(), links: links.clone() };
                // No later seal carries the time that it is now.
                let now = teller.broker.now();
                let clock = SealClock { now, floor: Timestamp(now.0 + 1) };
                View::open(Arc::new(feed), &name, clock, selections)
            }
            Index::Kept => match teller.broker.resolve_view(&name) {
                Ok(handle) => Ok(handle.view),
                Err(ResolveError::View(error)) => Err(error),
                Err(error) => panic!("{name}: {error}"),
            },
        }
    }

    /// Commits that are indexed.
    pub fn num_indexed(&self, teller: &Teller) -> usize {
        match self {
            Index::Naive { num_indexed, .. } => *num_indexed,
            Index::Kept => teller.model.commits.len(),
        }
    }

    /// Some commits more.
    pub async fn go_on(&mut self, teller: &mut Teller) {
        if let Index::Naive { links, num_indexed, .. } = self {
            let left = teller.model.commits.len() - *num_indexed;
            *num_indexed += teller.random.below(left as u64 + 1) as usize;
            links.index(&teller.model, *num_indexed, |partition| teller.kept_from(partition));
        }
    }

    pub async fn go_on_to_the_end(&mut self, teller: &Teller) {
        match self {
            Index::Naive { links, num_indexed, .. } => {
                *num_indexed = teller.model.commits.len();
                links.index(&teller.model, *num_indexed, |partition| teller.kept_from(partition));
            }
            Index::Kept => self.be_known(teller).await,
        }
    }

    /// Until as much is indexed as `num_indexed` says.
    pub async fn be_known(&self, teller: &Teller) {
        if let Index::Kept = self {
            let commits = CommitNumber(teller.model.commits.len() as i64);
            until(teller, || self.of(teller).is_some_and(|links| links.indexed() >= commits)).await;
        }
    }

    pub fn of(&self, teller: &Teller) -> Known {
        match (self, teller.feed.index()) {
            (Index::Kept, view::Index::Kept { links, .. }) => Some(links),
            (Index::Kept, view::Index::Failed { reason }) => panic!("the index failed: {reason}"),
            _ => None,
        }
    }

    /// Until another index than `before` knows of the records from `starts` on.
    pub async fn begun_anew(&mut self, teller: &Teller, before: &Known, starts: Vec<i64>) {
        match self {
            Index::Naive { links, num_indexed, .. } => {
                *links = Arc::new(NaiveLinks::new(starts));
                links.index(&teller.model, *num_indexed, |partition| teller.kept_from(partition));
            }
            Index::Kept => {
                let Some(before) = before else { return };
                until(teller, || self.of(teller).is_some_and(|links| !Arc::ptr_eq(&links, before))).await;
            }
        }
    }
}

/// Waits for what the indexer does. The first to ask makes it begin.
async fn until(teller: &Teller, is_so: impl Fn() -> bool) {
    let any = view_name(&format!("{}..dedup", teller.feed.name));
    loop {
        let sleeper = Sleeper::default();
        teller.feed.wake_for_index(&sleeper);
        // Its answer is of no interest: it asks for the index.
        let _ = teller.broker.resolve_view(&any);
        if is_so() {
            return;
        }
        sleeper.notified().await;
    }
}

fn view_name(name: &str) -> ViewName {
    match name::parse_topic(name) {
        Ok(TopicName::View(view)) => view,
        other => panic!("{name} is no view: {other:?}"),
    }
}

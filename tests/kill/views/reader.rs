//! A reader of views: it follows the feed in each mode over all lives of the broker, and remembers what bounded names showed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use streamstack::cli::client::{Client, ClientError, Isolation, Position};
use streamstack::disk::SplitMix;
use streamstack::view::Mode;

use super::{NUM_PARTITIONS, Shown, TOPIC, shown};

/// Of names that follow.
pub const MODES: [Mode; 3] = [Mode::Dedup, Mode::Latest, Mode::Changed];
const BOUNDED_MODES: [Mode; 4] = [Mode::Dedup, Mode::Latest, Mode::Live, Mode::Changed];
/// So many answers are remembered; from time to time, and then always, one of them is asked for again.
const BOUNDED_MAX: usize = 400;
/// Commits of most bounded names.
const COMMITS_MAX: u64 = 30;

pub struct Reader {
    random: SplitMix,
    pub followers: Vec<Follower>,
    pub bounded: BTreeMap<BoundedName, Vec<Shown>>,
    /// Bounded names that were asked for again.
    num_again: usize,
    /// Lives that ended before the first answer: the index was not far enough.
    num_unanswered: usize,
}

/// Who reads a name that follows, and where it stands in each partition.
pub struct Follower {
    pub mode: Mode,
    pub positions: Vec<i64>,
    pub shown: Vec<Shown>,
}

/// Commits `first..=last` in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundedName {
    pub first: usize,
    pub last: usize,
    mode: usize,
}

impl BoundedName {
    pub fn mode(&self) -> Mode {
        BOUNDED_MODES[self.mode]
    }
}

impl fmt::Display for BoundedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TOPIC}..commits-{}-{}..{}", self.first, self.last, self.mode())
    }
}

impl Reader {
    pub fn new(seed: u64) -> Reader {
        let positions = vec![0; NUM_PARTITIONS as usize];
        let follower = |mode| Follower { mode, positions: positions.clone(), shown: Vec::new() };
        let (random, followers) = (SplitMix::new(seed), MODES.map(follower).into());
        Reader { random, followers, bounded: BTreeMap::new(), num_again: 0, num_unanswered: 0 }
    }

    /// Asks until the broker is gone.
    pub fn run(&mut self, address: &str) {
        let Ok(mut client) = Client::connect(address) else { return };
        let mut is_answered = false;
        loop {
            match self.look(&mut client) {
                Ok(()) => is_answered = true,
                Err(error) if error.is_disconnect() => break,
                Err(error) => panic!("reader: {error}"),
            }
        }
        self.num_unanswered += usize::from(!is_answered);
    }

    fn look(&mut self, client: &mut Client) -> Result<(), ClientError> {
        if self.random.chance(1, 2) {
            return self.ask_bounded(client);
        }
        let at = self.random.below(self.followers.len() as u64) as usize;
        self.followers[at].read(client)
    }

    fn ask_bounded(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let is_new = self.bounded.is_empty() || self.bounded.len() < BOUNDED_MAX && self.random.chance(1, 2);
        let name = if is_new { self.any_name(client)? } else { self.any_known() };
        let now = answer(client, name)?;
        match self.bounded.get(&name) {
            Some(before) => {
                assert!(now == *before, "{name} shows other records than before");
                self.num_again += 1;
            }
            None => drop(self.bounded.insert(name, now)),
        }
        Ok(())
    }

    fn any_name(&mut self, client: &mut Client) -> Result<BoundedName, ClientError> {
        let num_commits = client.bounds(&format!("{TOPIC}..commits"))?[0].end as u64;
        let last = self.random.below(num_commits);
        let span = if self.random.chance(1, 20) { num_commits } else { COMMITS_MAX };
        let first = last - self.random.below(span.min(last + 1));
        let mode = self.random.below(BOUNDED_MODES.len() as u64) as usize;
        Ok(BoundedName { first: first as usize, last: last as usize, mode })
    }

    fn any_known(&mut self) -> BoundedName {
        let at = self.random.below(self.bounded.len() as u64) as usize;
        *self.bounded.keys().nth(at).expect("it is below their number")
    }

    pub fn shows_enough(&self) -> bool {
        self.num_unanswered > 0 && !self.bounded.is_empty() && self.followers.iter().all(|f| !f.shown.is_empty())
    }
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unanswered, bounded, again) = (self.num_unanswered, self.bounded.len(), self.num_again);
        let followed: usize = self.followers.iter().map(|follower| follower.shown.len()).sum();
        write!(f, "{unanswered} before a view was answered, {bounded} bounded names (and {again} again), ")?;
        write!(f, "{followed} records followed")
    }
}

impl Follower {
    pub fn name(&self) -> String {
        format!("{TOPIC}..{}", self.mode)
    }

    fn read(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let from: Vec<Position> = (0..NUM_PARTITIONS)
            .map(|partition| Position { partition, offset: self.positions[partition as usize] })
            .collect();
        let name = self.name();
        let fetched =
            client.patiently(|client| client.fetch(&name, &from, Isolation::ReadCommitted, Duration::ZERO))?;
        for part in fetched {
            self.positions[part.partition as usize] = part.next;
            self.shown.extend(part.records.into_iter().map(shown));
        }
        Ok(())
    }
}

pub fn answer(client: &mut Client, name: BoundedName) -> Result<Vec<Shown>, ClientError> {
    Ok(client.read_to_end(&name.to_string())?.into_iter().map(shown).collect())
}

//! Crash images: the disks that a power loss may leave behind.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::content::Content;
use super::plan::Plan;
use super::state::{File, NameStep, Node, State, Unsynced};
use crate::disk::SplitMix;

/// The unit that a disk writes whole.
const SECTOR: u64 = 512;

/// Which of the possible images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashPolicy {
    /// Nothing unsynced survives.
    DropAll,
    /// Everything written survives (but what a failed sync lost).
    KeepAll,
    /// Each unsynced change meets a fate of its own, drawn from the seed.
    Seeded(u64),
}

impl State {
    pub(super) fn after_power_loss(&self, policy: CrashPolicy) -> State {
        let mut image = self.after_kill();
        let mut fate = Fate::new(policy);
        for step in fate.names(std::mem::take(&mut image.unsynced_names)) {
            image.make_durable(&step);
        }
        for node in &mut image.nodes {
            match node {
                Node::Folder(folder) => folder.live = folder.durable.clone(),
                Node::File(file) => fate.settle(file),
            }
        }
        image
    }

    pub(super) fn after_kill(&self) -> State {
        State {
            nodes: self.nodes.clone(),
            unsynced_names: self.unsynced_names.clone(),
            plan: Plan::default(),
            capacity: self.capacity,
            locks: BTreeSet::new(),
        }
    }
}

enum Fate {
    All,
    None,
    Drawn(SplitMix),
}

impl Fate {
    fn new(policy: CrashPolicy) -> Fate {
        match policy {
            CrashPolicy::DropAll => Fate::None,
            CrashPolicy::KeepAll => Fate::All,
            CrashPolicy::Seeded(seed) => Fate::Drawn(SplitMix::new(seed)),
        }
    }

    /// The steps that survive, in order.
    fn names(&mut self, mut steps: Vec<NameStep>) -> Vec<NameStep> {
        match self {
            Fate::All => steps,
            Fate::None => Vec::new(),
            Fate::Drawn(random) => {
                // A journaling file system keeps a prefix; the standard promises nothing.
                if random.chance(1, 2) {
                    steps.truncate(random.below(steps.len() as u64 + 1) as usize);
                } else {
                    steps.retain(|_| random.chance(1, 2));
                }
                steps
            }
        }
    }

    /// Turns a file into what is left of it.
    fn settle(&mut self, file: &mut File) {
        let changes = std::mem::take(&mut file.unsynced);
        match self {
            Fate::None => {}
            Fate::All => changes.iter().for_each(|change| keep(&mut file.durable, change)),
            Fate::Drawn(random) => settle_drawn(&mut file.durable, changes, random),
        }
        file.live = file.durable.clone();
        file.allocated = 0;
    }
}

fn settle_drawn(content: &mut Content, mut changes: Vec<Unsynced>, random: &mut SplitMix) {
    if random.chance(1, 3) {
        reorder(&mut changes, random);
    }
    // Mostly kept, mostly dropped, or mixed: so that long histories see each extreme too.
    let kept_of_ten = [1, 5, 9, 10][random.below(4) as usize];
    for change in &changes {
        match change {
            Unsynced::Write { at, bytes } if random.chance(1, 3) => tear(content, *at, bytes, random),
            change if random.chance(kept_of_ten, 10) => keep(content, change),
            _ => {}
        }
    }
}

fn keep(content: &mut Content, change: &Unsynced) {
    match change {
        Unsynced::Write { at, bytes } => content.write(bytes, *at),
        Unsynced::Size(size) => content.set_size(*size),
    }
}

/// Swaps writes with their neighbours. Changes of the size stay in their place: file systems journal them.
fn reorder(changes: &mut [Unsynced], random: &mut SplitMix) {
    for run in changes.split_mut(|change| matches!(change, Unsynced::Size(_))) {
        for last in (1..run.len()).rev() {
            run.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
}

/// Keeps some sectors of a write: a prefix, or each by chance.
fn tear(content: &mut Content, at: u64, bytes: &Bytes, random: &mut SplitMix) {
    let end = at + bytes.len() as u64;
    let num_sectors = (end - 1) / SECTOR - at / SECTOR + 1;
    let prefix = random.chance(1, 2).then(|| random.below(num_sectors + 1));
    let mut start = at;
    for index in 0..num_sectors {
        let stop = ((start / SECTOR + 1) * SECTOR).min(end);
        if prefix.map_or_else(|| random.chance(1, 2), |kept| index < kept) {
            content.write(&bytes[(start - at) as usize..(stop - at) as usize], start);
        }
        start = stop;
    }
    // The size may be there before the bytes are.
    if random.chance(1, 4) {
        content.extend_to(end);
    }
}

//! The uniform assignor: no member could take a partition from one that has two more.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::Wanted;
use crate::model::group::consumer::member::Partitions;
use crate::model::ids::PartitionId;

pub(super) fn assign(wanted: &Wanted<'_>) -> Vec<Partitions> {
    let mut sharing = Sharing::keeping(wanted);
    sharing.give_the_rest();
    while sharing.even_out() {}
    sharing.finish(wanted.applicants.len())
}

/// Topics that the same members subscribe to.
struct Class {
    members: Vec<usize>,
    /// What each of these members has, by their order here.
    has: Vec<Vec<(Uuid, PartitionId)>>,
    rest: Vec<(Uuid, PartitionId)>,
}

struct Sharing {
    classes: Vec<Class>,
    /// How many partitions each member has, over all classes.
    load: Vec<usize>,
}

impl Sharing {
    /// Every member has what it had, of topics that it still subscribes to.
    fn keeping(wanted: &Wanted<'_>) -> Sharing {
        let mut sharing = Sharing { classes: Vec::new(), load: vec![0; wanted.applicants.len()] };
        for (members, topics) in wanted.classes() {
            let mut class = Class { has: vec![Vec::new(); members.len()], members, rest: Vec::new() };
            for topic in topics {
                class.keep(wanted, topic);
            }
            for (member, has) in class.members.iter().zip(&class.has) {
                sharing.load[*member] += has.len();
            }
            sharing.classes.push(class);
        }
        // The fewer members can take a partition, the sooner it is given away.
        sharing.classes.sort_by_key(|class| class.members.len());
        sharing
    }

    fn give_the_rest(&mut self) {
        for class in &mut self.classes {
            let mut by_load: BTreeSet<(usize, usize)> =
                class.members.iter().enumerate().map(|(at, member)| (self.load[*member], at)).collect();
            for partition in std::mem::take(&mut class.rest) {
                let Some((load, at)) = by_load.pop_first() else { break };
                class.has[at].push(partition);
                self.load[class.members[at]] += 1;
                by_load.insert((load + 1, at));
            }
        }
    }

    /// Moves partitions from members with many to members with few, within each class. Says whether it moved any. It
    /// comes to an end, for each move makes the sum of the squares of all loads smaller.
    fn even_out(&mut self) -> bool {
        let mut moved = false;
        for class in &mut self.classes {
            let loads = || class.members.iter().enumerate().map(|(at, member)| (self.load[*member], at));
            let mut takers: BTreeSet<(usize, usize)> = loads().collect();
            let mut givers: BTreeSet<(usize, usize)> = loads().filter(|(_, at)| !class.has[*at].is_empty()).collect();
            while let (Some((few, taker)), Some((many, giver))) = (takers.first().copied(), givers.last().copied()) {
                if many < few + 2 {
                    break;
                }
                let partition = class.has[giver].pop().expect("a giver has a partition of the class");
                class.has[taker].push(partition);
                for (at, old, new) in [(taker, few, few + 1), (giver, many, many - 1)] {
                    self.load[class.members[at]] = new;
                    takers.remove(&(old, at));
                    takers.insert((new, at));
                    givers.remove(&(old, at));
                    if !class.has[at].is_empty() {
                        givers.insert((new, at));
                    }
                }
                moved = true;
            }
        }
        moved
    }

    fn finish(self, members: usize) -> Vec<Partitions> {
        let mut shares = vec![Partitions::new(); members];
        for class in self.classes {
            for (member, has) in class.members.iter().zip(class.has) {
                for (topic, partition) in has {
                    shares[*member].entry(topic).or_default().insert(partition);
                }
            }
        }
        shares
    }
}

impl Class {
    fn keep(&mut self, wanted: &Wanted<'_>, topic: Uuid) {
        let count = wanted.partitions.get(&topic).copied().unwrap_or(0);
        let mut taken = vec![false; count as usize];
        for (at, member) in self.members.iter().enumerate() {
            for partition in wanted.applicants[*member].had.get(&topic).into_iter().flatten() {
                if let Some(taken @ false) = taken.get_mut(partition.0 as usize) {
                    *taken = true;
                    self.has[at].push((topic, *partition));
                }
            }
        }
        let free = (0..count).filter(|partition| !taken[*partition as usize]);
        self.rest.extend(free.map(|partition| (topic, PartitionId(partition))));
    }
}

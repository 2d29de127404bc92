//! The range assignor: of each topic every subscriber gets as many partitions, and of topics with as many partitions
//! and the same subscribers the same ones, so that what is joined comes together.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::Wanted;
use crate::model::group::consumer::member::Partitions;
use crate::model::ids::PartitionId;

pub(super) fn assign(wanted: &Wanted<'_>) -> Vec<Partitions> {
    let mut shares = vec![Partitions::new(); wanted.applicants.len()];
    for (members, topics) in wanted.classes() {
        if members.is_empty() {
            continue;
        }
        for (count, topics) in by_partitions(wanted, &topics) {
            let ranges = share(count, &had(wanted, &members, &topics, count));
            for (member, range) in members.iter().zip(ranges) {
                for topic in topics.iter().filter(|_| !range.is_empty()) {
                    shares[*member].insert(*topic, range.clone());
                }
            }
        }
    }
    shares
}

fn by_partitions(wanted: &Wanted<'_>, topics: &[Uuid]) -> BTreeMap<u32, Vec<Uuid>> {
    let mut groups = BTreeMap::<u32, Vec<Uuid>>::new();
    for topic in topics {
        let count = wanted.partitions.get(topic).copied().unwrap_or(0);
        groups.entry(count).or_default().push(*topic);
    }
    groups
}

/// What each member had of the topic of which most is shared out already: the others follow it.
fn had(wanted: &Wanted<'_>, members: &[usize], topics: &[Uuid], count: u32) -> Vec<BTreeSet<PartitionId>> {
    let had = |topic: &Uuid, member: usize| wanted.applicants[member].had.get(topic);
    let shared_out = |topic: &&Uuid| members.iter().filter_map(|m| had(topic, *m)).map(BTreeSet::len).sum::<usize>();
    let leader = topics.iter().rev().max_by_key(shared_out);
    let mut taken = BTreeSet::new();
    let of_member = |member: &usize| {
        let had = leader.and_then(|topic| had(topic, *member)).into_iter().flatten().copied();
        had.filter(|partition| partition.0 < count && taken.insert(*partition)).collect()
    };
    members.iter().map(of_member).collect()
}

/// Who has too much gives the highest, who has too little gets the lowest that is free.
fn share(count: u32, had: &[BTreeSet<PartitionId>]) -> Vec<BTreeSet<PartitionId>> {
    let quotas = quotas(count as usize, had);
    let mut ranges: Vec<BTreeSet<PartitionId>> =
        had.iter().zip(&quotas).map(|(had, quota)| had.iter().take(*quota).copied().collect()).collect();
    let kept: BTreeSet<PartitionId> = ranges.iter().flatten().copied().collect();
    let mut free = (0..count).map(PartitionId).filter(|partition| !kept.contains(partition));
    for (range, quota) in ranges.iter_mut().zip(quotas) {
        let missing = quota - range.len();
        range.extend(free.by_ref().take(missing));
    }
    ranges
}

/// Some get one more than others: those that had more before the others.
fn quotas(count: usize, had: &[BTreeSet<PartitionId>]) -> Vec<usize> {
    let (least, mut more) = (count / had.len(), count % had.len());
    let mut quotas = vec![least; had.len()];
    let (before, others): (Vec<usize>, Vec<usize>) = (0..had.len()).partition(|at| had[*at].len() > least);
    for at in before.into_iter().chain(others) {
        if more == 0 {
            break;
        }
        quotas[at] += 1;
        more -= 1;
    }
    quotas
}

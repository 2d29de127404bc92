//! Assignors: balance, stickiness, ranges that go together, and seeded shares.

use super::*;
use crate::disk::SplitMix;
use crate::model::ids::PartitionId;

/// Members with the topics they subscribe to and what they had; topics by number with their partitions.
struct Question {
    topics: Vec<u32>,
    members: Vec<(BTreeSet<usize>, Partitions)>,
}

impl Question {
    fn new(topics: &[u32], subscriptions: &[&[usize]]) -> Question {
        let members = subscriptions.iter().map(|topics| (topics.iter().copied().collect(), Partitions::new()));
        Question { topics: topics.to_vec(), members: members.collect() }
    }

    fn ask(&self, assignor: Assignor) -> Vec<Partitions> {
        let ids = |topics: &BTreeSet<usize>| topics.iter().map(|topic| id(*topic)).collect::<BTreeSet<Uuid>>();
        let wanted = Wanted {
            applicants: self.members.iter().enumerate().map(|(topics, (_, had))| Applicant { topics, had }).collect(),
            sets: self.members.iter().map(|(topics, _)| ids(topics)).collect(),
            partitions: self.topics.iter().enumerate().map(|(topic, count)| (id(topic), *count)).collect(),
        };
        let shares = assignor.assign(&wanted);
        self.check(&shares);
        shares
    }

    /// Asks, and remembers the answer as what the members had.
    fn settle(&mut self, assignor: Assignor) -> Vec<Partitions> {
        let shares = self.ask(assignor);
        for ((_, had), share) in self.members.iter_mut().zip(&shares) {
            had.clone_from(share);
        }
        shares
    }

    /// Each partition that anyone subscribes to has one owner, and that subscribes to it.
    fn check(&self, shares: &[Partitions]) {
        for (topic, count) in self.topics.iter().enumerate() {
            let subscribed = self.members.iter().any(|(topics, _)| topics.contains(&topic));
            for partition in 0..*count {
                let has =
                    |share: &Partitions| share.get(&id(topic)).is_some_and(|p| p.contains(&PartitionId(partition)));
                let owners: Vec<usize> = (0..shares.len()).filter(|member| has(&shares[*member])).collect();
                assert_eq!(owners.len(), usize::from(subscribed), "owners of {topic}-{partition}: {owners:?}");
                assert!(owners.iter().all(|owner| self.members[*owner].0.contains(&topic)));
            }
        }
        let known = |(topic, partitions): (&Uuid, &BTreeSet<PartitionId>)| {
            let count = self.topics.get(topic.as_u128() as usize).copied().unwrap_or(0);
            partitions.iter().all(|partition| partition.0 < count)
        };
        assert!(shares.iter().flatten().all(known));
    }
}

fn id(topic: usize) -> Uuid {
    Uuid::from_u128(topic as u128)
}

fn sizes(shares: &[Partitions]) -> Vec<usize> {
    shares.iter().map(|share| share.values().map(BTreeSet::len).sum()).collect()
}

fn moved(before: &[Partitions], after: &[Partitions]) -> usize {
    let lost = |(before, after): (&Partitions, &Partitions)| {
        let still = |topic: &Uuid, partition| after.get(topic).is_some_and(|held| held.contains(partition));
        before.iter().map(|(topic, held)| held.iter().filter(|p| !still(topic, p)).count()).sum::<usize>()
    };
    before.iter().zip(after).map(lost).sum()
}

fn range(share: &Partitions, topic: usize) -> Vec<u32> {
    share.get(&id(topic)).into_iter().flatten().map(|partition| partition.0).collect()
}

#[test]
fn uniform_gives_everyone_as_much_over_all_topics() {
    let shares = Question::new(&[3, 3, 1], &[&[0, 1, 2][..]; 3]).ask(Assignor::Uniform);
    let mut sizes = sizes(&shares);
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 2, 3]);
}

#[test]
fn uniform_moves_no_more_than_it_must() {
    let mut question = Question::new(&[6, 6], &[&[0, 1][..]; 3]);
    let before = question.settle(Assignor::Uniform);
    assert_eq!(moved(&before, &question.ask(Assignor::Uniform)), 0);
    question.members.push(([0, 1].into(), Partitions::new()));
    let after = question.settle(Assignor::Uniform);
    assert_eq!((sizes(&after), moved(&before, &after)), (vec![3; 4], 3));
    question.members.remove(1);
    let left = question.ask(Assignor::Uniform);
    let others: Vec<Partitions> = [0, 2, 3].map(|member| after[member].clone()).into();
    assert_eq!((sizes(&left), moved(&others, &left)), (vec![4; 3], 0));
}

#[test]
fn uniform_evens_out_members_with_different_subscriptions() {
    // Only the first may read topic 0; it gets nothing of the shared topic.
    let shares = Question::new(&[4, 4], &[&[0, 1], &[1], &[1]]).ask(Assignor::Uniform);
    assert_eq!(sizes(&shares), [4, 2, 2]);
}

#[test]
fn range_gives_runs_of_each_topic_to_everyone() {
    let shares = Question::new(&[5, 5, 2], &[&[0, 1, 2][..]; 2]).ask(Assignor::Range);
    assert_eq!((range(&shares[0], 0), range(&shares[1], 0)), (vec![0, 1, 2], vec![3, 4]));
    assert_eq!((range(&shares[0], 2), range(&shares[1], 2)), (vec![0], vec![1]));
}

#[test]
fn range_gives_the_same_partitions_of_topics_with_as_many() {
    let mut question = Question::new(&[4, 0], &[&[0][..]; 2]);
    question.settle(Assignor::Range);
    question.members.push(([0].into(), Partitions::new()));
    question.settle(Assignor::Range);
    // A second topic comes, which is to be joined with the first.
    question.topics[1] = 4;
    for (topics, _) in &mut question.members {
        topics.insert(1);
    }
    for share in question.ask(Assignor::Range) {
        assert_eq!(range(&share, 0), range(&share, 1));
        assert!(!share.is_empty());
    }
}

#[test]
fn range_keeps_what_it_can() {
    let mut question = Question::new(&[6], &[&[0][..]; 2]);
    let before = question.settle(Assignor::Range);
    question.members.push(([0].into(), Partitions::new()));
    let after = question.settle(Assignor::Range);
    assert_eq!((sizes(&after), moved(&before, &after)), (vec![2; 3], 2));
}

#[test]
fn nobody_to_share_with_and_nothing_to_share_are_answered() {
    for assignor in [Assignor::Uniform, Assignor::Range] {
        assert_eq!(Question::new(&[3], &[]).ask(assignor), []);
        assert_eq!(Question::new(&[0], &[&[0]]).ask(assignor), [Partitions::new()]);
        assert_eq!(Question::new(&[], &[&[][..]]).ask(assignor), [Partitions::new()]);
        assert_eq!(sizes(&Question::new(&[1], &[&[0][..]; 3]).ask(assignor)).iter().sum::<usize>(), 1);
    }
}

#[test]
fn any_question_is_answered_fairly_and_the_answer_stands() {
    for seed in 0..2_000 {
        let mut random = SplitMix::new(seed);
        let topics: Vec<u32> = (0..random.below(6)).map(|_| random.below(8) as u32).collect();
        let mut question = Question { topics, members: Vec::new() };
        for _ in 0..random.below(8) {
            let topics = (0..question.topics.len()).filter(|_| random.chance(2, 3)).collect();
            question.members.push((topics, Partitions::new()));
        }
        let assignor = if random.chance(1, 2) { Assignor::Uniform } else { Assignor::Range };
        for _ in 0..4 {
            let before = question.settle(assignor);
            assert_eq!(moved(&before, &question.ask(assignor)), 0, "seed {seed}: asked again");
            check_balance(&question, assignor, &before, seed);
            let member = random.below(8) as usize;
            if member < question.members.len() {
                question.members.remove(member);
            } else {
                question.members.push(((0..question.topics.len()).collect(), Partitions::new()));
            }
        }
    }
}

fn check_balance(question: &Question, assignor: Assignor, shares: &[Partitions], seed: u64) {
    let sizes = sizes(shares);
    for (few, (topics, _)) in question.members.iter().enumerate() {
        for (many, share) in shares.iter().enumerate() {
            for topic in topics {
                let has = range(share, *topic).len();
                let uneven = match assignor {
                    Assignor::Uniform => has > 0 && sizes[many] >= sizes[few] + 2,
                    Assignor::Range => has >= range(&shares[few], *topic).len() + 2,
                };
                assert!(!uneven, "seed {seed}: {many} could give of topic {topic} to {few}");
            }
        }
    }
}

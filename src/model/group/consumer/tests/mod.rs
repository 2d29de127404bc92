//! The consumer protocol from outside: members, topics and a clock, all in memory.

mod bounds;
mod commits;
mod encoding;
mod hand_over;
mod joining;
mod leaving;
mod subscriptions;
mod walk;

use std::collections::BTreeMap;

use super::*;

/// Topics that a test makes and deletes.
#[derive(Clone, Debug, Default)]
pub(in crate::model::group) struct Table {
    version: u64,
    pub topics: BTreeMap<String, Topic>,
}

impl Topics for Table {
    fn version(&self) -> u64 {
        self.version
    }

    fn find(&self, name: &str) -> Option<Topic> {
        self.topics.get(name).copied()
    }

    fn name(&self, id: &Uuid) -> Option<String> {
        self.topics.iter().find(|(_, topic)| topic.id == *id).map(|(name, _)| name.clone())
    }

    fn each_name(&self, visit: &mut dyn FnMut(&str)) {
        self.topics.keys().for_each(|name| visit(name));
    }
}

impl Table {
    /// Makes a topic, or gives it that many partitions. A topic made again has another id.
    pub fn set(&mut self, name: &str, partitions: u32) -> Uuid {
        self.version += 1;
        let id = self.topics.get(name).map_or(Uuid::from_u128(u128::from(self.version)), |topic| topic.id);
        self.topics.insert(name.to_owned(), Topic { id, partitions });
        id
    }

    fn delete(&mut self, name: &str) {
        self.version += 1;
        self.topics.remove(name);
    }
}

const CLASSIC: ClassicSettings =
    ClassicSettings { session_ms_min: 1, session_ms_max: 100_000, initial_delay_ms: 0, num_members_max: 100 };

/// A group with all that is around it.
#[derive(Clone, Debug)]
struct Scene {
    group: ConsumerGroup,
    table: Table,
    settings: Settings,
    now: i64,
    /// The rows as they were kept.
    head: Bytes,
    rows: BTreeMap<String, Bytes>,
}

impl Scene {
    /// Topics with their partitions; their ids are 1, 2 and so on.
    fn with(topics: &[(&str, u32)]) -> Scene {
        let mut scene = Scene {
            group: ConsumerGroup::after(0),
            table: Table::default(),
            settings: Settings::default(),
            now: 0,
            head: Bytes::new(),
            rows: BTreeMap::new(),
        };
        for (name, partitions) in topics {
            scene.table.set(name, *partitions);
        }
        scene
    }

    fn send(&mut self, beat: Heartbeat) -> Result<Told, Fault> {
        let around = Around { topics: &self.table, settings: &self.settings, classic: CLASSIC };
        let told = self.group.heartbeat(&beat, &around, Timestamp(self.now));
        self.keep();
        told
    }

    /// Sends a heartbeat that joins, with what `change` says on top.
    fn join(&mut self, member: &str, topics: &[&str], change: impl FnOnce(&mut Heartbeat)) -> Result<Told, Fault> {
        let mut beat = joining(member, topics);
        change(&mut beat);
        self.send(beat)
    }

    fn joined(&mut self, member: &str, topics: &[&str]) -> Told {
        self.join(member, topics, |_| {}).unwrap()
    }

    /// Sends a heartbeat at the epoch where the group knows the member, with what it owns.
    fn beat(&mut self, member: &str, owned: Option<Partitions>) -> Told {
        let epoch = self.epoch(member);
        self.send(Heartbeat { owned, ..beat(member, epoch) }).unwrap()
    }

    fn epoch(&self, member: &str) -> i32 {
        self.member(member).epoch
    }

    fn member(&self, member: &str) -> &Member {
        &self.group.members[member]
    }

    fn keep(&mut self) {
        if let Some(change) = self.group.change() {
            self.head = change.head;
            for (id, row) in change.members {
                match row {
                    Some(row) => self.rows.insert(id, row),
                    None => self.rows.remove(&id),
                };
            }
        }
    }

    fn restored(&self) -> ConsumerGroup {
        if self.head.is_empty() {
            return ConsumerGroup::after(0);
        }
        ConsumerGroup::restore(&self.head, &self.rows, &self.settings, Timestamp(self.now)).unwrap()
    }

    fn restart(&mut self) {
        self.group = self.restored();
    }

    /// Lets time pass. Members that have nothing to say go on being heard of.
    fn pass(&mut self, ms: i64) -> Vec<String> {
        self.now += ms;
        let gone = self.group.expire(Timestamp(self.now));
        self.keep();
        gone
    }
}

fn joining(member: &str, topics: &[&str]) -> Heartbeat {
    Heartbeat {
        rebalance_timeout_ms: Some(300_000),
        topics: Some(topics.iter().map(|topic| (*topic).to_owned()).collect()),
        owned: Some(Partitions::new()),
        ..beat(member, JOIN)
    }
}

fn beat(member: &str, epoch: i32) -> Heartbeat {
    Heartbeat { member: member.to_owned(), epoch, ..Heartbeat::default() }
}

/// Partitions of the topic with id `topic`.
fn of(topic: u128, partitions: &[u32]) -> Partitions {
    match partitions {
        [] => Partitions::new(),
        _ => [(Uuid::from_u128(topic), partitions.iter().copied().map(PartitionId).collect())].into(),
    }
}

fn count(partitions: &Partitions) -> usize {
    partitions.values().map(BTreeSet::len).sum()
}

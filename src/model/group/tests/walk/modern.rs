//! A client of the consumer protocol, as the Java client is one.

use super::super::*;

#[derive(Clone, Debug)]
pub struct Modern {
    pub serial: u64,
    pub instance: Option<String>,
    pub member: String,
    pub epoch: i32,
    pub topics: BTreeSet<String>,
    /// What it reads.
    pub owned: Partitions,
    /// What it was told to read, and has not got to yet.
    told: Option<Partitions>,
    /// It says all of itself again: it lost an answer, or subscribes to something else.
    full: bool,
}

impl Modern {
    pub fn new(serial: u64, instance: Option<String>, topics: BTreeSet<String>) -> Modern {
        let (member, owned) = (format!("modern{serial}"), Partitions::new());
        Modern { serial, instance, member, epoch: JOIN, topics, owned, told: None, full: true }
    }

    pub fn heartbeat(&self) -> consumer::Heartbeat {
        let (instance, owned) = (self.instance.clone(), Some(self.owned.clone()));
        let heartbeat = consumer::Heartbeat { instance, owned, ..beat(&self.member, self.epoch) };
        match self.full {
            false => heartbeat,
            true => consumer::Heartbeat {
                rebalance_timeout_ms: Some(9_000),
                topics: Some(self.topics.clone()),
                ..heartbeat
            },
        }
    }

    pub fn lose_answer(&mut self) {
        (self.full, self.told) = (true, None);
    }

    /// False: it is fenced, and ends.
    pub fn take(&mut self, told: Result<Told, GroupError>) -> bool {
        match told {
            Ok(told) => {
                (self.epoch, self.full) = (told.epoch, false);
                self.told = told.assignment.or(self.told.take());
            }
            Err(GroupError::Consumer(Fault::UnreleasedInstance { .. })) => {}
            Err(GroupError::Consumer(Fault::FencedInstance { .. })) => return false,
            Err(
                GroupError::NotConsumer { .. }
                | GroupError::Consumer(
                    Fault::UnknownMember { .. } | Fault::UnknownInstance { .. } | Fault::FencedEpoch { .. },
                ),
            ) => {
                self.owned.clear();
                (self.epoch, self.told, self.full) = (JOIN, None, true);
            }
            Err(other) => panic!("client {} is told: {other}", self.serial),
        }
        true
    }

    /// It goes on with what it was told: it lets go first, and takes what is new later.
    pub fn progress(&mut self) {
        let Some(told) = &self.told else { return };
        let keeps = |topic: &uuid::Uuid, partition: &PartitionId| {
            told.get(topic).is_some_and(|partitions| partitions.contains(partition))
        };
        let mut kept = self.owned.clone();
        kept.iter_mut().for_each(|(topic, partitions)| partitions.retain(|partition| keeps(topic, partition)));
        kept.retain(|_, partitions| !partitions.is_empty());
        self.owned = if kept == self.owned { self.told.take().unwrap_or_default() } else { kept };
    }
}

//! A transactional producer of either protocol. Every method may be called again after [`Trouble::Gone`], as clients do.

use std::collections::{BTreeMap, BTreeSet};

use kafka_protocol::messages::TxnOffsetCommitRequest;

use super::checker::Place;
use super::member::Membership;
use super::transactional::{self as requests, Identity, Protocol};
use super::wire::{Trouble, Wire};

pub struct Producer {
    identity: Identity,
    protocol: Protocol,
    timeout_ms: i32,
    /// The next one of each partition.
    sequences: BTreeMap<Place, i32>,
    enlisted: BTreeSet<Place>,
    group_enlisted: bool,
}

impl Producer {
    pub fn new(id: &str, protocol: Protocol, timeout_ms: i32) -> Producer {
        let identity = Identity { id: id.to_owned(), producer: -1, epoch: -1 };
        Producer {
            identity,
            protocol,
            timeout_ms,
            sequences: BTreeMap::new(),
            enlisted: BTreeSet::new(),
            group_enlisted: false,
        }
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Begins anew, as a new process or (`goes_on`) as one that had an error. What was open is aborted.
    pub fn init(&mut self, wire: &mut Wire, goes_on: bool) -> Result<(), Trouble> {
        let current = Some(&self.identity).filter(|_| goes_on);
        let request = requests::init(&self.identity.id, self.timeout_ms, current);
        let answer = wire.ask(self.protocol.init(), &request)?;
        Trouble::of(answer.error_code)?;
        self.goes_on_as(answer.producer_id.0, answer.producer_epoch);
        Ok(())
    }

    pub fn append(&mut self, wire: &mut Wire, place: Place, values: &[String]) -> Result<i64, Trouble> {
        if self.protocol == Protocol::First && !self.enlisted.contains(&place) {
            let request = requests::add_partitions(&self.identity, &[(place.topic, place.partition)]);
            let answer = wire.ask(requests::ADD_PARTITIONS, &request)?;
            Trouble::of(requests::code_of_partitions(&answer))?;
            self.enlisted.insert(place);
        }
        let sequence = self.sequences.get(&place).copied().unwrap_or(0);
        let batch = requests::batch(&self.identity, sequence, values);
        let request = requests::produce(Some(&self.identity.id), place.topic, place.partition, batch);
        let mut answer = wire.ask(self.protocol.produce(), &request)?;
        let answer = answer.responses.remove(0).partition_responses.remove(0);
        Trouble::of(answer.error_code)?;
        self.sequences.insert(place, sequence + values.len() as i32);
        Ok(answer.base_offset)
    }

    /// Moves a group without members with the transaction.
    pub fn stage(&mut self, wire: &mut Wire, group: &str, positions: &[(&str, i32, i64)]) -> Result<(), Trouble> {
        let request = requests::offsets(&self.identity, group, positions);
        self.ask_to_stage(wire, group, &request)
    }

    /// Moves the group of a member.
    pub fn stage_as(
        &mut self,
        wire: &mut Wire,
        member: &Membership,
        positions: &[(&str, i32, i64)],
    ) -> Result<(), Trouble> {
        let request = member.moves(requests::offsets(&self.identity, &member.group, positions));
        self.ask_to_stage(wire, &member.group, &request)
    }

    fn ask_to_stage(&mut self, wire: &mut Wire, group: &str, request: &TxnOffsetCommitRequest) -> Result<(), Trouble> {
        if self.protocol == Protocol::First && !self.group_enlisted {
            let answer = wire.ask(requests::ADD_OFFSETS, &requests::add_offsets(&self.identity, group))?;
            Trouble::of(answer.error_code)?;
            self.group_enlisted = true;
        }
        let answer = wire.ask(self.protocol.offsets(), request)?;
        Trouble::of(requests::code_of_offsets(&answer))
    }

    pub fn end(&mut self, wire: &mut Wire, commit: bool) -> Result<(), Trouble> {
        let answer = wire.ask(self.protocol.end(), &requests::end(&self.identity, commit))?;
        Trouble::of(answer.error_code)?;
        if self.protocol == Protocol::Second {
            self.goes_on_as(answer.producer_id.0, answer.producer_epoch);
        }
        self.enlisted.clear();
        self.group_enlisted = false;
        Ok(())
    }

    fn goes_on_as(&mut self, producer: i64, epoch: i16) {
        let before = (self.identity.producer, self.identity.epoch);
        assert!(producer != before.0 || epoch >= before.1, "epoch {epoch} after {before:?}");
        if before != (producer, epoch) {
            self.sequences.clear();
        }
        (self.identity.producer, self.identity.epoch) = (producer, epoch);
        self.enlisted.clear();
        self.group_enlisted = false;
    }
}

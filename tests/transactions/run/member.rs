//! A member of a group that processes what it is assigned: it reads under read_committed, writes a record for each that it
//! read, and moves the group's position in the same transaction. Now and then it aborts, leaves, or dies and comes back.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use kafka_protocol::error::ResponseError;
use kafka_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use kafka_protocol::messages::{GroupId, OffsetFetchRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use streamstack::cli::client::{Client, Isolation as Asked, Position};
use streamstack::disk::SplitMix;

use super::super::checker::{Event, Isolation, Place, Txn, Value};
use super::super::member::{HEARTBEAT, JOIN, LEAVE, Membership, SYNC, assigned};
use super::super::producer::Producer;
use super::super::transactional::Protocol;
use super::super::wire::{Address, Trouble, Wire};
use super::ledger::Ledger;
use super::{NUM_PARTITIONS, TOPICS};

/// Members, and their group, have numbers of their own.
pub const FIRST_MEMBER: u32 = 50;
pub const GROUP: u32 = FIRST_MEMBER;
const GROUP_NAME: &str = "members";
const INPUT: &str = TOPICS[0];
const OUTPUT: &str = TOPICS[1];
const TIMEOUT_MS: i32 = 600_000;
const OFFSET_FETCH: i16 = 8;
const PAUSE: Duration = Duration::from_millis(5);
/// Records of one transaction.
const RECORDS_MAX: usize = 20;

pub struct Member<'a> {
    number: u32,
    ledger: &'a Ledger,
    random: SplitMix,
    address: Address,
    wire: Wire,
    /// For what it reads; it lasts until it breaks.
    client: Option<Client>,
    producer: Producer,
    membership: Membership,
    /// Where it reads on in what it owns.
    owned: BTreeMap<i32, i64>,
    /// How often it began to read from where the group stood.
    assignment: u32,
    epoch: u32,
    next_value: u32,
    next_txn: u32,
}

/// The transaction did not come to its end, or the membership ended.
struct Lost;

impl<'a> Member<'a> {
    pub fn new(number: u32, seed: u64, address: &Address, ledger: &'a Ledger) -> Member<'a> {
        let protocol = if number.is_multiple_of(2) { Protocol::First } else { Protocol::Second };
        let id = format!("member-{number}");
        let membership =
            Membership { group: GROUP_NAME.into(), instance: id.clone(), generation: -1, id: String::new() };
        Member {
            number,
            ledger,
            random: SplitMix::new(seed.wrapping_mul(1_000).wrapping_add(number.into())),
            address: address.clone(),
            wire: Wire::new(address.clone()),
            client: None,
            producer: Producer::new(&id, protocol, TIMEOUT_MS),
            membership,
            owned: BTreeMap::new(),
            assignment: 0,
            epoch: 0,
            next_value: 0,
            next_txn: 0,
        }
    }

    pub fn group_name() -> String {
        GROUP_NAME.to_owned()
    }

    /// One transaction, or one step of the membership; true if something is known to be committed.
    pub fn turn(&mut self) -> bool {
        if self.membership.generation < 0 {
            self.join();
            return false;
        }
        if self.random.chance(1, 40) {
            self.leave();
            return false;
        }
        if self.random.chance(1, 40) {
            // What it was, it does not know any more. Its place in the group is kept for it.
            self.forget_membership();
            self.begin_anew();
            return false;
        }
        match self.transaction() {
            Ok(committed) => committed,
            Err(Lost) => {
                self.begin_anew();
                self.heartbeat();
                self.read_on_from_the_group();
                false
            }
        }
    }

    /// At the end of a run it gives its place up, for which another may wait.
    pub fn stop(&mut self) {
        self.disown();
        while self.wire.ask(LEAVE, &self.membership.leave()).is_err() {}
    }

    /// Before its first transaction, and after it gave one up: what was open is aborted.
    pub fn begin_anew(&mut self) {
        self.epoch += 1;
        while let Err(trouble) = self.producer.init(&mut self.wire, false) {
            self.bear(trouble);
        }
    }

    fn transaction(&mut self) -> Result<bool, Lost> {
        self.heartbeat();
        let txn = Txn { producer: self.number, number: self.next_txn };
        self.next_txn += 1;
        let places: Vec<i32> = self.owned.keys().copied().collect();
        let read = match places.is_empty() {
            true => None,
            false => {
                let at = self.random.below(places.len() as u64) as usize;
                self.read(txn, places[at])?
            }
        };
        let num_read = read.as_ref().map_or(0, |(_, num)| *num);
        // One more, so that there is always something to commit.
        self.append(txn, num_read + 1)?;
        if let Some((partition, _)) = read {
            self.stage(txn, partition)?;
        }
        let commit = self.random.chance(8, 10);
        if commit {
            self.ledger.say(Event::Committing { txn });
        }
        self.insist(|producer, wire| producer.end(wire, commit))?;
        self.ledger.say(Event::Ended { txn, committed: commit });
        if !commit {
            self.read_on_from_the_group();
        }
        Ok(commit)
    }

    /// Reads on in a partition: how many records; none if there are none.
    fn read(&mut self, txn: Txn, partition: i32) -> Result<Option<(i32, u32)>, Lost> {
        let place = Place { topic: INPUT, partition };
        let from = [Position { partition, offset: self.owned[&partition] }];
        let mut client = self.client.take().unwrap_or_else(|| self.address.client());
        let fetched = client.patiently(|client| client.fetch(INPUT, &from, Asked::ReadCommitted, Duration::ZERO));
        let mut fetched = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                assert!(error.is_disconnect(), "member {}: {error}", self.number);
                return Err(Lost);
            }
        };
        self.client = Some(client);
        let fetched = fetched.remove(0);
        let records = &fetched.records[..fetched.records.len().min(RECORDS_MAX)];
        self.ledger.say_all(records.iter().map(|record| Event::Polled {
            reader: self.number,
            assignment: self.assignment,
            place,
            row: (record.offset, Value::read(record.value.as_deref().unwrap_or_default())),
            isolation: Isolation::Committed,
            txn: Some(txn),
        }));
        let Some(last) = records.last() else { return Ok(None) };
        self.owned.insert(partition, last.offset + 1);
        Ok(Some((partition, records.len() as u32)))
    }

    fn append(&mut self, txn: Txn, num: u32) -> Result<(), Lost> {
        let place = Place { topic: OUTPUT, partition: self.random.below(NUM_PARTITIONS as u64) as i32 };
        let values: Vec<Value> = (self.next_value..self.next_value + num)
            .map(|n| Value { producer: self.number, epoch: self.epoch, n })
            .collect();
        self.next_value += num;
        self.ledger.say_all(values.iter().map(|value| Event::Sent { value: *value, place, txn: Some(txn) }));
        let texts: Vec<String> = values.iter().map(|value| value.text()).collect();
        let base = self.insist(|producer, wire| producer.append(wire, place, &texts))?;
        self.ledger.say_all(values.into_iter().zip(base..).map(|(value, offset)| {
            let offset = (base >= 0).then_some(offset);
            Event::Acked { value, offset }
        }));
        Ok(())
    }

    fn stage(&mut self, txn: Txn, partition: i32) -> Result<(), Lost> {
        let (place, offset) = (Place { topic: INPUT, partition }, self.owned[&partition]);
        self.ledger.say(Event::Staged { txn, group: GROUP, place, offset });
        let membership = self.membership.clone();
        self.insist(|producer, wire| producer.stage_as(wire, &membership, &[(INPUT, partition, offset)]))
    }

    /// Asks again after the connection broke off, or gives up.
    fn insist<T>(&mut self, ask: impl Fn(&mut Producer, &mut Wire) -> Result<T, Trouble>) -> Result<T, Lost> {
        let breaks_off = self.random.chance(1, 40);
        self.wire.breaks_off = breaks_off;
        // What it has sent and let go may come late, and in the first protocol it would count for the next transaction.
        let is_final = breaks_off && self.producer.protocol() == Protocol::First;
        loop {
            match ask(&mut self.producer, &mut self.wire) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Gone) if is_final || self.random.chance(1, 2) => return Err(Lost),
                Err(trouble) if is_about_the_group(trouble) => return Err(Lost),
                Err(trouble) => self.bear(trouble),
            }
        }
    }

    /// Waits if it is worth asking again.
    fn bear(&self, trouble: Trouble) {
        if let Trouble::Refused(code) = trouble {
            let ended_at_once = code != ResponseError::ConcurrentTransactions;
            assert!(code.is_retriable() && ended_at_once, "member {}: refused: {code} ({})", self.number, code.code());
            thread::sleep(PAUSE);
        }
    }
}

/// What a member is told that has to join anew.
fn is_about_the_group(trouble: Trouble) -> bool {
    let codes = [
        ResponseError::IllegalGeneration,
        ResponseError::UnknownMemberId,
        ResponseError::FencedInstanceId,
        ResponseError::RebalanceInProgress,
    ];
    codes.map(Trouble::Refused).contains(&trouble)
}

/// The membership.
impl Member<'_> {
    fn join(&mut self) {
        let Ok(joined) = self.wire.ask(JOIN, &self.membership.join(INPUT)) else { return };
        match Trouble::of(joined.error_code) {
            Ok(()) => {}
            Err(Trouble::Refused(ResponseError::MemberIdRequired)) => {
                self.membership.id = joined.member_id.to_string();
                return;
            }
            Err(trouble) => return self.begin_membership_anew(trouble),
        }
        self.membership.id = joined.member_id.to_string();
        self.membership.generation = joined.generation_id;
        let members: Vec<String> = match joined.leader == joined.member_id {
            true => joined.members.iter().map(|member| member.member_id.to_string()).collect(),
            false => Vec::new(),
        };
        let sync = self.membership.sync(INPUT, NUM_PARTITIONS, &members);
        let synced = match self.wire.ask(SYNC, &sync) {
            Ok(synced) => synced,
            Err(_) => return self.membership.generation = -1,
        };
        match Trouble::of(synced.error_code) {
            Ok(()) => self.own(&assigned(synced.assignment)),
            Err(trouble) => self.begin_membership_anew(trouble),
        }
    }

    fn begin_membership_anew(&mut self, trouble: Trouble) {
        if !is_about_the_group(trouble) {
            self.bear(trouble);
        }
        // Its place was given to a request of its own, the answer to which was lost, or was given up.
        let gone = [ResponseError::UnknownMemberId, ResponseError::FencedInstanceId];
        if gone.map(Trouble::Refused).contains(&trouble) {
            self.membership.id = String::new();
        }
        self.membership.generation = -1;
    }

    fn own(&mut self, partitions: &[i32]) {
        self.owned = partitions.iter().map(|partition| (*partition, 0)).collect();
        self.say_owned(true);
        self.read_on_from_the_group();
    }

    /// Gives back what it owns, before anybody can be given it.
    fn disown(&mut self) {
        self.say_owned(false);
        self.owned.clear();
        self.membership.generation = -1;
    }

    fn say_owned(&self, owned: bool) {
        let event = |partition: &i32| {
            let place = Place { topic: INPUT, partition: *partition };
            Event::Owned { group: GROUP, place, member: self.number, owned }
        };
        self.ledger.say_all(self.owned.keys().map(event));
    }

    fn forget_membership(&mut self) {
        self.disown();
        self.membership.id = String::new();
    }

    fn leave(&mut self) {
        self.disown();
        // Whether it was told or not: it joins anew.
        let _ = self.wire.ask(LEAVE, &self.membership.leave());
        self.membership.id = String::new();
    }

    /// Finds out whether it is still a member.
    fn heartbeat(&mut self) {
        if self.membership.generation < 0 {
            return;
        }
        let Ok(answer) = self.wire.ask(HEARTBEAT, &self.membership.heartbeat()) else { return };
        if let Err(trouble) = Trouble::of(answer.error_code) {
            self.disown();
            self.begin_membership_anew(trouble);
        }
    }

    /// Where the group stands in what it owns, once no transaction is about to move it.
    fn read_on_from_the_group(&mut self) {
        self.assignment += 1;
        let partitions: Vec<i32> = self.owned.keys().copied().collect();
        for partition in partitions {
            let offset = self.position(partition);
            let place = Place { topic: INPUT, partition };
            let told = (offset >= 0).then_some(offset);
            self.ledger.say(Event::Position { group: GROUP, place, offset: told });
            self.owned.insert(partition, offset.max(0));
        }
    }

    fn position(&mut self, partition: i32) -> i64 {
        let topic = TopicName(StrBytes::from_static_str(INPUT));
        let topic = OffsetFetchRequestTopics::default().with_name(topic).with_partition_indexes(vec![partition]);
        let group = GroupId(StrBytes::from_static_str(GROUP_NAME));
        let group = OffsetFetchRequestGroup::default().with_group_id(group).with_topics(Some(vec![topic]));
        let request = OffsetFetchRequest::default().with_groups(vec![group]).with_require_stable(true);
        loop {
            let Ok(answer) = self.wire.ask(OFFSET_FETCH, &request) else { continue };
            let group = &answer.groups[0];
            let answer = Trouble::of(group.error_code).map(|()| &group.topics[0].partitions[0]);
            match answer.and_then(|found| Trouble::of(found.error_code).map(|()| found.committed_offset)) {
                Ok(offset) => return offset,
                Err(trouble) => self.bear(trouble),
            }
        }
    }
}

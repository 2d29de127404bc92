//! A client that reads lists under read_committed and appends to them, in one transaction after another, some of which it
//! aborts. Now and then it dies, or its connection does; then it begins anew, or goes on where it was.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use kafka_protocol::error::ResponseError;
use streamstack::cli::client::{Client, ClientError, Isolation as Asked, Position};
use streamstack::disk::SplitMix;

use super::super::checker::{Event, Isolation, Place, Txn, Value};
use super::super::producer::Producer;
use super::super::transactional::Protocol;
use super::super::wire::{Address, Trouble, Wire};
use super::ledger::Ledger;

use super::{NUM_PARTITIONS, TOPICS};

const PAUSE: Duration = Duration::from_millis(5);

pub struct Writer<'a> {
    number: u32,
    ledger: &'a Ledger,
    random: SplitMix,
    address: Address,
    wire: Wire,
    /// For what it reads; it lasts until it breaks.
    client: Option<Client>,
    producer: Producer,
    epoch: u32,
    next_value: u32,
    next_txn: u32,
    /// Where it reads on.
    read_to: BTreeMap<Place, i64>,
    /// The partitions of which its group ever had a position.
    staged: Vec<Place>,
    /// Its transactions may time out, and sometimes it sleeps for as long.
    sleeps: bool,
}

/// Of those that sleep in the middle of a transaction.
const SHORT_MS: u64 = 300;
/// Longer than any run.
const LONG_MS: u64 = 600_000;

/// Why a transaction was given up.
enum GaveUp {
    /// How it ended is not known.
    Lost,
    /// It timed out. `at_once`: nobody asked before for what was refused so.
    Fenced { at_once: bool },
}

impl<'a> Writer<'a> {
    pub fn new(number: u32, seed: u64, sleeps: bool, address: &Address, ledger: &'a Ledger) -> Writer<'a> {
        let timeout_ms = if sleeps { SHORT_MS } else { LONG_MS };
        let protocol = if number.is_multiple_of(2) { Protocol::First } else { Protocol::Second };
        Writer {
            number,
            ledger,
            random: SplitMix::new(seed.wrapping_mul(1_000).wrapping_add(number.into())),
            address: address.clone(),
            wire: Wire::new(address.clone()),
            client: None,
            producer: Producer::new(&format!("writer-{number}"), protocol, timeout_ms as i32),
            epoch: 0,
            next_value: 0,
            next_txn: 0,
            read_to: BTreeMap::new(),
            staged: Vec::new(),
            sleeps,
        }
    }

    /// The group that it moves.
    pub fn group(number: u32) -> String {
        format!("group-{number}")
    }

    /// Before its first transaction, and after it gave one up.
    pub fn begin_anew(&mut self) {
        let mut goes_on = self.epoch > 0 && self.random.chance(1, 3);
        self.epoch += 1;
        while let Err(trouble) = self.producer.init(&mut self.wire, goes_on) {
            match self.times_out(trouble) {
                true => goes_on = false,
                false => self.bear(trouble),
            }
        }
    }

    /// One transaction; true if it is known to be committed.
    pub fn transaction(&mut self) -> bool {
        let txn = Txn { producer: self.number, number: self.next_txn };
        self.next_txn += 1;
        self.look_at_positions();
        let read = self.read(txn);
        self.attempt(txn, read).unwrap_or_else(|_| {
            self.begin_anew();
            false
        })
    }

    fn attempt(&mut self, txn: Txn, read: Option<Place>) -> Result<bool, GaveUp> {
        for _ in 0..=self.random.below(4) {
            self.append(txn)?;
        }
        if let Some(place) = read {
            self.stage(txn, place)?;
        }
        if self.sleeps && self.random.chance(1, 4) {
            thread::sleep(Duration::from_millis(self.random.below(2 * SHORT_MS)));
        }
        let commit = self.random.chance(7, 10);
        if commit {
            self.ledger.say(Event::Committing { txn });
        }
        let ended = self.insist(|producer, wire| producer.end(wire, commit));
        if let Err(GaveUp::Fenced { .. }) = ended {
            // Had an earlier request committed it, the same would be answered again.
            self.ledger.say(Event::Ended { txn, committed: false });
        }
        ended?;
        self.ledger.say(Event::Ended { txn, committed: commit });
        Ok(commit)
    }

    fn append(&mut self, txn: Txn) -> Result<(), GaveUp> {
        let place = self.any_place();
        let num = 1 + self.random.below(3) as u32;
        let values: Vec<Value> = (self.next_value..self.next_value + num)
            .map(|n| Value { producer: self.number, epoch: self.epoch, n })
            .collect();
        self.next_value += num;
        self.ledger.say_all(values.iter().map(|value| Event::Sent { value: *value, place, txn: Some(txn) }));
        let texts: Vec<String> = values.iter().map(|value| value.text()).collect();
        let base = self.insist(|producer, wire| producer.append(wire, place, &texts));
        if let Err(GaveUp::Fenced { at_once: true }) = base {
            self.ledger.say_all(values.iter().map(|value| Event::Refused { value: *value }));
        }
        let base = base?;
        self.ledger.say_all(values.into_iter().zip(base..).map(|(value, offset)| {
            let offset = (base >= 0).then_some(offset);
            Event::Acked { value, offset }
        }));
        Ok(())
    }

    fn stage(&mut self, txn: Txn, place: Place) -> Result<(), GaveUp> {
        let offset = self.read_to[&place];
        self.ledger.say(Event::Staged { txn, group: self.number, place, offset });
        if !self.staged.contains(&place) {
            self.staged.push(place);
        }
        let group = Writer::group(self.number);
        self.insist(|producer, wire| producer.stage(wire, &group, &[(place.topic, place.partition, offset)]))
    }

    /// Asks again after the connection broke off, or gives up.
    fn insist<T>(&mut self, ask: impl Fn(&mut Producer, &mut Wire) -> Result<T, Trouble>) -> Result<T, GaveUp> {
        let breaks_off = self.random.chance(1, 30);
        self.wire.breaks_off = breaks_off;
        // What it has sent and let go may come late, and in the first protocol it would count for the next transaction.
        let is_final = breaks_off && self.producer.protocol() == Protocol::First;
        let mut at_once = true;
        loop {
            match ask(&mut self.producer, &mut self.wire) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Gone) if is_final || self.random.chance(1, 2) => return Err(GaveUp::Lost),
                Err(trouble) if self.times_out(trouble) => return Err(GaveUp::Fenced { at_once }),
                Err(trouble) => self.bear(trouble),
            }
            at_once = false;
        }
    }

    fn times_out(&self, trouble: Trouble) -> bool {
        let fenced = [ResponseError::ProducerFenced, ResponseError::InvalidProducerEpoch];
        self.sleeps && fenced.map(Trouble::Refused).contains(&trouble)
    }

    /// Waits if it is worth asking again.
    fn bear(&self, trouble: Trouble) {
        if let Trouble::Refused(code) = trouble {
            let ended_at_once = code != ResponseError::ConcurrentTransactions;
            assert!(code.is_retriable() && ended_at_once, "writer {}: refused: {code} ({})", self.number, code.code());
            thread::sleep(PAUSE);
        }
    }

    fn any_place(&mut self) -> Place {
        let topic = TOPICS[self.random.below(TOPICS.len() as u64) as usize];
        Place { topic, partition: self.random.below(NUM_PARTITIONS as u64) as i32 }
    }

    /// Reads on in one list; which, unless nothing came of it.
    fn read(&mut self, txn: Txn) -> Option<Place> {
        let place = self.any_place();
        let offset = self.read_to.get(&place).copied().unwrap_or(0);
        let from = [Position { partition: place.partition, offset }];
        let ask = |client: &mut Client| client.fetch(place.topic, &from, Asked::ReadCommitted, Duration::ZERO);
        let fetched = self.ask_as_reader(ask)?.remove(0);
        self.ledger.say_all(fetched.records.iter().map(|record| Event::Polled {
            reader: self.number,
            assignment: 0,
            place,
            row: (record.offset, Value::read(record.value.as_deref().unwrap_or_default())),
            isolation: Isolation::Committed,
            txn: Some(txn),
        }));
        self.read_to.insert(place, fetched.next);
        (fetched.next > offset).then_some(place)
    }

    fn look_at_positions(&mut self) {
        if self.staged.is_empty() || !self.random.chance(1, 3) {
            return;
        }
        let group = Writer::group(self.number);
        let Some(positions) = self.ask_as_reader(|client| client.group_positions(&group)) else { return };
        let offset_in = |place: &Place| {
            let here = positions.iter().find(|known| known.topic == place.topic && known.partition == place.partition);
            here.map(|known| known.offset)
        };
        let told = |place: &Place| Event::Position { group: self.number, place: *place, offset: offset_in(place) };
        self.ledger.say_all(self.staged.iter().map(told));
    }

    /// None when the connection broke off.
    fn ask_as_reader<T>(&mut self, ask: impl FnMut(&mut Client) -> Result<T, ClientError>) -> Option<T> {
        let mut client = self.client.take().unwrap_or_else(|| self.address.client());
        match client.patiently(ask) {
            Ok(answer) => {
                self.client = Some(client);
                Some(answer)
            }
            Err(error) => {
                assert!(error.is_disconnect(), "writer {}: {error}", self.number);
                None
            }
        }
    }
}

//! Transactions that stay open. A day of polls beside one that is open all day: how long others wait for what was
//! committed. A seal over a thousand partitions. A hundred thousand streams at once, and a start with them.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::broker::{Broker, Ending};
use crate::figure::{self, Figure};
use crate::load::{self, each};
use crate::options::{Contestant, Options};
use crate::process;
use crate::transactions::{EAGER, again, initialized};
use crate::wire::{self, Connection, Identity, Writer};

const DAY_TOPIC: &str = "day";
const WIDE_TOPIC: &str = "wide";
const WIDE_PARTITIONS: i32 = 1_000;
const WIDE_ROUNDS: usize = 20;
const MANY_TOPIC: &str = "many";
const MANY_PARTITIONS: i32 = 64;
const MANY_CONNECTIONS: usize = 8;
const RECORD_BYTES: usize = 100;
const FETCH_BYTES: i32 = 1 << 20;
const FETCH_WAIT_MS: i32 = 200;
/// Longer than any measurement.
const TIMEOUT_MS: i32 = 3_600_000;

/// A day of polls, in the time that there is.
#[derive(Clone, Copy)]
pub struct Day {
    pub polls: usize,
    pub pause_ms: u64,
}

pub fn run(options: &Options, num_streams: usize, day: Day) -> Result<(), Fault> {
    let mut all: Vec<(Contestant, Vec<Figure>)> = Vec::new();
    for &contestant in &options.brokers {
        eprintln!("{}", contestant.name());
        let broker = Broker::start(contestant, options)?;
        let mut figures = day_of_polls(&broker, contestant, day)?;
        figures.extend(wide_seals(&broker)?);
        broker.stop()?;
        all.push((contestant, figures));
    }
    figure::print(&all);
    let ours = [Contestant::Os, Contestant::Fsync].into_iter().filter(|one| options.brokers.contains(one));
    for contestant in ours {
        many_streams(contestant, options, num_streams)?;
    }
    Ok(())
}

fn figure(what: impl Into<String>, value: f64) -> Figure {
    Figure { what: what.into(), value, rate: false }
}

/// A producer that says beforehand what it writes to.
struct Producer {
    connection: Connection,
    id: String,
    identity: Identity,
    sequence: i32,
}

impl Producer {
    fn start(address: &str, id: &str) -> Result<Producer, Fault> {
        let mut connection = Connection::open(address)?;
        let identity = initialized(&mut connection, id)?;
        Ok(Producer { connection, id: id.to_owned(), identity, sequence: 0 })
    }

    fn begin(&mut self, topic: &str) -> Result<(), Fault> {
        let add = wire::add_partition(&self.id, self.identity, topic, 0);
        again(EAGER, || wire::added(self.connection.ask(&add)?, topic))
    }

    fn write(&mut self, topic: &str) -> Result<(), Fault> {
        let Identity { producer, epoch } = self.identity;
        let batch = wire::batch_of(Some(Writer { producer, epoch, sequence: self.sequence }), 1, RECORD_BYTES);
        self.sequence += 1;
        let produce = wire::produce_in(&self.id, topic, 0, &batch);
        again(EAGER, || Ok(wire::produced(self.connection.ask(&produce)?, topic)?.0))
    }

    fn commit(&mut self) -> Result<(), Fault> {
        let end = wire::end(&self.id, self.identity);
        again(EAGER, || wire::code(self.connection.ask(&end)?))
    }
}

/// A transaction is open from the first poll to the last and writes after each; the reader follows the polls. At Apache
/// Kafka it reads committed records; here the feed.
fn day_of_polls(broker: &Broker, contestant: Contestant, day: Day) -> Result<Vec<Figure>, Fault> {
    load::create(&broker.address, &[DAY_TOPIC.to_owned()], 1, &[])?;
    let mut long = Producer::start(&broker.address, "all-day")?;
    let mut polls = Producer::start(&broker.address, "polls")?;
    let polled_by = polls.identity.producer;
    let began = Instant::now();
    long.begin(DAY_TOPIC)?;
    long.write(DAY_TOPIC)?;
    let (committed, arrived) = thread::scope(|scope| {
        let reader =
            scope.spawn(|| arrivals(broker, contestant, polled_by, day.polls).map_err(|fault| fault.to_string()));
        let mut committed = Vec::new();
        for _ in 0..day.polls {
            polls.begin(DAY_TOPIC)?;
            polls.write(DAY_TOPIC)?;
            polls.commit()?;
            committed.push(Instant::now());
            long.write(DAY_TOPIC)?;
            thread::sleep(Duration::from_millis(day.pause_ms));
        }
        long.commit()?;
        let arrived = reader.join().map_err(|_| "the reader panicked")??;
        Ok::<_, Fault>((committed, arrived))
    })?;
    let mut delays: Vec<f64> =
        arrived.iter().zip(&committed).map(|(at, from)| at.saturating_duration_since(*from).as_secs_f64()).collect();
    delays.sort_unstable_by(f64::total_cmp);
    let length = began.elapsed().as_secs_f64();
    let worst = delays[delays.len() - 1];
    eprintln!("  {} polls in {length:.1} s; the longest delay {worst:.3} s", day.polls);
    Ok(vec![
        figure("a day of polls: median delay, ms", delays[delays.len() / 2] * 1e3),
        figure("a day of polls: longest delay, ms", worst * 1e3),
        figure("a day of polls: longest delay, part of the day", worst / length),
    ])
}

/// When each of the polls was there for a reader.
fn arrivals(broker: &Broker, contestant: Contestant, producer: i64, num: usize) -> Result<Vec<Instant>, Fault> {
    let is_kafka = matches!(contestant, Contestant::Kafka | Contestant::KafkaFlush);
    let topic = if is_kafka { DAY_TOPIC.to_owned() } else { format!("{DAY_TOPIC}..feed") };
    let mut connection = Connection::open(&broker.address)?;
    let (mut next, mut arrived) = (0, Vec::new());
    while arrived.len() < num {
        let request = wire::fetch_committed(&topic, next, FETCH_BYTES, FETCH_WAIT_MS);
        let fetched = wire::fetched(connection.ask(&request)?, &topic)?;
        wire::accepted("Fetch", fetched.code)?;
        let now = Instant::now();
        arrived.extend(fetched.batches_of().iter().filter(|(by, _)| *by == producer).map(|_| now));
        next = fetched.next_offset(next);
    }
    Ok(arrived)
}

/// A record on each of a thousand partitions, sealed; and when the next transaction can begin.
fn wide_seals(broker: &Broker) -> Result<Vec<Figure>, Fault> {
    load::prepare(&broker.address, WIDE_TOPIC, WIDE_PARTITIONS)?;
    let mut producer = Producer::start(&broker.address, "wide")?;
    let (mut seals, mut free) = (Vec::new(), Vec::new());
    for _ in 0..WIDE_ROUNDS {
        let Identity { producer: number, epoch } = producer.identity;
        let add = wire::add_partitions(&producer.id, producer.identity, WIDE_TOPIC, WIDE_PARTITIONS);
        again(EAGER, || wire::added(producer.connection.ask(&add)?, WIDE_TOPIC))?;
        let writer = Writer { producer: number, epoch, sequence: producer.sequence };
        let batch = wire::batch_of(Some(writer), 1, RECORD_BYTES);
        let produce = wire::produce_wide(&producer.id, WIDE_TOPIC, WIDE_PARTITIONS, &batch);
        again(EAGER, || Ok(wire::produced(producer.connection.ask(&produce)?, WIDE_TOPIC)?.0))?;
        producer.sequence += 1;
        let began = Instant::now();
        producer.commit()?;
        seals.push(began.elapsed().as_secs_f64() * 1e3);
        let add = wire::add_partition(&producer.id, producer.identity, WIDE_TOPIC, 0);
        again(EAGER, || wire::added(producer.connection.ask(&add)?, WIDE_TOPIC))?;
        free.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let mut figures = Vec::new();
    for (what, mut times) in [("EndTxn answered", seals), ("the next may begin", free)] {
        times.sort_unstable_by(f64::total_cmp);
        figures.push(figure(format!("a seal over 1,000 partitions: {what}, median, ms"), times[times.len() / 2]));
        figures.push(figure(format!("a seal over 1,000 partitions: {what}, longest, ms"), times[times.len() - 1]));
    }
    Ok(figures)
}

/// Memory with so many open streams, of one record each; a stop and a kill, and what a start takes.
fn many_streams(contestant: Contestant, options: &Options, num: usize) -> Result<(), Fault> {
    let mut broker = Broker::start(contestant, options)?;
    load::create(&broker.address, &[MANY_TOPIC.to_owned()], MANY_PARTITIONS, &[])?;
    let before = process::resident_mb(broker.pid);
    let began = Instant::now();
    each(MANY_CONNECTIONS, |connection| open_streams(&broker, connection, num))?;
    let took = began.elapsed().as_secs_f64();
    let name = contestant.name();
    let report =
        |what: &str, figure: f64, unit: &str| println!("{name:18} {num} open streams: {what} {figure:.3} {unit}");
    report("opened in", took, "s");
    let mut more = process::resident_mb(broker.pid) - before;
    report("memory", more, "MB more");
    report("memory of one", more * 1024.0 * 1024.0 / num as f64, "bytes");
    report("start after a stop", broker.restart(Ending::Stop, contestant, options)?.as_secs_f64(), "s");
    report("state in the manifest", broker.newest_bytes("manifest")? as f64 / num as f64, "bytes each");
    more = process::resident_mb(broker.pid) - before;
    report("memory after that start", more, "MB more");
    report("start after a kill", broker.restart(Ending::Kill, contestant, options)?.as_secs_f64(), "s");
    let began = Instant::now();
    commit_one(&broker)?;
    report("one of them begins anew and commits in", began.elapsed().as_secs_f64() * 1e3, "ms");
    broker.stop()
}

fn open_streams(broker: &Broker, connection: usize, num: usize) -> Result<(), Fault> {
    let mut wire_to = Connection::open(&broker.address)?;
    for number in (connection..num).step_by(MANY_CONNECTIONS) {
        let id = format!("open-{number}");
        let (code, identity) = wire::given(wire_to.ask(&wire::init_producer_within(&id, TIMEOUT_MS))?)?;
        wire::accepted("InitProducerId", code)?;
        let partition = number as i32 % MANY_PARTITIONS;
        let add = wire::add_partition(&id, identity, MANY_TOPIC, partition);
        wire::accepted("AddPartitionsToTxn", wire::added(wire_to.ask(&add)?, MANY_TOPIC)?)?;
        let writer = Writer { producer: identity.producer, epoch: identity.epoch, sequence: 0 };
        let batch = wire::batch_of(Some(writer), 1, RECORD_BYTES);
        let produce = wire::produce_in(&id, MANY_TOPIC, partition, &batch);
        wire::accepted("Produce", wire::produced(wire_to.ask(&produce)?, MANY_TOPIC)?.0)?;
    }
    Ok(())
}

/// What it had open is aborted.
fn commit_one(broker: &Broker) -> Result<(), Fault> {
    let mut producer = Producer::start(&broker.address, "open-0")?;
    producer.begin(MANY_TOPIC)?;
    producer.write(MANY_TOPIC)?;
    producer.commit()
}

//! Transactions, one after another by each of some producers: the partition is added, one batch is written, all is committed.
//! In the first protocol, which all clients but Java's and franz-go speak.

use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::broker::Broker;
use crate::figure::{self, Figure};
use crate::load::{self, each, median};
use crate::options::{Contestant, Options};
use crate::sample::{Meter, Sample};
use crate::wire::{self, Connection, Identity, Writer};

const TOPIC: &str = "transactional";
const PARTITIONS: i32 = 16;
const RECORD_BYTES: usize = 100;
const PATIENCE: Duration = Duration::from_secs(60);

/// The transaction before is not over yet: Kafka answers before its markers are written.
const CONCURRENT: i16 = 51;
const NOT_YET: [i16; 5] = [14, 15, 16, 3, CONCURRENT];

/// What a load is like.
#[derive(Clone, Copy)]
struct Shape {
    producers: usize,
    records: usize,
    /// How long a producer waits that was told to ask again.
    pause: Duration,
}

pub const EAGER: Duration = Duration::from_millis(1);
/// As librdkafka waits.
const PATIENT: Duration = Duration::from_millis(100);

const SHAPES: [(&str, Shape); 5] = [
    ("1 producer, 1 record", Shape { producers: 1, records: 1, pause: EAGER }),
    ("1 producer, 1 record, asking again after 100 ms", Shape { producers: 1, records: 1, pause: PATIENT }),
    ("4 producers, 1 record", Shape { producers: 4, records: 1, pause: EAGER }),
    ("16 producers, 1 record", Shape { producers: 16, records: 1, pause: EAGER }),
    ("1 producer, 100 records", Shape { producers: 1, records: 100, pause: EAGER }),
];

pub fn run(options: &Options) -> Result<(), Fault> {
    let mut all: Vec<(Contestant, Vec<Figure>)> = Vec::new();
    for &contestant in &options.brokers {
        eprintln!("{}", contestant.name());
        let broker = Broker::start(contestant, options)?;
        load::prepare(&broker.address, TOPIC, PARTITIONS)?;
        let mut figures = Vec::new();
        for (name, shape) in SHAPES {
            transactions(&broker, options.seconds() / 2.0, shape)?;
            let sample = median(options, || transactions(&broker, options.seconds(), shape))?;
            eprintln!("  {name:48} {:>9.0} commits/s", sample.requests_per_s);
            figures.extend(figures_of(name, &sample));
        }
        broker.stop()?;
        all.push((contestant, figures));
    }
    figure::print(&all);
    Ok(())
}

fn figures_of(name: &str, sample: &Sample) -> [Figure; 4] {
    let figure = |what: &str, value, rate| Figure { what: format!("{name}: {what}"), value, rate };
    [
        figure("commits a second", sample.requests_per_s, true),
        figure("p50, ms", sample.p50_ms, false),
        figure("p99, ms", sample.p99_ms, false),
        figure("cpu us a commit", sample.cpu_us_per_request, false),
    ]
}

fn transactions(broker: &Broker, seconds: f64, shape: Shape) -> Result<Sample, Fault> {
    let producers = each(shape.producers, |number| Producer::start(&broker.address, number))?;
    let mut meter = Meter::start(Some(broker.pid), seconds);
    let producers: Vec<_> = producers.into_iter().map(std::sync::Mutex::new).collect();
    let parts = each(shape.producers, |number| {
        let mut producer = producers[number].lock().map_err(|_| "a load panicked")?;
        let mut part = meter.part();
        while !part.is_over() {
            let sent = Instant::now();
            producer.transaction(shape)?;
            part.count(sent.elapsed(), shape.records * RECORD_BYTES);
        }
        Ok(part)
    })?;
    parts.into_iter().for_each(|part| meter.merge(part));
    Ok(meter.finish())
}

/// A producer with a transactional id of its own, on a partition of its own.
struct Producer {
    connection: Connection,
    id: String,
    partition: i32,
    identity: Identity,
    sequence: i32,
}

/// Finds the coordinator and becomes the producer of a transactional id.
pub fn initialized(connection: &mut Connection, id: &str) -> Result<Identity, Fault> {
    let find = wire::find_transaction_coordinator(id);
    again(EAGER, || wire::found_transaction_coordinator(connection.ask(&find)?))?;
    let mut identity = Identity { producer: -1, epoch: -1 };
    again(EAGER, || {
        let (code, given) = wire::given(connection.ask(&wire::init_producer(id))?)?;
        identity = given;
        Ok(code)
    })?;
    Ok(identity)
}

impl Producer {
    fn start(address: &str, number: usize) -> Result<Producer, Fault> {
        let id = format!("producer-{number}");
        let mut connection = Connection::open(address)?;
        let identity = initialized(&mut connection, &id)?;
        Ok(Producer { connection, id, partition: number as i32 % PARTITIONS, identity, sequence: 0 })
    }

    fn transaction(&mut self, shape: Shape) -> Result<(), Fault> {
        let Producer { connection, id, partition, identity, .. } = self;
        let add = wire::add_partition(id, *identity, TOPIC, *partition);
        again(shape.pause, || wire::added(connection.ask(&add)?, TOPIC))?;
        let writer = Writer { producer: identity.producer, epoch: identity.epoch, sequence: self.sequence };
        let batch = wire::batch_of(Some(writer), shape.records, RECORD_BYTES);
        let produce = wire::produce_in(id, TOPIC, *partition, &batch);
        again(shape.pause, || Ok(wire::produced(connection.ask(&produce)?, TOPIC)?.0))?;
        let end = wire::end(id, *identity);
        again(shape.pause, || wire::code(connection.ask(&end)?))?;
        self.sequence += shape.records as i32;
        Ok(())
    }
}

/// Asks until the answer is not "not yet".
pub fn again(pause: Duration, mut ask: impl FnMut() -> Result<i16, Fault>) -> Result<(), Fault> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match ask()? {
            0 => return Ok(()),
            code if NOT_YET.contains(&code) => thread::sleep(pause),
            code => return Err(format!("the broker answered error {code}").into()),
        }
    }
    Err(format!("\"not yet\" for {} s", PATIENCE.as_secs()).into())
}

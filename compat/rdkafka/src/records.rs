//! Records: sent batch by batch, and read by an assigned consumer.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::{ClientContext, Offset, Timestamp, TopicPartitionList};
use serde_json::json;

use crate::adapter::{Answer, Ask, Fault, Found, Sent};
use crate::{WAIT, config};

const EARLIEST: i64 = -2;
const LATEST: i64 = -1;

/// Keeps what became of each record.
#[derive(Default)]
pub struct Deliveries(Mutex<Vec<Result<i64, KafkaError>>>);

impl Deliveries {
    /// What became of the records since it was asked last.
    pub fn take(&self) -> Vec<Result<i64, KafkaError>> {
        std::mem::take(&mut self.0.lock().expect("no thread panics with it"))
    }
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        let result = result.as_ref().map(|sent| sent.offset()).map_err(|(error, _)| error.clone());
        self.0.lock().expect("no thread panics with it").push(result);
    }
}

/// Sends the batches one after the other, each flushed before the next.
pub fn produce(ask: &Ask) -> Answer {
    let acks = if ask.idempotent { -1 } else { ask.acks };
    let producer: BaseProducer<Deliveries> = config()
        .set("enable.idempotence", ask.idempotent.to_string())
        .set("acks", acks.to_string())
        .set("compression.type", &ask.codec)
        .set("message.max.bytes", ask.max_bytes.to_string())
        .set("batch.size", ask.max_bytes.to_string())
        .set("linger.ms", "20")
        .set("message.timeout.ms", WAIT.as_millis().to_string())
        .set("allow.auto.create.topics", ask.auto_create.to_string())
        .create_with_context(Deliveries::default())?;
    for batch in &ask.batches {
        for record in batch {
            producer.send(record_of(ask, record)).map_err(|(error, _)| error)?;
        }
        producer.flush(WAIT)?;
    }
    let offsets: Result<Vec<i64>, KafkaError> = producer.context().take().into_iter().collect();
    Ok(json!(offsets?))
}

pub fn record_of<'a>(ask: &'a Ask, sent: &'a Sent) -> BaseRecord<'a, str, str> {
    let mut record = BaseRecord::to(&ask.topic).partition(ask.partition);
    record.key = sent.key.as_deref();
    record.payload = sent.value.as_deref();
    record.timestamp = sent.timestamp;
    if !sent.headers.is_empty() {
        let headers = sent
            .headers
            .iter()
            .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value: value.as_deref() }));
        record = record.headers(headers);
    }
    record
}

fn consumer(ask: &Ask) -> Result<BaseConsumer, Fault> {
    let isolation = if ask.committed { "read_committed" } else { "read_uncommitted" };
    let max_bytes = ask.max_bytes.to_string();
    Ok(config()
        .set("group.id", "unused")
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", if ask.reset == "earliest" { "earliest" } else { "error" })
        .set("isolation.level", isolation)
        .set("fetch.wait.max.ms", ask.max_wait_ms.to_string())
        .set("max.partition.fetch.bytes", &max_bytes)
        .set("allow.auto.create.topics", "false")
        .create()?)
}

pub fn offset(ask: &Ask) -> Answer {
    let consumer = consumer(ask)?;
    match ask.at {
        EARLIEST | LATEST => {
            let (begin, end) = consumer.fetch_watermarks(&ask.topic, ask.partition, WAIT)?;
            Ok(json!([if ask.at == EARLIEST { begin } else { end }, null]))
        }
        at if at >= 0 => {
            let mut asked = TopicPartitionList::new();
            asked.add_partition_offset(&ask.topic, ask.partition, Offset::Offset(at))?;
            let found = consumer.offsets_for_times(asked, WAIT)?;
            let found = &found.elements()[0];
            found.error()?;
            // It tells the end where there is no record of that time or later.
            Ok(json!([found.offset().to_raw().filter(|offset| *offset >= 0).unwrap_or(-1), null]))
        }
        _ => Err(Fault::Cannot("ask for special times other than the earliest and the latest")),
    }
}

pub fn read(ask: &Ask) -> Answer {
    let consumer = consumer(ask)?;
    let mut assigned = TopicPartitionList::new();
    assigned.add_partition_offset(&ask.topic, ask.partition, Offset::Offset(ask.start))?;
    consumer.assign(&assigned)?;
    let nothing_to_come = ask.end.is_some_and(|end| ask.start >= end);
    let deadline = Instant::now() + if nothing_to_come { Duration::from_millis(300) } else { WAIT };
    let mut found: Vec<Found> = Vec::new();
    while Instant::now() < deadline {
        match consumer.poll(Duration::from_millis(100)) {
            None => {}
            Some(message) => found.push(shown(&message?)),
        }
        let at_end = ask.end.is_some_and(|end| found.last().is_some_and(|last| last.offset >= end - 1));
        if at_end || ask.count.is_some_and(|count| found.len() >= count) {
            return Ok(json!(found));
        }
    }
    if nothing_to_come { Ok(json!(found)) } else { Err(Fault::Crash(format!("{} records, then nothing", found.len()))) }
}

fn shown(message: &BorrowedMessage<'_>) -> Found {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = message.headers().into_iter().flat_map(|headers| headers.iter());
    let (timestamp, timestamp_type) = match message.timestamp() {
        Timestamp::NotAvailable => (-1, "none"),
        Timestamp::CreateTime(ms) => (ms, "CreateTime"),
        Timestamp::LogAppendTime(ms) => (ms, "LogAppendTime"),
    };
    Found {
        offset: message.offset(),
        key: message.key().map(text),
        value: message.payload().map(text),
        headers: headers.map(|header| (header.key.to_owned(), header.value.map(text))).collect(),
        timestamp,
        timestamp_type,
    }
}

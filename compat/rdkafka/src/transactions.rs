//! Producers that write in transactions.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, ConsumerGroupMetadata};
use rdkafka::producer::{BaseProducer, Producer};
use serde_json::{Value, json};

use crate::adapter::{Answer, Ask, Fault};
use crate::members::{self, list_of};
use crate::records::{Deliveries, record_of};
use crate::{WAIT, config};

type Transactional = BaseProducer<Deliveries>;

static PRODUCERS: LazyLock<Mutex<HashMap<String, Arc<Transactional>>>> = LazyLock::new(Mutex::default);

pub fn open(ask: &Ask) -> Answer {
    // A record may not wait for longer than the transaction.
    let patience = WAIT.as_millis().min(u128::from(ask.timeout_ms.unsigned_abs()));
    let producer: Transactional = config()
        .set("transactional.id", &ask.transactional_id)
        .set("transaction.timeout.ms", ask.timeout_ms.to_string())
        .set("message.timeout.ms", patience.to_string())
        .set("linger.ms", "20")
        .create_with_context(Deliveries::default())?;
    let producer = Arc::new(producer);
    PRODUCERS.lock().expect("no thread panics with it").insert(ask.producer.clone(), Arc::clone(&producer));
    producer.init_transactions(WAIT)?;
    Ok(Value::Null)
}

fn producer(ask: &Ask) -> Result<Arc<Transactional>, Fault> {
    let producers = PRODUCERS.lock().expect("no thread panics with it");
    producers.get(&ask.producer).cloned().ok_or_else(|| Fault::Crash(format!("no producer {}", ask.producer)))
}

pub fn begin(ask: &Ask) -> Answer {
    producer(ask)?.begin_transaction()?;
    Ok(Value::Null)
}

pub fn send(ask: &Ask) -> Answer {
    let producer = producer(ask)?;
    producer.context().take();
    for record in ask.batches.iter().flatten() {
        producer.send(record_of(ask, record)).map_err(|(error, _)| error)?;
    }
    producer.flush(WAIT)?;
    let offsets: Result<Vec<i64>, _> = producer.context().take().into_iter().collect();
    Ok(json!(offsets?))
}

pub fn send_positions(ask: &Ask) -> Answer {
    let metadata = match ask.member.as_deref() {
        Some(_) => members::metadata(ask)?,
        // A consumer that has not joined stands for the group as such.
        None => metadata_of(&config().set("group.id", &ask.group).create::<BaseConsumer>()?)?,
    };
    producer(ask)?.send_offsets_to_transaction(&list_of(ask)?, &metadata, WAIT)?;
    Ok(Value::Null)
}

/// By which a broker knows the consumer, whether it has joined its group or not.
pub fn metadata_of<C: ConsumerContext>(consumer: &BaseConsumer<C>) -> Result<ConsumerGroupMetadata, Fault> {
    consumer.group_metadata().ok_or_else(|| Fault::Crash("the consumer has no group".to_owned()))
}

pub fn end(ask: &Ask) -> Answer {
    match ask.commit {
        true => producer(ask)?.commit_transaction(WAIT)?,
        false => producer(ask)?.abort_transaction(WAIT)?,
    }
    Ok(Value::Null)
}

pub fn close(ask: &Ask) -> Answer {
    PRODUCERS.lock().expect("no thread panics with it").remove(&ask.producer);
    Ok(Value::Null)
}

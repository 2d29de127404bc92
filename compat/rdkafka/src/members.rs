//! Members of groups, each a consumer in a thread of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, ConsumerGroupMetadata, Rebalance};
use rdkafka::message::Message;
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use serde_json::{Value, json};

use crate::adapter::{Answer, Ask, Fault, Place};
use crate::transactions::metadata_of;
use crate::{WAIT, config};

static MEMBERS: LazyLock<Mutex<HashMap<String, Arc<Member>>>> = LazyLock::new(Mutex::default);

struct Member {
    consumer: BaseConsumer<Told>,
    ends: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What a member tells of itself.
#[derive(Default)]
struct Told(Mutex<Story>);

#[derive(Default)]
struct Story {
    partitions: Vec<Place>,
    taken: Vec<Place>,
    read: Vec<(String, i32, i64, Option<String>)>,
    error: Option<String>,
}

impl Told {
    fn story(&self) -> MutexGuard<'_, Story> {
        self.0.lock().expect("no thread panics with it")
    }
}

impl ClientContext for Told {}

impl ConsumerContext for Told {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(lost) = rebalance {
            let lost = places(lost);
            let mut story = self.story();
            story.partitions.retain(|place| !lost.contains(place));
            story.taken.extend(lost);
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(gained) = rebalance {
            self.story().partitions.extend(places(gained));
        }
    }
}

fn places(list: &TopicPartitionList) -> Vec<Place> {
    list.elements().iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
}

pub fn join(ask: &Ask) -> Answer {
    let mut config = config();
    config
        .set("group.id", &ask.group)
        .set("group.protocol", &ask.protocol)
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("fetch.wait.max.ms", "100");
    if ask.protocol == "classic" {
        config
            .set("session.timeout.ms", ask.session_ms.to_string())
            .set("heartbeat.interval.ms", "300")
            .set("partition.assignment.strategy", if ask.assignor.is_empty() { "range" } else { "cooperative-sticky" });
    }
    if !ask.instance.is_empty() {
        config.set("group.instance.id", &ask.instance);
    }
    let consumer: BaseConsumer<Told> = config.create_with_context(Told::default())?;
    let topics: Vec<&str> = ask.topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics)?;
    let member = Arc::new(Member { consumer, ends: AtomicBool::new(false), thread: Mutex::default() });
    let reading = Arc::clone(&member);
    *member.thread.lock().expect("no thread panics with it") = Some(thread::spawn(move || reading.read()));
    MEMBERS.lock().expect("no thread panics with it").insert(name(ask).to_owned(), member);
    Ok(Value::Null)
}

impl Member {
    fn read(&self) {
        while !self.ends.load(Ordering::Relaxed) {
            match self.consumer.poll(Duration::from_millis(100)) {
                None => {}
                Some(Ok(message)) => {
                    let value = message.payload().map(|value| String::from_utf8_lossy(value).into_owned());
                    let row = (message.topic().to_owned(), message.partition(), message.offset(), value);
                    self.consumer.context().story().read.push(row);
                }
                // Broken connections come here too; librdkafka makes new ones by itself.
                Some(Err(error)) => match error.rdkafka_error_code() {
                    Some(code) if code as i32 > 0 => self.consumer.context().story().error = Some(error.to_string()),
                    _ => eprintln!("{error}"),
                },
            }
        }
    }
}

fn name(ask: &Ask) -> &str {
    ask.member.as_deref().unwrap_or_default()
}

/// By which a broker knows the member when it commits in a transaction.
pub fn metadata(ask: &Ask) -> Result<ConsumerGroupMetadata, Fault> {
    metadata_of(&member(ask)?.consumer)
}

fn member(ask: &Ask) -> Result<Arc<Member>, Fault> {
    let members = MEMBERS.lock().expect("no thread panics with it");
    members.get(name(ask)).cloned().ok_or_else(|| Fault::Crash(format!("no member {}", name(ask))))
}

pub fn told(ask: &Ask) -> Answer {
    let member = member(ask)?;
    let story = member.consumer.context().story();
    let Story { partitions, taken, read, error } = &*story;
    Ok(json!({"partitions": partitions, "taken": taken, "read": read, "error": error}))
}

pub fn commit(ask: &Ask) -> Answer {
    member(ask)?.consumer.commit(&list_of(ask)?, CommitMode::Sync)?;
    Ok(Value::Null)
}

/// The positions that are asked to be set.
pub fn list_of(ask: &Ask) -> Result<TopicPartitionList, Fault> {
    let mut list = TopicPartitionList::new();
    for (topic, partition, offset, metadata) in &ask.positions {
        let mut at = list.add_partition(topic, *partition);
        at.set_offset(Offset::Offset(*offset))?;
        at.set_metadata(metadata);
    }
    Ok(list)
}

pub fn committed(ask: &Ask) -> Answer {
    rows(&member(ask)?.consumer, &ask.of)
}

pub fn rows<C: ConsumerContext>(consumer: &BaseConsumer<C>, of: &[Place]) -> Answer {
    let mut asked = TopicPartitionList::new();
    for (topic, partition) in of {
        asked.add_partition(topic, *partition);
    }
    let found = consumer.committed_offsets(asked, WAIT)?;
    let row = |at: rdkafka::topic_partition_list::TopicPartitionListElem<'_>| {
        let offset = at.offset().to_raw().filter(|offset| *offset >= 0).unwrap_or(-1);
        json!([at.topic(), at.partition(), offset, at.metadata()])
    };
    Ok(found.elements().into_iter().map(row).collect())
}

/// Ends the thread, then drops the consumer, which leaves the group.
pub fn leave(ask: &Ask) -> Answer {
    let member = member(ask)?;
    member.ends.store(true, Ordering::Relaxed);
    if let Some(thread) = member.thread.lock().expect("no thread panics with it").take() {
        let _ = thread.join();
    }
    MEMBERS.lock().expect("no thread panics with it").remove(name(ask));
    Ok(Value::Null)
}

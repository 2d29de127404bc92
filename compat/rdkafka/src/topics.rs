//! Topics, configs and the cluster through the admin client and metadata.

use futures_executor::block_on;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigSource, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::metadata::Metadata;
use rdkafka::{Offset, TopicPartitionList};
use serde_json::{Value, json};

use crate::adapter::{Answer, Ask, Fault};
use crate::{WAIT, config};

fn admin() -> Result<AdminClient<DefaultClientContext>, Fault> {
    Ok(config().create()?)
}

fn options(ask: &Ask) -> AdminOptions {
    AdminOptions::new().request_timeout(Some(WAIT)).validate_only(ask.validate_only)
}

pub fn create(ask: &Ask) -> Answer {
    let assigned: Vec<&[i32]> = ask.assignment.iter().flatten().map(Vec::as_slice).collect();
    let (partitions, replication) = match &ask.assignment {
        Some(_) => (assigned.len() as i32, TopicReplication::Variable(&assigned)),
        None => (ask.partitions, TopicReplication::Fixed(ask.replicas)),
    };
    let mut topic = NewTopic::new(&ask.topic, partitions, replication);
    topic.config = ask.configs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    first(block_on(admin()?.create_topics([&topic], &options(ask)))?)
}

pub fn delete(ask: &Ask) -> Answer {
    first(block_on(admin()?.delete_topics(&[&ask.topic], &options(ask)))?)
}

pub fn grow(ask: &Ask) -> Answer {
    let partitions = NewPartitions::new(&ask.topic, ask.total);
    first(block_on(admin()?.create_partitions([&partitions], &options(ask)))?)
}

pub fn delete_records(ask: &Ask) -> Answer {
    let mut before = TopicPartitionList::new();
    let offset = if ask.before == -1 { Offset::End } else { Offset::Offset(ask.before) };
    before.add_partition_offset(&ask.topic, ask.partition, offset)?;
    let found = block_on(admin()?.delete_records(&before, &options(ask)))?;
    let found = &found.elements()[0];
    found.error()?;
    Ok(json!(found.offset().to_raw()))
}

/// The result of the one thing that was asked.
fn first<T, N>(results: Vec<Result<T, (N, RDKafkaErrorCode)>>) -> Answer {
    match results.into_iter().next() {
        Some(Ok(_)) => Ok(Value::Null),
        Some(Err((_, code))) => Err(code.into()),
        None => Err(Fault::Crash("an answer without a result".to_owned())),
    }
}

fn metadata(topic: Option<&str>) -> Result<Metadata, Fault> {
    let consumer: BaseConsumer = config().set("allow.auto.create.topics", "false").create()?;
    Ok(consumer.fetch_metadata(topic, WAIT)?)
}

/// Metadata of one topic, unless it has an error or one of its partitions has.
fn described(topic: &str) -> Result<Metadata, Fault> {
    let found = metadata(Some(topic))?;
    let topic = &found.topics()[0];
    match topic.error().or_else(|| topic.partitions().iter().find_map(|partition| partition.error())) {
        Some(error) => Err(RDKafkaErrorCode::from(error).into()),
        None => Ok(found),
    }
}

pub fn partitions(ask: &Ask) -> Answer {
    Ok(json!(described(&ask.topic)?.topics()[0].partitions().len()))
}

pub fn shape(ask: &Ask) -> Answer {
    let found = described(&ask.topic)?;
    let rows = found.topics()[0].partitions().iter();
    let rows = rows.map(|p| json!([p.id(), p.replicas().len(), p.isr().len(), p.leader() >= 0]));
    Ok(rows.collect())
}

pub fn all() -> Answer {
    Ok(metadata(None)?.topics().iter().map(|topic| json!(topic.name())).collect())
}

pub fn cluster() -> Answer {
    let consumer: BaseConsumer = config().create()?;
    let found = consumer.fetch_metadata(None, WAIT)?;
    let nodes: Vec<i32> = found.brokers().iter().map(|broker| broker.id()).collect();
    let id = consumer.client().fetch_cluster_id(WAIT).is_some();
    Ok(json!({"nodes": nodes, "controller": null, "id": id, "host": found.brokers()[0].host()}))
}

pub fn configs(ask: &Ask) -> Answer {
    let resource = match ask.kind.as_str() {
        "broker" => ResourceSpecifier::Broker(ask.name.parse().map_err(|_| Fault::Crash("no broker's id".to_owned()))?),
        _ => ResourceSpecifier::Topic(&ask.name),
    };
    let found = block_on(admin()?.describe_configs([&resource], &options(ask)))?;
    let found = found.into_iter().next().ok_or_else(|| Fault::Crash("an answer without a resource".to_owned()))??;
    let entries = found.entries.into_iter().map(|entry| {
        let source = source(&entry.source);
        let told = json!({
            "value": entry.value, "source": source, "read_only": entry.is_read_only, "sensitive": entry.is_sensitive,
        });
        (entry.name, told)
    });
    Ok(entries.collect::<serde_json::Map<_, _>>().into())
}

/// The protocol's number.
fn source(source: &ConfigSource) -> i32 {
    match source {
        ConfigSource::Unknown => 0,
        ConfigSource::DynamicTopic => 1,
        ConfigSource::DynamicBroker => 2,
        ConfigSource::DynamicDefaultBroker => 3,
        ConfigSource::StaticBroker => 4,
        ConfigSource::Default => 5,
    }
}

pub fn alter_all(ask: &Ask) -> Answer {
    let mut changed = AlterConfig::new(ResourceSpecifier::Topic(&ask.topic));
    changed.entries = ask.configs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    first(block_on(admin()?.alter_configs([&changed], &options(ask)))?)
}

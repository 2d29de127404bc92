//! DescribeConfigs (key 32): every config of a topic, broker or consumer group, set or not, with its source.
//!
//! All of them, because Kafka Streams stops when one that it looks for is missing.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use kafka_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use kafka_protocol::protocol::StrBytes;

use super::resource::{self, Shown};
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::{Broker, FeedHandle};
use crate::config::{self, ConfigSynonym, ConfigValue};

/// First version with types and documentation.
const TYPES_SINCE: i16 = 3;

/// Answers a DescribeConfigs.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeConfigsRequest) -> Reply {
    let (answering, version) = (broker.clone(), context.version);
    context.looked_up(broker.clone(), false, move || answer(&answering, &request, version))
}

fn answer(broker: &Broker, request: &DescribeConfigsRequest, version: i16) -> DescribeConfigsResponse {
    // Once each: an answer is a thousand times as long as the question.
    let mut told = HashSet::new();
    let once = request.resources.iter().filter(|asked| told.insert((asked.resource_type, &asked.resource_name)));
    let results = once.map(|asked| {
        let result = DescribeConfigsResult::default()
            .with_resource_type(asked.resource_type)
            .with_resource_name(asked.resource_name.clone());
        match configs(broker, asked) {
            Ok(configs) => {
                let keys = asked_keys(asked);
                let is_asked = |config: &ConfigValue| keys.as_ref().is_none_or(|keys| keys.contains(config.name));
                let shown = configs.into_iter().filter(is_asked);
                let shown = shown.map(|config| to_answer(config, request, version)).collect();
                result.with_error_message(None).with_configs(shown)
            }
            Err(Refusal { error, message }) => {
                result.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
            }
        }
    });
    DescribeConfigsResponse::default().with_results(results.collect())
}

fn configs(broker: &Broker, asked: &DescribeConfigsResource) -> Result<Vec<ConfigValue>, Refusal> {
    let settings = broker.settings();
    Ok(match Shown::find(broker, asked.resource_type, &asked.resource_name)? {
        Shown::Feed(feed) => of_feed(broker, &feed),
        Shown::View(feed) => {
            of_feed(broker, &feed).into_iter().map(|config| ConfigValue { read_only: true, ..config }).collect()
        }
        Shown::Broker(Some(_)) => config::broker_configs(settings.dynamic().configs(), settings.server()),
        Shown::Broker(None) => config::cluster_configs(settings.dynamic().configs()),
        Shown::Group(group) => of_group(broker, &group),
    })
}

fn of_feed(broker: &Broker, feed: &FeedHandle) -> Vec<ConfigValue> {
    let settings = broker.settings();
    config::topic_configs(&feed.overrides(), settings.dynamic().configs(), settings.server())
}

fn of_group(broker: &Broker, group: &str) -> Vec<ConfigValue> {
    let settings = broker.settings();
    let overrides = settings.group(group).map(|own| own.overrides).unwrap_or_default();
    config::group_configs(&overrides, settings.dynamic().configs(), settings.server())
}

/// None means all of them, and so does an empty list, as in Kafka.
fn asked_keys(asked: &DescribeConfigsResource) -> Option<HashSet<&str>> {
    let keys = asked.configuration_keys.as_ref().filter(|keys| !keys.is_empty())?;
    Some(keys.iter().map(|key| key.as_str()).collect())
}

fn to_answer(config: ConfigValue, request: &DescribeConfigsRequest, version: i16) -> DescribeConfigsResourceResult {
    let sensitive = resource::is_sensitive(&config);
    let documentation = request.include_documentation.then(|| StrBytes::from_string(config.documentation()));
    let told = |value: Option<String>| value.filter(|_| !sensitive).map(StrBytes::from_string);
    let synonym = |ConfigSynonym { name, value, source }: ConfigSynonym| {
        DescribeConfigsSynonym::default()
            .with_name(StrBytes::from_static_str(name))
            .with_value(told(Some(value)))
            .with_source(source.code())
    };
    let synonyms = if request.include_synonyms { config.synonyms } else { Vec::new() };
    let answer = DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_static_str(config.name))
        .with_value(told(config.value))
        .with_read_only(config.read_only)
        .with_config_source(config.source.code())
        .with_is_sensitive(sensitive)
        .with_synonyms(synonyms.into_iter().map(synonym).collect())
        .with_documentation(None);
    if version < TYPES_SINCE {
        return answer;
    }
    answer.with_config_type(config.kind.code()).with_documentation(documentation)
}

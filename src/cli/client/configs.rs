//! Configs of topics and brokers: looking at them and changing those of topics.

use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{DescribeConfigsResourceResult, DescribeConfigsResult};
use kafka_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::{DescribeConfigsRequest, IncrementalAlterConfigsRequest};
use kafka_protocol::protocol::StrBytes;

use super::{Client, ClientError};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
/// Any: it is asked for an error's sake.
const SOME_CONFIG: &str = "cleanup.policy";
/// Sources of a value: set on the topic; nobody has set it.
const OF_TOPIC: i8 = 1;
const DEFAULT: i8 = 5;
const SET: i8 = 0;
const DELETE: i8 = 1;

/// A config as the broker tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFacts {
    pub name: String,
    pub value: Option<String>,
    /// Set on this very topic.
    pub is_own: bool,
    /// What holds when nobody sets it.
    pub default: Option<String>,
}

impl Client {
    /// The configs of a topic.
    pub fn topic_configs(&mut self, topic: &str) -> Result<Vec<ConfigFacts>, ClientError> {
        self.configs(TOPIC, topic)
    }

    /// The configs of a broker.
    pub fn broker_configs(&mut self, id: i32) -> Result<Vec<ConfigFacts>, ClientError> {
        self.configs(BROKER, &id.to_string())
    }

    fn configs(&mut self, kind: i8, name: &str) -> Result<Vec<ConfigFacts>, ClientError> {
        let resource = resource(kind, name).with_configuration_keys(None);
        let result = self.describe(resource)?;
        match result.error_code {
            0 => Ok(result.configs.into_iter().map(ConfigFacts::of).collect()),
            code => Err(self.refused(format!("show the configs of {name}"), code, result.error_message.as_deref())),
        }
    }

    /// Why a topic cannot be shown, in the broker's words, if it has any.
    pub(super) fn reason(&mut self, topic: &str) -> Option<String> {
        let resource =
            resource(TOPIC, topic).with_configuration_keys(Some(vec![StrBytes::from_static_str(SOME_CONFIG)]));
        // That it fails too adds nothing to the error.
        let result = self.describe(resource).ok().filter(|result| result.error_code != 0)?;
        result.error_message.map(|message| message.to_string()).filter(|message| !message.is_empty())
    }

    fn describe(&mut self, resource: DescribeConfigsResource) -> Result<DescribeConfigsResult, ClientError> {
        let request = DescribeConfigsRequest::default().with_resources(vec![resource]).with_include_synonyms(true);
        let response = self.ask(&request)?;
        response.results.into_iter().next().ok_or_else(|| self.refused("show configs".to_owned(), -1, None))
    }

    /// Sets configs of a topic; those without a value are unset.
    pub fn alter_topic(&mut self, topic: &str, changes: &[(String, Option<String>)]) -> Result<(), ClientError> {
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let change = |(name, value): &(String, Option<String>)| {
            AlterableConfig::default()
                .with_name(text(name))
                .with_config_operation(if value.is_some() { SET } else { DELETE })
                .with_value(value.as_deref().map(text))
        };
        let resource = AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text(topic))
            .with_configs(changes.iter().map(change).collect());
        let response = self.ask(&IncrementalAlterConfigsRequest::default().with_resources(vec![resource]))?;
        match response.responses.iter().find(|result| result.error_code != 0) {
            Some(result) => {
                let what = format!("configure {topic}");
                Err(self.refused(what, result.error_code, result.error_message.as_deref()))
            }
            None => Ok(()),
        }
    }
}

fn resource(kind: i8, name: &str) -> DescribeConfigsResource {
    DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(StrBytes::from_string(name.to_owned()))
}

impl ConfigFacts {
    fn of(config: DescribeConfigsResourceResult) -> ConfigFacts {
        let text = |text: StrBytes| text.to_string();
        let default = config.synonyms.into_iter().find(|synonym| synonym.source == DEFAULT);
        ConfigFacts {
            name: text(config.name),
            value: config.value.map(text),
            is_own: config.config_source == OF_TOPIC,
            default: default.and_then(|synonym| synonym.value).map(text),
        }
    }
}

//! Configs of topics and brokers: looking at them.

use kafka_protocol::messages::DescribeConfigsRequest;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::protocol::StrBytes;

use super::Client;

const TOPIC: i8 = 2;
/// Any: it is asked for an error's sake.
const SOME_CONFIG: &str = "cleanup.policy";

impl Client {
    /// Why a topic cannot be shown, in the broker's words, if it has any.
    pub(super) fn reason(&mut self, topic: &str) -> Option<String> {
        let resource = DescribeConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(StrBytes::from_string(topic.to_owned()))
            .with_configuration_keys(Some(vec![StrBytes::from_static_str(SOME_CONFIG)]));
        let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
        // That it fails too adds nothing to the error.
        let response = self.ask(&request).ok()?;
        let result = response.results.into_iter().find(|result| result.error_code != 0)?;
        result.error_message.map(|message| message.to_string()).filter(|message| !message.is_empty())
    }
}

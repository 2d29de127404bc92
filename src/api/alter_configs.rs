//! AlterConfigs (key 33): all overrides replaced; what is not named goes back to its default. The older way.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};
use kafka_protocol::protocol::StrBytes;

use super::repeated::repeated;
use super::resource::Resource;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::config::{AlterOp, Alteration};
use crate::model::{Lsn, Overrides};

/// Answers an AlterConfigs.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: AlterConfigsRequest) -> Reply {
    let mut gate = Lsn(0);
    let twice = repeated(request.resources.iter().map(|asked| (asked.resource_type, &asked.resource_name)));
    let responses = request.resources.iter().map(|asked| {
        let altered = match twice.contains(&(asked.resource_type, &asked.resource_name)) {
            false => alter(broker, asked, request.validate_only, &mut gate),
            true => Err(invalid("Each resource must appear at most once.".to_owned())),
        };
        let response = AlterConfigsResourceResponse::default()
            .with_resource_type(asked.resource_type)
            .with_resource_name(asked.resource_name.clone());
        match altered {
            Ok(()) => response.with_error_message(None),
            Err(Refusal { error, message }) => {
                response.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
            }
        }
    });
    let responses = responses.collect();
    context.ready_at(&AlterConfigsResponse::default().with_responses(responses), gate)
}

fn alter(broker: &Broker, asked: &AlterConfigsResource, validate_only: bool, gate: &mut Lsn) -> Result<(), Refusal> {
    let resource = Resource::find(broker, asked.resource_type, &asked.resource_name)?;
    let changes = asked.configs.iter().map(set).collect::<Result<Vec<_>, _>>()?;
    let nothing = Overrides::new();
    let configured = resource.configure(broker, validate_only, |_| resource.altered(broker, &nothing, &changes));
    *gate = configured.durable_at.max(*gate);
    configured.value
}

fn set(config: &AlterableConfig) -> Result<Alteration<'_>, Refusal> {
    match &config.value {
        Some(value) => Ok(Alteration { name: &config.name, op: AlterOp::Set, value }),
        None => Err(invalid(format!("Null value not supported for config key {}", config.name))),
    }
}

fn invalid(message: String) -> Refusal {
    Refusal { error: ResponseError::InvalidRequest, message }
}

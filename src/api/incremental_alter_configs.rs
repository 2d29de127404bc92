//! IncrementalAlterConfigs (key 44): single overrides set and removed, elements of lists added and taken out.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
use kafka_protocol::protocol::StrBytes;

use super::repeated::repeated;
use super::resource::Resource;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::config::{AlterOp, Alteration};
use crate::model::Lsn;

/// Answers an IncrementalAlterConfigs.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: IncrementalAlterConfigsRequest) -> Reply {
    let mut gate = Lsn(0);
    let twice = repeated(request.resources.iter().map(|asked| (asked.resource_type, &asked.resource_name)));
    let responses = request.resources.iter().map(|asked| {
        let altered = match twice.contains(&(asked.resource_type, &asked.resource_name)) {
            false => alter(broker, asked, request.validate_only, &mut gate),
            true => Err(invalid("Each resource must appear at most once.")),
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
    context.ready_at(&IncrementalAlterConfigsResponse::default().with_responses(responses), gate)
}

fn alter(broker: &Broker, asked: &AlterConfigsResource, validate_only: bool, gate: &mut Lsn) -> Result<(), Refusal> {
    let resource = Resource::find(broker, asked.resource_type, &asked.resource_name)?;
    if let Some(name) = repeated(asked.configs.iter().map(|config| &config.name)).into_iter().next() {
        return Err(invalid(&format!("Error due to duplicate config keys: {name}")));
    }
    let changes = asked.configs.iter().map(alteration).collect::<Result<Vec<_>, _>>()?;
    let configured =
        resource.configure(broker, validate_only, |overrides| resource.altered(broker, overrides, &changes));
    *gate = configured.durable_at.max(*gate);
    configured.value
}

fn alteration(config: &AlterableConfig) -> Result<Alteration<'_>, Refusal> {
    let op = match config.config_operation {
        0 => AlterOp::Set,
        1 => AlterOp::Delete,
        2 => AlterOp::Append,
        3 => AlterOp::Subtract,
        other => return Err(invalid(&format!("Unknown operation type {other} for config key {}", config.name))),
    };
    match (&config.value, op) {
        (Some(value), _) => Ok(Alteration { name: &config.name, op, value }),
        (None, AlterOp::Delete) => Ok(Alteration { name: &config.name, op, value: "" }),
        (None, _) => Err(invalid(&format!("Null value not supported for config key {}", config.name))),
    }
}

fn invalid(message: &str) -> Refusal {
    Refusal { error: ResponseError::InvalidRequest, message: message.to_owned() }
}

//! ListConfigResources (key 74): what configs can be described of: the topics, this broker, and the consumer groups that have
//! configs of their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_config_resources_response::ConfigResource;
use kafka_protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse};
use kafka_protocol::protocol::StrBytes;

use super::resource::{BROKER, GROUP, TOPIC};
use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Types of which there is nothing here: loggers, and metrics that clients push.
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;

/// All that Kafka knows here.
const TYPES: [i8; 5] = [TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP];

/// Version 0 asks for client metrics only, and cannot say so.
const TYPES_SINCE: i16 = 1;

/// Answers a ListConfigResources.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ListConfigResourcesRequest) -> Reply {
    let types: BTreeSet<i8> = match &request.resource_types[..] {
        _ if context.version < TYPES_SINCE => BTreeSet::from([CLIENT_METRICS]),
        [] => BTreeSet::from(TYPES),
        asked => asked.iter().copied().collect(),
    };
    if !types.iter().all(|asked| TYPES.contains(asked)) {
        let error = ResponseError::UnsupportedVersion.code();
        return context.ready(&ListConfigResourcesResponse::default().with_error_code(error));
    }
    let resources = types.into_iter().flat_map(|kind| names(broker, kind).into_iter().map(move |name| (kind, name)));
    let resource = |(kind, name)| {
        ConfigResource::default().with_resource_type(kind).with_resource_name(StrBytes::from_string(name))
    };
    context.ready(&ListConfigResourcesResponse::default().with_config_resources(resources.map(resource).collect()))
}

fn names(broker: &Broker, kind: i8) -> Vec<String> {
    match kind {
        TOPIC => broker.catalog().all().iter().map(|feed| feed.name.clone()).collect(),
        BROKER => vec![broker.settings().typed().node_id.to_string()],
        GROUP => broker.settings().configured_groups(),
        _ => Vec::new(),
    }
}

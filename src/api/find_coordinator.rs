//! FindCoordinator (key 10): this broker, for every group and every transactional id. At once, as nothing has to be made first.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse};
use kafka_protocol::protocol::StrBytes;

use super::node::Node;
use super::topic::Refusal;
use super::{Reply, RequestContext};
use crate::broker::Broker;

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

/// First version that asks for several at once.
const BATCH_SINCE: i16 = 4;

/// Answers a FindCoordinator.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: FindCoordinatorRequest) -> Reply {
    let node = Node::of(broker, context);
    let find = |key: &StrBytes| coordinator(&node, request.key_type, key);
    if context.version >= BATCH_SINCE {
        let coordinators = request.coordinator_keys.iter().map(find).collect();
        return context.ready(&FindCoordinatorResponse::default().with_coordinators(coordinators));
    }
    let found = find(&request.key);
    let mut response = FindCoordinatorResponse::default()
        .with_error_code(found.error_code)
        .with_node_id(found.node_id)
        .with_host(found.host)
        .with_port(found.port);
    if context.version >= 1 {
        response.error_message = found.error_message;
    }
    context.ready(&response)
}

fn coordinator(node: &Node, key_type: i8, key: &StrBytes) -> Coordinator {
    let coordinator = Coordinator::default().with_key(key.clone()).with_error_message(None);
    match refusal(key_type, key) {
        None => coordinator.with_node_id(node.id).with_host(node.host.clone()).with_port(node.port),
        Some(Refusal { error, message }) => coordinator
            .with_node_id(BrokerId(-1))
            .with_port(-1)
            .with_error_code(error.code())
            .with_error_message(Some(StrBytes::from_string(message))),
    }
}

fn refusal(key_type: i8, key: &str) -> Option<Refusal> {
    match key_type {
        GROUP if key.is_empty() => {
            Some(Refusal { error: ResponseError::InvalidGroupId, message: "the group's name is empty".to_owned() })
        }
        GROUP | TRANSACTION => None,
        other => Some(Refusal {
            error: ResponseError::InvalidRequest,
            message: format!("there are no coordinators of type {other} here"),
        }),
    }
}

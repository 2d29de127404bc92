//! DescribeCluster (key 60): the cluster's id and its only broker.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::{BrokerId, DescribeClusterRequest, DescribeClusterResponse};
use kafka_protocol::protocol::StrBytes;

use super::about;
use super::node::{CLUSTER_OPERATIONS, Node, operations};
use super::{Reply, RequestContext};
use crate::broker::Broker;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

/// Answers a DescribeCluster.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeClusterRequest) -> Reply {
    match request.endpoint_type {
        BROKERS => {}
        CONTROLLERS => {
            let message = "this listener is a broker's, not a controller's";
            return refused(context, ResponseError::MismatchedEndpointType, message);
        }
        _ => return refused(context, ResponseError::UnsupportedEndpointType, "there are no endpoints of this type"),
    }
    let node = Node::of(broker, context);
    let this = DescribeClusterBroker::default()
        .with_broker_id(node.id)
        .with_host(node.host)
        .with_port(node.port)
        .with_rack(node.rack);
    context.ready(
        &DescribeClusterResponse::default()
            .with_cluster_id(StrBytes::from_string(broker.cluster_id().to_owned()))
            .with_controller_id(node.id)
            .with_brokers(vec![this])
            .with_cluster_authorized_operations(operations(
                request.include_cluster_authorized_operations,
                CLUSTER_OPERATIONS,
            ))
            .with_unknown_tagged_fields(about::answer(broker, &request.unknown_tagged_fields)),
    )
}

fn refused(context: &RequestContext<'_>, error: ResponseError, message: &'static str) -> Reply {
    context.ready(
        &DescribeClusterResponse::default()
            .with_error_code(error.code())
            .with_error_message(Some(StrBytes::from_static_str(message)))
            .with_controller_id(BrokerId(-1)),
    )
}

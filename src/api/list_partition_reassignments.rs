//! ListPartitionReassignments (key 46): none, ever, since there is one broker for replicas to be on.

use std::sync::Arc;

use kafka_protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};

use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Answers a ListPartitionReassignments.
pub fn handle(
    _broker: &Arc<Broker>,
    context: &RequestContext<'_>,
    _request: ListPartitionReassignmentsRequest,
) -> Reply {
    context.ready(&ListPartitionReassignmentsResponse::default().with_error_message(None))
}

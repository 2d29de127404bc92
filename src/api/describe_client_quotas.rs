//! DescribeClientQuotas (key 48): nobody has one.

use std::sync::Arc;

use kafka_protocol::messages::{DescribeClientQuotasRequest, DescribeClientQuotasResponse};

use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Answers a DescribeClientQuotas.
pub fn handle(_broker: &Arc<Broker>, context: &RequestContext<'_>, _request: DescribeClientQuotasRequest) -> Reply {
    // Null would say that the question was wrong.
    context.ready(&DescribeClientQuotasResponse::default().with_error_message(None).with_entries(Some(Vec::new())))
}

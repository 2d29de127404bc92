//! DescribeAcls (key 29): there is no authorizer, said as Kafka says it. Tools take it for "nothing is forbidden".

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{DescribeAclsRequest, DescribeAclsResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Kafka's code where there is no authorizer.
pub const NO_AUTHORIZER: ResponseError = ResponseError::SecurityDisabled;

/// Kafka's words for it.
pub fn no_authorizer() -> Option<StrBytes> {
    Some(StrBytes::from_static_str("No Authorizer is configured."))
}

/// Answers a DescribeAcls.
pub fn handle(_broker: &Arc<Broker>, context: &RequestContext<'_>, _request: DescribeAclsRequest) -> Reply {
    let response = DescribeAclsResponse::default().with_error_code(NO_AUTHORIZER.code());
    context.ready(
        &response.with_error_message(Some(StrBytes::from_static_str("No Authorizer is configured on the broker"))),
    )
}

//! DeleteAcls (key 31): each filter refused, since there is no authorizer that could have any.

use std::sync::Arc;

use kafka_protocol::messages::delete_acls_response::DeleteAclsFilterResult;
use kafka_protocol::messages::{DeleteAclsRequest, DeleteAclsResponse};

use super::describe_acls::{NO_AUTHORIZER, no_authorizer};
use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Answers a DeleteAcls.
pub fn handle(_broker: &Arc<Broker>, context: &RequestContext<'_>, request: DeleteAclsRequest) -> Reply {
    let refused = DeleteAclsFilterResult::default().with_error_code(NO_AUTHORIZER.code());
    let refused = refused.with_error_message(no_authorizer());
    context.ready(&DeleteAclsResponse::default().with_filter_results(vec![refused; request.filters.len()]))
}

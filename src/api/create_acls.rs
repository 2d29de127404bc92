//! CreateAcls (key 30): each refused, since there is no authorizer that would heed it.

use std::sync::Arc;

use kafka_protocol::messages::create_acls_response::AclCreationResult;
use kafka_protocol::messages::{CreateAclsRequest, CreateAclsResponse};

use super::describe_acls::{NO_AUTHORIZER, no_authorizer};
use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Answers a CreateAcls.
pub fn handle(_broker: &Arc<Broker>, context: &RequestContext<'_>, request: CreateAclsRequest) -> Reply {
    let refused = AclCreationResult::default().with_error_code(NO_AUTHORIZER.code());
    let refused = refused.with_error_message(no_authorizer());
    context.ready(&CreateAclsResponse::default().with_results(vec![refused; request.creations.len()]))
}

//! DescribeUserScramCredentials (key 50): no user has any, so those asked for by name are not found.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_user_scram_credentials_response::DescribeUserScramCredentialsResult;
use kafka_protocol::messages::{DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse};
use kafka_protocol::protocol::StrBytes;

use super::repeated::repeated;
use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Answers a DescribeUserScramCredentials.
pub fn handle(
    _broker: &Arc<Broker>,
    context: &RequestContext<'_>,
    request: DescribeUserScramCredentialsRequest,
) -> Reply {
    let users = || request.users.iter().flatten().map(|user| &user.name);
    let twice = repeated(users());
    let results = users().map(|user| {
        let (error, message) = match twice.contains(user) {
            true => (ResponseError::DuplicateResource, "Cannot describe SCRAM credentials for the same user twice"),
            false => (ResponseError::ResourceNotFound, "Attempt to describe a user credential that does not exist"),
        };
        DescribeUserScramCredentialsResult::default()
            .with_user(user.clone())
            .with_error_code(error.code())
            .with_error_message(Some(StrBytes::from_string(format!("{message}: {user}"))))
    });
    let response = DescribeUserScramCredentialsResponse::default().with_error_message(None);
    context.ready(&response.with_results(results.collect()))
}

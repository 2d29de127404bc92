//! What is asked about security where none is set up: answered as Kafka does without an authorizer.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_acls_request::AclCreation;
use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;
use kafka_protocol::messages::describe_user_scram_credentials_request::UserName;
use kafka_protocol::messages::{
    CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest, DescribeClientQuotasRequest,
    DescribeUserScramCredentialsRequest,
};
use kafka_protocol::protocol::StrBytes;

use super::TestBroker;

#[tokio::test]
async fn access_control_is_off_and_says_so() {
    let test = TestBroker::start();
    let off = ResponseError::SecurityDisabled.code();
    let described = test.call(3, &DescribeAclsRequest::default()).await;
    assert_eq!((described.error_code, described.resources.len()), (off, 0));
    assert!(described.error_message.unwrap().contains("No Authorizer"));
    let create = CreateAclsRequest::default().with_creations(vec![AclCreation::default(), AclCreation::default()]);
    let created: Vec<i16> = test.call(3, &create).await.results.iter().map(|result| result.error_code).collect();
    assert_eq!(created, [off, off]);
    let delete = DeleteAclsRequest::default().with_filters(vec![DeleteAclsFilter::default()]);
    let deleted: Vec<i16> = test.call(3, &delete).await.filter_results.iter().map(|r| r.error_code).collect();
    assert_eq!(deleted, [off]);
}

#[tokio::test]
async fn nobody_has_a_quota_or_a_password() {
    let test = TestBroker::start();
    let quotas = test.call(1, &DescribeClientQuotasRequest::default()).await;
    assert_eq!((quotas.error_code, quotas.entries), (0, Some(Vec::new())));
    let all = test.call(0, &DescribeUserScramCredentialsRequest::default().with_users(None)).await;
    assert_eq!((all.error_code, all.results.len()), (0, 0));
    let user = |name| UserName::default().with_name(StrBytes::from_static_str(name));
    let users = vec![user("ann"), user("bob"), user("bob")];
    let named = test.call(0, &DescribeUserScramCredentialsRequest::default().with_users(Some(users))).await;
    let codes: Vec<i16> = named.results.iter().map(|result| result.error_code).collect();
    let (unknown, twice) = (ResponseError::ResourceNotFound.code(), ResponseError::DuplicateResource.code());
    assert_eq!(codes, [unknown, twice, twice]);
}

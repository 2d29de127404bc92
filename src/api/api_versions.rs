//! ApiVersions (key 18): what is served, in which versions. The first request of every connection.

use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::ApiVersionsResponse;
use kafka_protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use kafka_protocol::protocol::StrBytes;

use super::{Reply, RequestContext, TABLE};
use crate::broker::Broker;
use crate::wire::client_software::ClientSoftware;

/// The newest version of the response that has a layout of its own.
const RESPONSE_MAX: i16 = 4;

/// Answers an ApiVersions.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, body: Bytes) -> Reply {
    let software = match ClientSoftware::read(&body, context.version) {
        Ok(software) => software,
        Err(error) => return Reply::Close(context.close(error)),
    };
    if !software.is_well_named() {
        return refused(context, ResponseError::InvalidRequest);
    }
    if is_misrouted(broker, &software) {
        return refused(context, ResponseError::RebootstrapRequired);
    }
    let response = ApiVersionsResponse::default().with_api_keys(all());
    // The epoch makes Java believe what is finalized instead of asking again.
    let features = response.with_supported_features(supported(context.version)).with_finalized_features(finalized());
    answer(context, &features.with_finalized_features_epoch(0))
}

/// Answers a version that is not known: in version 0, with the versions of this API alone (KIP-511).
pub fn unsupported(context: &RequestContext<'_>) -> Reply {
    let this = all().into_iter().filter(|api| api.api_key == context.api.key).collect();
    let error = ResponseError::UnsupportedVersion.code();
    context.ready(&ApiVersionsResponse::default().with_error_code(error).with_api_keys(this))
}

/// The client meant another cluster or node (KIP-1242).
fn is_misrouted(broker: &Broker, software: &ClientSoftware<'_>) -> bool {
    let cluster_id = software.cluster_id;
    let node_id = broker.settings().typed().node_id;
    cluster_id.is_some_and(|cluster_id| cluster_id != broker.cluster_id() || software.node_id != node_id)
}

fn refused(context: &RequestContext<'_>, error: ResponseError) -> Reply {
    answer(context, &ApiVersionsResponse::default().with_error_code(error.code()))
}

fn answer(context: &RequestContext<'_>, response: &ApiVersionsResponse) -> Reply {
    context.as_version(context.version.min(RESPONSE_MAX)).ready(response)
}

/// Groups may follow the consumer protocol of KIP-848. There is no broker without it, so no level 0.
const GROUP_VERSION: &str = "group.version";

/// A transaction touches what is written to, and each has an epoch of its own (KIP-890). Clients that know it go by what is
/// finalized, others by the versions of the requests.
const TRANSACTION_VERSION: &str = "transaction.version";
const TRANSACTION_LEVEL: i16 = 2;

/// Clients that ask in older versions stop at features that may be off.
const OPTIONAL_FEATURES_SINCE: i16 = 4;

fn supported(version: i16) -> Vec<SupportedFeatureKey> {
    let feature = |name, min, max| {
        let name = StrBytes::from_static_str(name);
        SupportedFeatureKey::default().with_name(name).with_min_version(min).with_max_version(max)
    };
    let transactions = feature(TRANSACTION_VERSION, 0, TRANSACTION_LEVEL);
    let transactions = (version >= OPTIONAL_FEATURES_SINCE).then_some(transactions);
    std::iter::once(feature(GROUP_VERSION, 1, 1)).chain(transactions).collect()
}

fn finalized() -> Vec<FinalizedFeatureKey> {
    let feature = |name, level| {
        let name = StrBytes::from_static_str(name);
        FinalizedFeatureKey::default().with_name(name).with_min_version_level(level).with_max_version_level(level)
    };
    vec![feature(GROUP_VERSION, 1), feature(TRANSACTION_VERSION, TRANSACTION_LEVEL)]
}

fn all() -> Vec<ApiVersion> {
    let row = |api: &super::Api| {
        ApiVersion::default().with_api_key(api.key).with_min_version(api.advertised_min).with_max_version(api.max)
    };
    TABLE.iter().map(row).collect()
}

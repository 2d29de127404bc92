//! UpdateFeatures (key 57): refused, since no feature has a level that could be changed.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::update_features_request::FeatureUpdateKey;
use kafka_protocol::messages::update_features_response::UpdatableFeatureResult;
use kafka_protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Reply, RequestContext};
use crate::broker::Broker;

/// Last version that tells of each feature; later ones tell of the first that went wrong.
const EACH_UNTIL: i16 = 1;

/// Answers an UpdateFeatures.
pub fn handle(_broker: &Arc<Broker>, context: &RequestContext<'_>, request: UpdateFeaturesRequest) -> Reply {
    let response = UpdateFeaturesResponse::default().with_error_message(None);
    if context.version <= EACH_UNTIL {
        return context.ready(&response.with_results(request.feature_updates.iter().map(refused).collect()));
    }
    let Some(first) = request.feature_updates.first() else { return context.ready(&response) };
    let message =
        format!("The update failed for all features since the following feature had an error: {}", reason(first));
    let error = ResponseError::InvalidUpdateVersion.code();
    context.ready(&response.with_error_code(error).with_error_message(Some(StrBytes::from_string(message))))
}

fn refused(wanted: &FeatureUpdateKey) -> UpdatableFeatureResult {
    UpdatableFeatureResult::default()
        .with_feature(wanted.feature.clone())
        .with_error_code(ResponseError::InvalidUpdateVersion.code())
        .with_error_message(Some(StrBytes::from_string(reason(wanted))))
}

fn reason(wanted: &FeatureUpdateKey) -> String {
    let FeatureUpdateKey { feature, max_version_level, .. } = wanted;
    format!(
        "Invalid update version {max_version_level} for feature {feature}. This broker does not support this feature."
    )
}

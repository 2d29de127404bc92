//! ListGroups (key 16): all groups, of all kinds, in the states and of the types asked for.

use std::sync::Arc;

use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{GroupId, ListGroupsRequest, ListGroupsResponse};
use kafka_protocol::protocol::StrBytes;

use super::group::text;
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::GroupKind;

/// Answers a ListGroups.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: ListGroupsRequest) -> Reply {
    let listed = broker.list_groups();
    let groups = listed.value.into_iter().filter(|group| {
        passes(&request.states_filter, group.summary.state) && passes(&request.types_filter, type_name(group.kind))
    });
    let groups = groups.map(|group| {
        ListedGroup::default()
            .with_group_id(GroupId(text(group.group)))
            .with_protocol_type(text(group.summary.protocol_type))
            .with_group_state(StrBytes::from_static_str(group.summary.state))
            .with_group_type(StrBytes::from_static_str(type_name(group.kind)))
    });
    context.ready_at(&ListGroupsResponse::default().with_groups(groups.collect()), listed.durable_at)
}

/// Kafka's name of a kind, as clients print it.
fn type_name(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Classic => "classic",
        GroupKind::Consumer => "consumer",
    }
}

/// An empty filter lets everything pass.
fn passes(filter: &[StrBytes], name: &str) -> bool {
    filter.is_empty() || filter.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
}

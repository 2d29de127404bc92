//! DeleteGroups (key 42): groups without members, with their positions.

use std::sync::Arc;

use kafka_protocol::messages::delete_groups_response::DeletableGroupResult;
use kafka_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse, GroupId};

use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::Lsn;
use crate::wire::error;

/// Answers a DeleteGroups.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DeleteGroupsRequest) -> Reply {
    let mut gate = Lsn(0);
    let results = request.groups_names.into_iter().map(|group| delete(broker, group, &mut gate)).collect();
    context.ready_at(&DeleteGroupsResponse::default().with_results(results), gate)
}

fn delete(broker: &Broker, group: GroupId, gate: &mut Lsn) -> DeletableGroupResult {
    let deleted = broker.delete_group(&group);
    *gate = deleted.durable_at.max(*gate);
    let code = deleted.value.err().map_or(0, |refused| error::of_group(&refused).code());
    DeletableGroupResult::default().with_group_id(group).with_error_code(code)
}

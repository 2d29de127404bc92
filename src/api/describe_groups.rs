//! DescribeGroups (key 15): groups of the classic kind with their members. Other groups are not there for it, so that
//! clients ask in another way.

use std::collections::HashSet;
use std::sync::Arc;

use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse, GroupId};

use super::group::text;
use super::node::{GROUP_OPERATIONS, operations};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::{Description, GroupError, MemberDescription};
use crate::model::{GroupKind, Lsn};
use crate::wire::error;

/// First version with an error for groups that are not there; before, they are described as dead.
const NOT_FOUND_SINCE: i16 = 6;

/// Answers a DescribeGroups.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: DescribeGroupsRequest) -> Reply {
    let mut gate = Lsn(0);
    // Once each: an answer may be thousands of times as long as the question.
    let mut told = HashSet::new();
    let groups = request.groups.iter().filter(|group| told.insert(*group)).map(|group| {
        let described = broker.describe_group(group);
        gate = gate.max(described.durable_at);
        let classic = described.value.and_then(|(kind, description)| match kind {
            GroupKind::Classic => Ok(description),
            GroupKind::Consumer => Err(GroupError::unknown_group(group)),
        });
        let answer = to_answer(group, classic, context.version);
        answer.with_authorized_operations(operations(request.include_authorized_operations, GROUP_OPERATIONS))
    });
    let groups = groups.collect();
    context.ready_at(&DescribeGroupsResponse::default().with_groups(groups), gate)
}

fn to_answer(group: &GroupId, described: Result<Description, GroupError>, version: i16) -> DescribedGroup {
    let answer = DescribedGroup::default().with_group_id(group.clone()).with_error_message(None);
    match described {
        Ok(description) => answer
            .with_group_state(text(description.state))
            .with_protocol_type(text(description.protocol_type))
            .with_protocol_data(text(description.protocol))
            .with_members(description.members.into_iter().map(member).collect()),
        Err(refused) => {
            let dead = answer.with_group_state(text("Dead"));
            match refused {
                GroupError::UnknownGroup { .. } if version < NOT_FOUND_SINCE => dead,
                refused => dead
                    .with_error_code(error::of_group(&refused).code())
                    .with_error_message((version >= NOT_FOUND_SINCE).then(|| text(refused.to_string()))),
            }
        }
    }
}

fn member(member: MemberDescription) -> DescribedGroupMember {
    DescribedGroupMember::default()
        .with_member_id(text(member.member_id))
        .with_group_instance_id(member.instance_id.map(text))
        .with_client_id(text(member.client_id))
        .with_client_host(text(member.client_host))
        .with_member_metadata(member.metadata)
        .with_member_assignment(member.assignment)
}

//! LeaveGroup (key 13): a member goes, or an operator removes several, by their instances too.

use std::sync::Arc;

use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::group::{owned, reply, text};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::{Answer, GroupError, Leaving, LeftMember, Request};
use crate::wire::error;

/// First version with several members at once.
const BATCH_SINCE: i16 = 3;

/// Answers a LeaveGroup.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: LeaveGroupRequest) -> Reply {
    let version = context.version;
    let asked = broker.ask_group(&request.group_id, Request::Leave(leaving(&request, version)));
    reply(context, asked, move |answer| match answer {
        Ok(Answer::Leave(left)) => told(left, version),
        Ok(other) => unreachable!("{other:?} answers no leave"),
        Err(error) => LeaveGroupResponse::default().with_error_code(error::of_group(&error).code()),
    })
}

fn leaving(request: &LeaveGroupRequest, version: i16) -> Vec<Leaving> {
    if version < BATCH_SINCE {
        return vec![Leaving { member_id: request.member_id.as_str().to_owned(), instance_id: None, reason: None }];
    }
    let members = request.members.iter().map(|member| Leaving {
        member_id: member.member_id.as_str().to_owned(),
        instance_id: owned(&member.group_instance_id),
        reason: owned(&member.reason),
    });
    members.collect()
}

fn told(left: Vec<LeftMember>, version: i16) -> LeaveGroupResponse {
    let response = LeaveGroupResponse::default();
    if version < BATCH_SINCE {
        let result = left.first().map_or(&Ok(()), |left| &left.result);
        return response.with_error_code(code(result));
    }
    let members = left.into_iter().map(|left| {
        MemberResponse::default()
            .with_error_code(code(&left.result))
            .with_member_id(text(left.member_id))
            .with_group_instance_id(left.instance_id.map(text))
    });
    response.with_members(members.collect())
}

fn code(result: &Result<(), GroupError>) -> i16 {
    result.as_ref().err().map_or(0, |refused| error::of_group(refused).code())
}

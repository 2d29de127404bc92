//! JoinGroup (key 11): a client wants to be a member of a group's next generation. It is told when that begins.

use std::sync::Arc;

use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::{JoinGroupRequest, JoinGroupResponse};

use super::group::{client, copied, owned, reply, text, unique};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::{Answer, GroupError, Join, JoinRefused, Joined, JoinedMember, Protocol, Request};
use crate::wire::error;

/// First version whose clients ask again with the id that they are given.
const ASKS_TWICE_SINCE: i16 = 4;

/// First version in which no protocol is null rather than empty.
const NULL_PROTOCOL_SINCE: i16 = 7;

/// First version whose leaders may be told not to assign.
const SKIP_SINCE: i16 = 9;

/// No generation.
const NONE: i32 = -1;

/// Answers a JoinGroup.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: JoinGroupRequest) -> Reply {
    let (version, member_id) = (context.version, request.member_id.as_str().to_owned());
    let asked = broker.ask_group(&request.group_id, Request::Join(join(context, &request)));
    reply(context, asked, move |answer| match answer {
        Ok(Answer::Join(Ok(joined))) => told(joined, version),
        Ok(Answer::Join(Err(refused))) => refusal(refused, version),
        Ok(other) => unreachable!("{other:?} answers no join"),
        Err(error) => refusal(JoinRefused { error, member_id }, version),
    })
}

fn join(context: &RequestContext<'_>, request: &JoinGroupRequest) -> Join {
    let protocols = request
        .protocols
        .iter()
        .map(|protocol| Protocol { name: protocol.name.as_str().to_owned(), metadata: copied(&protocol.metadata) });
    // Version 0 has one timeout for both.
    let rebalance_ms = if context.version == 0 { request.session_timeout_ms } else { request.rebalance_timeout_ms };
    Join {
        member_id: request.member_id.as_str().to_owned(),
        instance_id: owned(&request.group_instance_id),
        client: client(context),
        unique: unique(),
        protocol_type: request.protocol_type.as_str().to_owned(),
        protocols: protocols.collect(),
        session_ms: request.session_timeout_ms.into(),
        rebalance_ms: rebalance_ms.max(0).into(),
        reason: owned(&request.reason),
        asks_twice: context.version >= ASKS_TWICE_SINCE,
        may_skip_assignment: context.version >= SKIP_SINCE,
    }
}

fn told(joined: Joined, version: i16) -> JoinGroupResponse {
    let member = |member: JoinedMember| {
        JoinGroupResponseMember::default()
            .with_member_id(text(member.member_id))
            .with_group_instance_id(member.instance_id.map(text))
            .with_metadata(member.metadata)
    };
    JoinGroupResponse::default()
        .with_generation_id(joined.generation)
        .with_protocol_type(joined.protocol_type.map(text))
        .with_protocol_name(protocol(joined.protocol, version).map(text))
        .with_leader(text(joined.leader))
        .with_skip_assignment(joined.skip_assignment)
        .with_member_id(text(joined.member_id))
        .with_members(joined.members.into_iter().map(member).collect())
}

fn refusal(refused: JoinRefused, version: i16) -> JoinGroupResponse {
    log(&refused.error);
    JoinGroupResponse::default()
        .with_error_code(error::of_group(&refused.error).code())
        .with_generation_id(NONE)
        .with_protocol_type(None)
        .with_protocol_name(protocol(None, version).map(text))
        .with_member_id(text(refused.member_id))
}

fn protocol(protocol: Option<String>, version: i16) -> Option<String> {
    if version >= NULL_PROTOCOL_SINCE { protocol } else { Some(protocol.unwrap_or_default()) }
}

/// The answer has no place for a reason; clients that do not go on need one.
fn log(error: &GroupError) {
    match error {
        GroupError::MemberIdRequired | GroupError::UnknownMember { .. } | GroupError::RebalanceInProgress => {
            tracing::debug!(%error, "a client has to join again");
        }
        _ => tracing::info!(%error, "a client may not join"),
    }
}
